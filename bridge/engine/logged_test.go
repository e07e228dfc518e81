package engine_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/broker/redistest"
)

// logged is a world whose audit log is sealed, with access to its Redis.
type logged struct {
	*world
	c   *redis.Client
	log bytes.Buffer // the last export
	n   int
}

func newLogged(t *testing.T) *logged {
	t.Helper()
	s := newSetup()
	s.signer = newSigner(t)
	c := redistest.Start(t).Client(t)
	return &logged{world: newWorldOn(t, s, c, func() {}), c: c}
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
	eventually(l.t, "the entries are sealed", func() bool {
		r := l.report()
		return r.Unsealed == 0 && r.Entries == entries && r.Seals > 0
	})
}

func (l *logged) answer(id bridge.ID) { l.use("ana", id, bridge.ActionChoose, 0, 0, nil) }

// earlier appends a signed entry as versions before the journal do, of a request
// if it has an ID.
func (l *logged) earlier(partition int, id bridge.ID) {
	l.t.Helper()
	code, err := os.ReadFile("../../broker/testdata/audit-1.lua")
	if err != nil {
		l.t.Fatal(err)
	}
	l.n++
	e := bridge.AuditEntry{Type: bridge.AuditRefusal, ID: id, Agent: "ci", Data: json.RawMessage(`{"why":"` + strconv.Itoa(l.n) + `"}`)}
	if err := proof.NewProver(l.setup.signer, false).ProveEntry(&e); err != nil {
		l.t.Fatal(err)
	}
	p := fmt.Sprintf("nod:{%d}:", partition)
	if err := l.c.Eval(l.t.Context(), string(code), []string{p + "au", p + "auh"}, string(id), string(e.Type), e.Agent, "", "", string(e.Data)).Err(); err != nil {
		l.t.Fatal(err)
	}
}
