package engine_test

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// TestEntryOfTypeCounts checks that an entry does not pass for the counts of the
// journal, which show that another entry was deleted.
func TestEntryOfTypeCounts(t *testing.T) {
	t.Parallel()
	l := newLogged(t)
	id := l.asked(nil, confirm).Interaction.ID
	l.answer(id)
	l.sealed(1)
	const drop = `local id = redis.call('XADD', KEYS[1], '*', 'k', 'grant', 'd', '{}') redis.call('XDEL', KEYS[1], id)
redis.call('XADD', KEYS[1], '*', 'k', 'counts')`
	l.c.Eval(t.Context(), drop, []string{"nod:{nod}:ev"})
	if r := l.report(); r.Uncounted || r.Unsealed != 1 || !strings.Contains(strings.Join(r.Problems, "\n"), "was deleted") {
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
	l.c.XAdd(t.Context(), &redis.XAddArgs{Stream: "nod:{nod}:ev", Values: []any{"k", "grant", "d", "{bad"}})
	if r := l.report(); r.Entries != 2 || r.Unsealed != 1 || len(r.Problems) != 1 {
		t.Errorf("the report is %+v", r)
	}
	l.eventually("the entry is refused", func() bool { return l.engine.Audit.Health().State == bridge.HealthDown })
}

// TestIdleJournal checks that the journal is not read each second while nothing is
// added to it.
func TestIdleJournal(t *testing.T) {
	t.Parallel()
	l := newLoggedOn(t, redistest.Start(t).Client(t)) // which no other test uses
	id := l.asked(nil, confirm).Interaction.ID
	l.answer(id)
	l.sealed(1)
	calls := func(command string) string {
		for line := range strings.Lines(l.c.Info(t.Context(), "commandstats").Val()) {
			if strings.HasPrefix(line, "cmdstat_"+command) {
				return line
			}
		}
		return ""
	}
	before := calls("xrange:")
	for range 3 { // each attempt to seal begins with the counts of the journals
		counted := calls("xinfo")
		l.eventually("the next attempt to seal", func() bool { return calls("xinfo") != counted })
	}
	if after := calls("xrange:"); after != before {
		t.Errorf("streams are read while nothing happens: %s, then %s", before, after)
	}
}

// TestMovedCursor checks that someone who moves the unsigned positions of a
// journal forward does not keep entries from being sealed without a report.
func TestMovedCursor(t *testing.T) {
	t.Parallel()
	const end = "99999999999999-0"
	for _, field := range []string{"start", "cur"} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			l := newLogged(t)
			id := l.asked(nil, confirm).Interaction.ID
			head := "nod:{nod}:jh"
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
			l.eventually("the entry is sealed, or it is reported", func() bool {
				r := l.report()
				return l.engine.Audit.Health().State == bridge.HealthDown || len(r.Problems) > 0 || r.Entries > entries && r.Unsealed == 0
			})
		})
	}
}
