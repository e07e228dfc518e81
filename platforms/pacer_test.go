package platforms

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// waiting is a job of a simulated outbox.
type waiting struct {
	turn  Turn
	asked time.Time
	due   time.Time
}

type outbox []waiting

func (o outbox) Len() int           { return len(o) }
func (o outbox) Less(i, j int) bool { return o[i].due.Before(o[j].due) }
func (o outbox) Swap(i, j int)      { o[i], o[j] = o[j], o[i] }
func (o *outbox) Push(x any)        { *o = append(*o, x.(waiting)) }
func (o *outbox) Pop() any {
	last := (*o)[len(*o)-1]
	*o = (*o)[:len(*o)-1]
	return last
}

// storm is an outbox of notices and questions, with edits added later.
func storm(began time.Time, notices, asks, edits int) *outbox {
	o := &outbox{}
	for n := range notices {
		*o = append(*o, waiting{Turn{Key: fmt.Sprint("notice ", n), Rank: RankNotice}, began, began})
	}
	for n := range asks {
		*o = append(*o, waiting{Turn{Key: fmt.Sprint("ask ", n), Rank: RankAsk}, began, began.Add(time.Millisecond)})
	}
	for n := range edits {
		at := began.Add(time.Duration(n) * 9 * time.Second)
		*o = append(*o, waiting{Turn{Key: fmt.Sprint("edit ", n), Rank: RankEdit}, at, at})
	}
	heap.Init(o)
	return o
}

// TestStorm sends 500 cards to one channel at the same time, with notices
// before them and edits in between, through an outbox like the engine's. The
// rate limit holds, edits go first, questions go before notices, and every send
// gets its turn.
func TestStorm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const every, burst, notices, asks, edits = time.Second, 5, 100, 400, 50
		p := NewPacer(every, burst, false)
		began := time.Now()
		o := storm(began, notices, asks, edits)
		tries, sent := 0, 0
		last := [ranks]time.Duration{}
		slowest := time.Duration(0) // of all edits
		var times []time.Time
		for o.Len() > 0 {
			w := heap.Pop(o).(waiting)
			<-time.After(time.Until(w.due))
			tries++
			delay := p.delay("C", w.turn, time.Now()) // like Wait, which each worker would call
			at := time.Now().Add(delay)
			if delay > patience {
				w.due = at
				heap.Push(o, w)
				continue
			}
			sent++
			times = append(times, at)
			last[w.turn.Rank] = max(last[w.turn.Rank], at.Sub(began))
			if w.turn.Rank == RankEdit {
				slowest = max(slowest, at.Sub(w.asked))
			}
		}
		if sent != notices+asks+edits {
			t.Errorf("%d sent", sent)
		}
		slices.SortFunc(times, time.Time.Compare)
		for n := range times {
			for _, more := range []int{burst, 60} {
				if n+more < len(times) && times[n+more].Sub(times[n]) < time.Duration(more+1-burst)*every {
					t.Fatalf("%d sends within %s", more+1, times[n+more].Sub(times[n]))
				}
			}
		}
		if slowest > 3*every {
			t.Errorf("an edit waited %s", slowest)
		}
		if last[RankAsk] >= last[RankNotice] || last[RankNotice] > 1.2*(notices+asks+edits)*every {
			t.Errorf("the last ask went after %s, the last notice after %s", last[RankAsk], last[RankNotice])
		}
		if tries > 15*sent { // each edit moves the rest of the line
			t.Errorf("%d tries for %d sends", tries, sent)
		}
		t.Logf("%d sent with %d tries; edits within %s; asks done after %s, notices after %s", sent, tries, slowest, last[RankAsk], last[RankNotice])
	})
}

func TestPacerHolds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := NewPacer(time.Second, 5, true) // only the platform's holds apply
		if err := p.Wait(t.Context(), "C", Turn{}); err != nil {
			t.Fatal(err)
		}
		p.Hold("C", 30*time.Second)
		err := p.Wait(t.Context(), "C", Turn{Key: "k"})
		if e := (*bridge.Error)(nil); !errors.As(err, &e) || e.RetryAfter != 30*time.Second {
			t.Errorf("held: %v", err)
		}
		if err := p.Wait(t.Context(), "D", Turn{}); err != nil {
			t.Errorf("another channel: %v", err)
		}
		<-time.After(30 * time.Second)
		if err := p.Wait(t.Context(), "C", Turn{Key: "k"}); err != nil {
			t.Errorf("after the hold: %v", err)
		}
		gone, cancel := context.WithCancel(t.Context())
		p.Hold("C", time.Second/2)
		cancel()
		if err := p.Wait(gone, "C", Turn{}); !errors.Is(err, context.Canceled) {
			t.Errorf("after the caller has left: %v", err)
		}
	})
}
