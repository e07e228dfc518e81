package engine

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// TestLine checks that a card waits for the cards ahead of it in its line: for
// those of this process in place, and for others by a retry that does not
// count, until they have held it up for too long.
func TestLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		var all []bridge.Record
		for range 3 {
			all = append(all, o.store.put(t, question("Ship it?")))
		}
		line := all[0].Interaction.Line(0)
		for _, r := range all {
			o.store.lines[line] = append(o.store.lines[line], r.Interaction.ID)
		}
		post := func(r bridge.Record) {
			t.Helper()
			o.post(t, r.Interaction.ID)
		}
		post(all[1]) // another daemon has the first
		o.outcomes("post retry in 1s, not counted")
		post(all[0])
		post(all[1])
		o.outcomes("post retry in 1s, not counted", "post done", "post done")
		if got := o.store.lines[line]; !slices.Equal(got, []bridge.ID{all[2].Interaction.ID}) {
			t.Errorf("in the line are %v", got)
		}
		o.store.lines[line] = []bridge.ID{"lost", all[2].Interaction.ID}
		post(all[2])
		time.Sleep(lineupWait)
		post(all[2])
		o.outcomes("post retry in 1s, not counted", "post done", "post done", "post retry in 1s, not counted", "post done")
		if got := o.store.lines[line]; len(got) > 0 {
			t.Errorf("in the line are %v", got)
		}
		if got := o.shown(); !slices.Equal(got, o.store.order) {
			t.Errorf("posted were %v; want %v", got, o.store.order)
		}
	})
}
