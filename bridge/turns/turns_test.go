package turns_test

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/turns"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/memory"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
)

// paceBegan is the first moment of each simulation.
var paceBegan = time.UnixMilli(1_800_000_000_000).UTC()

// TestTurns checks what bridge.Turns promises to two daemons with one store, on a
// simulated clock.
func TestTurns(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(*pace){
		"two daemons, window": func(p *pace) {
			// The calls of a window are made one after another.
			p.share(bridge.Limit{Line: "C", Calls: 20, Period: time.Minute}, 9*time.Minute+19*200*time.Millisecond)
		},
		"two daemons, steady": func(p *pace) {
			p.share(bridge.Limit{Line: "C", Calls: 5, Period: 5 * time.Second, Steady: true}, 195*time.Second)
		},
		"posts and edits": postsAndEdits,
		"many channels":   manyChannels,
		"calls that left": callsThatLeft,
		"long line":       longLine,
		"no keys":         noKeys,
		"hold":            hold,
		"random":          anyCalls,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(newPace(t))
		})
	}
}

// asker is a call in a simulated outbox.
type asker struct {
	bridge.Call
	n       int       // the order in which it asked first
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

// pace lets calls of two daemons share limits on a simulated clock.
type pace struct {
	*testing.T
	now     time.Time
	seals   *broker.Seals
	store   *watched
	daemons [2]bridge.Turns
	waiting askers
	made    []*asker
	tries   int
}

func newPace(t *testing.T) *pace {
	t.Helper()
	p := &pace{T: t, now: paceBegan, seals: broker.NewSeals([]byte("key"))}
	p.store = &watched{Store: memory.NewAt(p.seals, func() time.Time { return p.now })}
	for n := range p.daemons {
		p.daemons[n] = daemonOn(p.store)
	}
	return p
}

// watched is a store that knows the size of the largest document.
type watched struct {
	*memory.Store
	most int
}

// Do implements broker.Store.
func (w *watched) Do(ctx context.Context, c broker.Change) (broker.Done, error) {
	for _, d := range c.Put {
		w.most = max(w.most, len(d.Value))
	}
	return w.Store.Do(ctx, c)
}

func daemonOn(s broker.Store) bridge.Turns {
	return turns.New(documents.DB{Store: s, Log: slog.New(slog.DiscardHandler)})
}

// ask asks for a turn once.
func (p *pace) ask(c bridge.Call) time.Duration {
	p.Helper()
	c.Platform = "chat"
	p.tries++
	wait, err := p.daemons[p.tries%2].Turn(p.Context(), c)
	if err != nil {
		p.Fatal(err)
	}
	return wait
}

func (p *pace) hold(c bridge.Call, limit int, d time.Duration) {
	p.Helper()
	c.Platform = "chat"
	if err := p.daemons[0].HoldTurns(p.Context(), c, limit, d); err != nil {
		p.Fatal(err)
	}
}

// add lets a call ask for the first time after a delay.
func (p *pace) add(c bridge.Call, after time.Duration) {
	n := len(p.waiting) + len(p.made)
	c.Key = cmp.Or(c.Key, fmt.Sprint("call ", n))
	heap.Push(&p.waiting, &asker{Call: c, n: n, due: paceBegan.Add(after)})
}

// run lets each call ask when it is due, until all are made.
func (p *pace) run() {
	p.Helper()
	for p.waiting.Len() > 0 {
		if p.tries > 100_000 {
			p.Fatalf("%d calls wait for each other", p.waiting.Len())
		}
		a := heap.Pop(&p.waiting).(*asker)
		p.now = a.due
		wait := p.ask(a.Call)
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

// share lets 200 calls share a limit. All of it is used and no more, in the order
// of the calls. The last one is due at ideal.
func (p *pace) share(limit bridge.Limit, ideal time.Duration) {
	for n := range 200 {
		p.add(bridge.Call{Limits: []bridge.Limit{limit}}, time.Duration(n)*time.Millisecond)
	}
	p.run()
	if !limit.Steady {
		p.within(limit, p.made)
	}
	if got := p.last(); got > ideal+time.Second {
		p.Errorf("the last call was made after %s, want %s", got, ideal)
	}
	for n, a := range p.made[limit.Calls:] {
		if gap := a.at.Sub(p.made[limit.Calls+n-1].at); n > 0 && gap < 200*time.Millisecond {
			p.Errorf("call %d was made %s after the call before it", a.n, gap)
		}
	}
	if !slices.IsSortedFunc(p.made, func(a, b *asker) int { return cmp.Compare(a.n, b.n) }) {
		p.Error("the calls were not made in the order in which they asked")
	}
	if p.tries > 8*len(p.made) {
		p.Errorf("%d tries for %d calls", p.tries, len(p.made))
	}
}

// postsAndEdits checks that neither posts nor edits hold up the others, and that
// posts go in the order of their classes.
func postsAndEdits(p *pace) {
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
			p.Errorf("call %d: edit is %v", n, a.Edit)
		}
		if !a.Edit {
			classes = append(classes, a.Class)
		}
	}
	if len(classes) != 20 || !slices.IsSorted(classes) {
		p.Errorf("the classes of the posts are %v", classes)
	}
}

// manyChannels checks that channels share the limit of their platform, and that one
// with a long line does not hold up the others.
func manyChannels(p *pace) {
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
		p.Errorf("the last call to a quiet channel was made after %s", got)
	}
	if got := p.last(); got < 4*time.Minute || got > 4*time.Minute+20*time.Second {
		p.Errorf("the last call to the busy channel was made after %s", got)
	}
	if p.tries > 10*len(p.made) {
		p.Errorf("%d tries for %d calls", p.tries, len(p.made))
	}
}

// callsThatLeft checks that a call does not wait for those ahead of it that never
// ask again.
func callsThatLeft(p *pace) {
	limits := []bridge.Limit{{Line: "C", Calls: 1, Period: time.Second}}
	for n := range 400 {
		p.ask(bridge.Call{Key: fmt.Sprint("gone ", n), Limits: limits})
	}
	p.add(bridge.Call{Limits: limits}, time.Second)
	p.run()
	if got := p.last(); got > 250*time.Second {
		p.Errorf("it waited %s for 400 calls that were given up", got)
	}
}

// longLine checks that the document of a limit stays small however many calls wait,
// and that the calls without a place are made as well, after those of a lower class.
func longLine(p *pace) {
	limits := []bridge.Limit{{Line: "C", Calls: 20, Period: time.Minute}}
	for n := range 300 {
		p.add(bridge.Call{Class: 2, Limits: limits}, time.Duration(n)*time.Millisecond)
	}
	for range 20 {
		p.add(bridge.Call{Class: 1, Limits: limits}, time.Second)
	}
	p.run()
	p.within(limits[0], p.made)
	if got, ideal := p.last(), 15*time.Minute; got > ideal+5*time.Second {
		p.Errorf("the last call was made after %s, want %s", got, ideal)
	}
	if !slices.IsSortedFunc(p.made[20:], func(a, b *asker) int { return cmp.Compare(a.Class, b.Class) }) {
		p.Error("a call of a higher class went first")
	}
	if p.store.most > 32<<10 {
		p.Errorf("the document had %d bytes", p.store.most)
	}
}

// noKeys checks that calls without a key do not share a place.
func noKeys(p *pace) {
	limits := []bridge.Limit{{Line: "C", Calls: 1, Period: time.Minute}}
	for n := range 3 {
		if got, want := p.ask(bridge.Call{Limits: limits}), time.Duration(n)*time.Minute; got < want || got > want+time.Second {
			p.Errorf("call %d waits %s, want %s", n, got, want)
		}
	}
}

// hold checks that all calls wait as long as the platform requires, and that the
// one that it refused goes first after that.
func hold(p *pace) {
	limits, elsewhere := []bridge.Limit{{Line: "C"}, {Line: "all"}}, []bridge.Limit{{Line: "D"}, {Line: "all"}}
	refused := bridge.Call{Key: "refused", Class: 1, Limits: limits}
	p.hold(refused, 0, 7*time.Second)
	p.add(bridge.Call{Limits: elsewhere}, 0)
	for range 4 {
		p.add(bridge.Call{Class: 1, Limits: limits}, time.Millisecond)
	}
	p.add(refused, time.Second)
	p.run()
	if p.made[0].at != paceBegan {
		p.Errorf("another channel waited until %s", p.made[0].at)
	}
	for _, a := range p.made[1:] {
		if a.at.Sub(paceBegan) < 7*time.Second {
			p.Errorf("%s was made after %s", a.Key, a.at.Sub(paceBegan))
		}
	}
	p.hold(refused, 1, time.Minute)
	if wait := p.ask(bridge.Call{Key: "k", Limits: elsewhere}); wait != time.Minute {
		p.Errorf("after a hold of the platform: %s", wait)
	}
}

// anyCalls checks with random limits, calls that are given up, holds and orders
// that every call that keeps asking is made, without much more delay than the
// limits require, and that no limit is exceeded.
func anyCalls(p *pace) {
	first := seed.Of(p.T)
	for run := range uint64(level.Often(6, 2)) {
		newPace(p.T).random(run, rand.New(rand.NewPCG(first, run)))
	}
}

func (p *pace) random(run uint64, r *rand.Rand) {
	limit := func(line string) bridge.Limit {
		return bridge.Limit{
			Line: line, Calls: 2 + r.IntN(6), Period: time.Duration(1+r.IntN(60)) * time.Second, Steady: r.IntN(2) == 0,
			Margin: time.Duration(r.IntN(3)) * 50 * time.Millisecond,
		}
	}
	all, channels := limit("all"), []bridge.Limit{limit("A"), limit("B")}
	slowest := 0.0
	for _, l := range append(channels, all) { // before a call that counts twice, one place can stay empty
		slowest = max(slowest, (l.Period+l.Margin).Seconds()/float64(l.Calls-1))
	}
	weight := 0
	for n := range 20 + r.IntN(60) {
		c := bridge.Call{
			Class: r.IntN(3), Edit: r.IntN(3) == 0, Calls: r.IntN(3), Limits: []bridge.Limit{channels[r.IntN(2)], all},
		}
		weight += max(1, c.Calls)
		if r.IntN(5) == 0 { // the call asks once, and never again
			c.Key = fmt.Sprint("gone ", n)
			p.ask(c)
			continue
		}
		p.add(c, time.Duration(r.IntN(30_000))*time.Millisecond)
	}
	held := time.Duration(r.IntN(40)) * time.Second
	p.hold(bridge.Call{Limits: []bridge.Limit{channels[0], all}}, r.IntN(2), held)
	p.run()
	for _, l := range append(channels, all) {
		var calls []*asker
		for _, a := range p.made {
			if a.Limits[0].Line == l.Line || l.Line == "all" {
				for range max(1, a.Calls) {
					calls = append(calls, a)
				}
			}
		}
		if !l.Steady {
			p.within(l, calls)
		}
	}
	if most := held + 3*time.Minute + time.Duration(2*slowest*float64(weight))*time.Second; p.last() > most {
		p.Errorf("run %d: the last call was made after %s, at most %s is expected", run, p.last(), most)
	}
	// Where calls of several limits wait for a long time, each asks every few seconds.
	if most := (40 + int(p.last().Seconds())/4) * len(p.made); p.tries > most {
		p.Errorf("run %d: %d tries for %d calls, at most %d are expected", run, p.tries, len(p.made), most)
	}
}
