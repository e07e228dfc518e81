package engine_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// logged is a world whose audit log is sealed, with access to its Redis.
type logged struct {
	*world
	c   *redis.Client
	log bytes.Buffer // the last export
}

func newLogged(t *testing.T) *logged {
	t.Helper()
	return newLoggedOn(t, redistest.Shared(t).Client(t))
}

func newLoggedOn(t *testing.T, c *redis.Client) *logged {
	t.Helper()
	s := newSetup()
	s.signer = newSigner(t)
	return &logged{world: newWorldOn(t, s, c), c: c}
}

// report exports the log, and verifies it.
func (l *logged) report() proof.AuditReport {
	l.t.Helper()
	l.log.Reset()
	if err := l.engine.Audit.Export(l.t.Context(), &l.log); err != nil {
		l.t.Fatal(err)
	}
	return l.verify(l.log.String())
}

// verify verifies an export.
func (l *logged) verify(text string) proof.AuditReport {
	l.t.Helper()
	r, err := proof.VerifyAudit(strings.NewReader(text), l.engine.Audit.PublicKeys())
	if err != nil {
		l.t.Fatalf("%v\n%s", err, text)
	}
	return r
}

// sealed waits until a number of entries is sealed.
func (l *logged) sealed(entries int64) {
	l.t.Helper()
	l.eventually("the entries are sealed", func() bool {
		r := l.report()
		return r.Unsealed == 0 && r.Entries == entries && r.Seals > 0
	})
}

func (l *logged) answer(id bridge.ID) { l.use("ana", id, bridge.ActionChoose, 0, 0, nil) }
