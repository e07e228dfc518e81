package engine_test

import (
	"strconv"
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
	l.c.Eval(t.Context(), drop, []string{"nod:{nod}:s:journal"})
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
	l.c.XAdd(t.Context(), &redis.XAddArgs{Stream: "nod:{nod}:s:journal", Values: []any{"k", "grant", "d", "{bad"}})
	if r := l.report(); r.Entries != 2 || r.Unsealed != 1 || len(r.Problems) != 1 {
		t.Errorf("the report is %+v", r)
	}
	l.eventually("the entry is refused", func() bool { return l.engine.Audit.Health().State == bridge.HealthDown })
}

// TestIdleJournal checks that the journal is read at most once a second while nothing
// is added to it, to find out whether it is still the same.
func TestIdleJournal(t *testing.T) {
	t.Parallel()
	l := newLoggedOn(t, redistest.Start(t).Client(t)) // which no other test uses
	id := l.asked(nil, confirm).Interaction.ID
	l.answer(id)
	l.sealed(1)
	calls := func() (attempts, reads int) {
		for line := range strings.Lines(l.c.Info(t.Context(), "commandstats").Val()) {
			for command, n := range map[string]*int{"xinfo|stream": &attempts, "xrange": &reads} { // each attempt to seal begins with the counts of the journal
				if rest, ok := strings.CutPrefix(line, "cmdstat_"+command+":calls="); ok {
					*n, _ = strconv.Atoi(rest[:strings.IndexByte(rest, ',')])
				}
			}
		}
		return attempts, reads
	}
	attempted, read := calls()
	var attempts, reads int
	l.eventually("nod attempts to seal", func() bool {
		attempts, reads = calls()
		return attempts-attempted >= 3
	})
	if attempts, reads = attempts-attempted, reads-read; reads > attempts+1 {
		t.Errorf("the journal was read %d times in %d attempts in which nothing happened", reads, attempts)
	}
}
