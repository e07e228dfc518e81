package broker_test

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// asker is a call in a simulated outbox.
type asker struct {
	bridge.Call
	n       int // the order in which it asked first
	daemon  int
	due, at time.Time // when it asks again; when it was made
}

type askers []*asker

func (a askers) Len() int           { return len(a) }
func (a askers) Less(i, j int) bool { return a[i].due.Before(a[j].due) }
func (a askers) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *askers) Push(x any)        { *a = append(*a, x.(*asker)) }
func (a *askers) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

// pace runs daemons that share limits on a simulated clock.
type pace struct {
	*testing.T
	server  *miniredis.Miniredis
	daemons []*broker.Broker
	waiting askers
	made    []*asker
	tries   int
}

var paceBegan = time.UnixMilli(1_800_000_000_000).UTC()

func newPace(t *testing.T, daemons int) *pace {
	t.Helper()
	p := &pace{T: t, server: miniredis.RunT(t)}
	p.server.SetTime(paceBegan)
	for range daemons {
		c := redis.NewClient(&redis.Options{Addr: p.server.Addr(), ContextTimeoutEnabled: true})
		t.Cleanup(func() { c.Close() })
		p.daemons = append(p.daemons, newBroker(t, c, ""))
	}
	return p
}

// add lets a call ask for the first time after a delay.
func (p *pace) add(c bridge.Call, after time.Duration) {
	n := len(p.waiting) + len(p.made)
	c.Platform, c.Key = "chat", cmp.Or(c.Key, fmt.Sprint("call ", n))
	heap.Push(&p.waiting, &asker{Call: c, n: n, daemon: n % len(p.daemons), due: paceBegan.Add(after)})
}

// run lets each call ask when it is due, until all are made.
func (p *pace) run() {
	p.Helper()
	for p.waiting.Len() > 0 {
		if p.tries > 100_000 {
			p.Fatalf("%d calls wait for each other", p.waiting.Len())
		}
		a := heap.Pop(&p.waiting).(*asker)
		p.server.SetTime(a.due)
		p.tries++
		wait, err := p.daemons[a.daemon].Turn(p.Context(), a.Call)
		if err != nil {
			p.Fatal(err)
		}
		if wait > bridge.WaitForTurn {
			a.due = a.due.Add(bridge.AskAgain(wait))
			heap.Push(&p.waiting, a)
			continue
		}
		a.at = a.due.Add(wait)
		p.made = append(p.made, a)
	}
	slices.SortStableFunc(p.made, func(a, b *asker) int { return a.at.Compare(b.at) })
}

// within fails the test if more calls than a limit allows were made in any
// period.
func (p *pace) within(l bridge.Limit, calls []*asker) {
	p.Helper()
	for n := l.Calls; n < len(calls); n++ {
		if got := calls[n].at.Sub(calls[n-l.Calls].at); got < l.Period {
			p.Fatalf("%s: %d calls within %s", l.Line, l.Calls+1, got)
		}
	}
}

// last returns the time of the last call.
func (p *pace) last() time.Duration { return p.made[len(p.made)-1].at.Sub(paceBegan) }

// TestTurnsOfTwoDaemons lets two daemons post to one channel at the same time. All
// of the limit is used and no more, in the order of the calls.
func TestTurnsOfTwoDaemons(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit bridge.Limit
		ideal time.Duration // of the last of 200 calls
	}{
		// The calls of a window are made one after another.
		"window": {bridge.Limit{Line: "C", Calls: 20, Period: time.Minute}, 9*time.Minute + 19*200*time.Millisecond},
		"steady": {bridge.Limit{Line: "C", Calls: 5, Period: 5 * time.Second, Steady: true}, 195 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPace(t, 2)
			for n := range 200 {
				p.add(bridge.Call{Limits: []bridge.Limit{c.limit}}, time.Duration(n)*time.Millisecond)
			}
			p.run()
			if !c.limit.Steady {
				p.within(c.limit, p.made)
			}
			if got := p.last(); got > c.ideal+time.Second {
				t.Errorf("the last call was made after %s, want %s", got, c.ideal)
			}
			for n, a := range p.made[c.limit.Calls:] {
				if gap := a.at.Sub(p.made[c.limit.Calls+n-1].at); n > 0 && gap < 200*time.Millisecond {
					t.Errorf("call %d was made %s after the call before it", a.n, gap)
				}
			}
			if !slices.IsSortedFunc(p.made, func(a, b *asker) int { return cmp.Compare(a.n, b.n) }) {
				t.Error("the calls were not made in the order in which they asked")
			}
			if p.tries > 8*len(p.made) {
				t.Errorf("%d tries for %d calls", p.tries, len(p.made))
			}
		})
	}
}

// TestTurnsOfPostsAndEdits checks that neither posts nor edits hold up the others,
// and that posts go in the order of their classes.
func TestTurnsOfPostsAndEdits(t *testing.T) {
	t.Parallel()
	p := newPace(t, 2)
	limits := []bridge.Limit{{Line: "C", Calls: 1, Period: time.Second, Steady: true}}
	p.add(bridge.Call{Limits: limits}, 0) // from now on, calls wait
	for n := range 100 {
		p.add(bridge.Call{Edit: true, Limits: limits}, time.Millisecond)
		if n < 10 {
			p.add(bridge.Call{Class: 2, Limits: limits}, 2*time.Millisecond)
			p.add(bridge.Call{Class: 1, Limits: limits}, 3*time.Millisecond)
		}
	}
	p.run()
	var classes []int
	for n, a := range p.made[1:] {
		if n < 40 && a.Edit != (n%2 == 0) { // the first call was a post
			t.Errorf("call %d: edit is %v", n, a.Edit)
		}
		if !a.Edit {
			classes = append(classes, a.Class)
		}
	}
	if len(classes) != 20 || !slices.IsSorted(classes) {
		t.Errorf("the classes of the posts are %v", classes)
	}
}

// TestTurnsOfManyChannels checks that channels share the limit of their platform, and
// that one with a long line does not hold up the others.
func TestTurnsOfManyChannels(t *testing.T) {
	t.Parallel()
	p := newPace(t, 2)
	all := bridge.Limit{Line: "all", Calls: 30, Period: time.Second}
	of := func(channel string) []bridge.Limit {
		return []bridge.Limit{{Line: channel, Calls: 20, Period: time.Minute}, all}
	}
	for range 100 {
		p.add(bridge.Call{Limits: of("busy")}, 0)
	}
	for n := range 300 {
		p.add(bridge.Call{Limits: of(fmt.Sprint("quiet ", n%30))}, time.Millisecond)
	}
	p.run()
	p.within(all, p.made)
	var busy, quiet []*asker
	for _, a := range p.made {
		if a.Limits[0].Line == "busy" {
			busy = append(busy, a)
		} else {
			quiet = append(quiet, a)
		}
	}
	p.within(busy[0].Limits[0], busy)
	if got := quiet[len(quiet)-1].at.Sub(paceBegan); got > 12*time.Second {
		t.Errorf("the last call to a quiet channel was made after %s", got)
	}
	if got := p.last(); got < 4*time.Minute || got > 4*time.Minute+20*time.Second {
		t.Errorf("the last call to the busy channel was made after %s", got)
	}
	if p.tries > 10*len(p.made) {
		t.Errorf("%d tries for %d calls", p.tries, len(p.made))
	}
}

// TestTurnsAreNotWasted checks that a call does not wait for those ahead of it that
// never ask again.
func TestTurnsAreNotWasted(t *testing.T) {
	t.Parallel()
	p := newPace(t, 1)
	limits := []bridge.Limit{{Line: "C", Calls: 1, Period: time.Second}}
	for n := range 400 {
		gone := bridge.Call{Platform: "chat", Key: fmt.Sprint("gone ", n), Limits: limits}
		if _, err := p.daemons[0].Turn(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
	}
	p.add(bridge.Call{Limits: limits}, time.Second)
	p.run()
	if got := p.last(); got > 250*time.Second {
		t.Errorf("it waited %s for 400 calls that were given up", got)
	}
}

// TestHoldTurns checks that all daemons wait as long as the platform requires, and
// that the call that it refused goes first after that.
func TestHoldTurns(t *testing.T) {
	t.Parallel()
	p := newPace(t, 2)
	limits := []bridge.Limit{{Line: "C"}, {Line: "all"}}
	refused := bridge.Call{Platform: "chat", Key: "refused", Class: 1, Limits: limits}
	if err := p.daemons[0].HoldTurns(t.Context(), refused, 0, 7*time.Second); err != nil {
		t.Fatal(err)
	}
	p.add(bridge.Call{Limits: []bridge.Limit{{Line: "D"}, {Line: "all"}}}, 0)
	for range 4 {
		p.add(bridge.Call{Class: 1, Limits: limits}, time.Millisecond)
	}
	p.add(refused, time.Second)
	p.run()
	if p.made[0].at != paceBegan {
		t.Errorf("another channel waited until %s", p.made[0].at)
	}
	for _, a := range p.made[1:] {
		if a.at.Sub(paceBegan) < 7*time.Second {
			t.Errorf("%s was made after %s", a.Key, a.at.Sub(paceBegan))
		}
	}
	if err := p.daemons[1].HoldTurns(t.Context(), refused, 1, time.Minute); err != nil {
		t.Fatal(err)
	}
	other := bridge.Call{Platform: "chat", Key: "k", Limits: []bridge.Limit{{Line: "D"}, {Line: "all"}}}
	wait, err := p.daemons[0].Turn(t.Context(), other)
	if err != nil || wait != time.Minute {
		t.Errorf("after a hold of the platform: %s, %v", wait, err)
	}
}

// TestTurnsAtOnce checks that many workers of two daemons together get as many turns
// as the limit has.
func TestTurnsAtOnce(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		daemons := []*broker.Broker{newBroker(t, c, "a"), newBroker(t, c, "b")}
		var wg sync.WaitGroup
		var mu sync.Mutex
		turns := 0
		for n := range 60 {
			wg.Go(func() {
				wait, err := daemons[n%2].Turn(t.Context(), bridge.Call{
					Platform: "chat", Key: fmt.Sprint(n), Limits: []bridge.Limit{
						{Line: "C", Calls: 10, Period: time.Hour}, {Line: "all", Calls: 50, Period: time.Hour, Steady: true},
					},
				})
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				if wait <= bridge.WaitForTurn {
					turns++
				}
			})
		}
		wg.Wait()
		if turns != 10 {
			t.Errorf("%d calls got a turn, want 10", turns)
		}
	})
}
