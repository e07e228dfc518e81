package engine_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

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

func (l *logged) report() proof.AuditReport {
	l.t.Helper()
	l.log.Reset()
	if err := l.engine.Audit.Export(l.t.Context(), &l.log); err != nil {
		l.t.Fatal(err)
	}
	r, err := proof.VerifyAudit(strings.NewReader(l.log.String()), l.engine.Audit.PublicKeys())
	if err != nil {
		l.t.Fatalf("%v\n%s", err, l.log.String())
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

// earlier appends a signed entry as versions before the journal do.
func (l *logged) earlier(partition int) {
	l.t.Helper()
	code, err := os.ReadFile("../../broker/testdata/audit-1.lua")
	if err != nil {
		l.t.Fatal(err)
	}
	l.n++
	e := bridge.AuditEntry{Type: bridge.AuditRefusal, Agent: "ci", Data: json.RawMessage(`{"why":"` + strconv.Itoa(l.n) + `"}`)}
	if err := proof.NewProver(l.setup.signer, false).ProveEntry(&e); err != nil {
		l.t.Fatal(err)
	}
	p := fmt.Sprintf("nod:{%d}:", partition)
	if err := l.c.Eval(l.t.Context(), string(code), []string{p + "au", p + "auh"}, "", string(e.Type), e.Agent, "", "", string(e.Data)).Err(); err != nil {
		l.t.Fatal(err)
	}
}

// TestDeletedEarlierLog checks that it is found that the whole log of an earlier
// version is missing, or its end with its seals.
func TestDeletedEarlierLog(t *testing.T) {
	t.Parallel()
	l := newLogged(t)
	id := l.asked(nil, confirm).Interaction.ID
	for range 3 {
		l.earlier(id.Partition())
	}
	l.sealed(3)
	l.answer(id)
	l.sealed(4)
	if r := l.report(); len(r.Problems) > 0 {
		t.Fatalf("%+v", r)
	}
	var without []string // the last entry of the earlier log and its seal
	for _, line := range strings.SplitAfter(l.log.String(), "\n") {
		if !strings.Contains(line, `"n":3,`) {
			without = append(without, line)
		}
	}
	if r, err := proof.VerifyAudit(strings.NewReader(strings.Join(without, "")), l.engine.Audit.PublicKeys()); err != nil || len(r.Problems) == 0 {
		t.Errorf("without its end, the report is %+v, %v", r, err)
	}
	p := fmt.Sprintf("nod:{%d}:", id.Partition())
	l.c.Del(t.Context(), p+"au", p+"auh", p+"aus")
	if r := l.report(); len(r.Problems) == 0 {
		t.Errorf("without the log, the report is %+v", r)
	}
}

// TestEntryOfTypeCounts checks that an entry does not pass for the counts of a
// journal, which show that another entry was deleted.
func TestEntryOfTypeCounts(t *testing.T) {
	t.Parallel()
	l := newLogged(t)
	id := l.asked(nil, confirm).Interaction.ID
	l.answer(id)
	l.sealed(1)
	const drop = `local id = redis.call('XADD', KEYS[1], '*', 'k', 'grant', 'da', '{}') redis.call('XDEL', KEYS[1], id)
redis.call('XADD', KEYS[1], '*', 'k', 'counts')`
	l.c.Eval(t.Context(), drop, []string{fmt.Sprintf("nod:{%d}:ev", id.Partition())})
	if r := l.report(); r.Uncounted > 0 || r.Unsealed != 1 || !strings.Contains(strings.Join(r.Problems, "\n"), "was deleted") {
		t.Errorf("the report is %+v", r)
	}
}

// TestEntryWithoutJSON checks that an entry with data that is not JSON is
// reported and not sealed, and that the log can still be exported.
func TestEntryWithoutJSON(t *testing.T) {
	t.Parallel()
	l := newLogged(t)
	id := l.asked(nil, confirm).Interaction.ID
	l.answer(id)
	l.sealed(1)
	l.c.XAdd(t.Context(), &redis.XAddArgs{Stream: fmt.Sprintf("nod:{%d}:ev", id.Partition()), Values: []any{"k", "grant", "da", "{bad"}})
	if r := l.report(); r.Entries != 2 || r.Unsealed != 1 || len(r.Problems) != 1 {
		t.Errorf("the report is %+v", r)
	}
	eventually(t, "the entry is refused", func() bool { return l.engine.Audit.Refusals() == 1 })
}

// TestOtherLogsAreSealed checks that a log whose seals cannot be stored does not
// keep others from being sealed.
func TestOtherLogsAreSealed(t *testing.T) {
	t.Parallel()
	l := newLogged(t)
	ctx := t.Context()
	l.c.XAdd(ctx, &redis.XAddArgs{Stream: "nod:{0}:js", ID: "99999999999999-0", Values: []any{"s", "x"}})
	l.c.XAdd(ctx, &redis.XAddArgs{Stream: "nod:{0}:ev", Values: []any{"t", "x"}})
	id := l.asked(func(r *bridge.Request) { r.Session = "other" }, confirm).Interaction.ID
	if id.Partition() == 0 {
		t.Fatal("the request is in the first partition")
	}
	l.answer(id)
	eventually(t, "the request is sealed", func() bool { r := l.report(); return r.Entries == 1 && r.Unsealed == 0 })
}

// TestIdleJournals checks that the seals of earlier logs are not read each second
// for journals that have no entries yet.
func TestIdleJournals(t *testing.T) {
	t.Parallel()
	l := newLogged(t)
	for p := range 4 {
		l.earlier(p)
	}
	l.sealed(4)
	reads := func() (line string) {
		for _, line := range strings.Split(l.c.Info(t.Context(), "commandstats").Val(), "\n") {
			if strings.HasPrefix(line, "cmdstat_xrange:") {
				return line
			}
		}
		return ""
	}
	before := reads()
	time.Sleep(2500 * time.Millisecond)
	if after := reads(); after != before {
		t.Errorf("streams are read while nothing happens: %s, then %s", before, after)
	}
}

// TestMovedCursor checks that someone who moves the unsigned positions of a
// journal forward does not keep entries from being sealed without a report.
func TestMovedCursor(t *testing.T) {
	t.Parallel()
	const end = "99999999999999-0"
	for _, field := range []string{"from", "cur"} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			l := newLogged(t)
			id := l.asked(nil, confirm).Interaction.ID
			head := fmt.Sprintf("nod:{%d}:jh", id.Partition())
			entries := int64(0)
			if field == "cur" {
				l.answer(id)
				l.sealed(1)
				id, entries = l.asked(nil, confirm).Interaction.ID, 1
			} else {
				l.c.Del(t.Context(), head, strings.Replace(head, "jh", "js", 1)) // nothing is sealed yet
			}
			l.c.HSet(t.Context(), head, field, end)
			l.answer(id)
			eventually(t, "the entry is sealed, or it is reported", func() bool {
				return l.engine.Audit.Refusals() > 0 || l.report().Entries > entries && l.report().Unsealed == 0
			})
		})
	}
}
