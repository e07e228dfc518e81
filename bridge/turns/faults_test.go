package turns_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// TestUnverified checks that calls wait for one period if the document of a limit does not
// verify: not less, because the calls of the last period are not known, and not more.
func TestUnverified(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]bridge.Limit{
		"window":     {Line: "C", Calls: 2, Period: time.Minute},
		"steady":     {Line: "C", Calls: 2, Period: time.Minute, Steady: true},
		"only holds": {Line: "C", Period: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, limits := newPace(t), []bridge.Limit{limit, {Line: "all", Calls: 100, Period: time.Second}}
			ask := func(after time.Duration, key string, want time.Duration) {
				t.Helper()
				p.now = paceBegan.Add(after)
				if got := p.ask(bridge.Call{Key: key, Limits: limits}); got != want {
					t.Errorf("after %s, %s waits for %s, want %s", after, key, got, want)
				}
			}
			ask(0, "a", 0)
			p.hold(bridge.Call{Limits: limits}, 0, 10*time.Minute)
			ask(time.Second, "b", 10*time.Minute-time.Second)
			p.seals.Use([][]byte{[]byte("another key")}) // the other daemon has it as well
			ask(2*time.Second, "b", time.Minute)
			ask(3*time.Second, "b", time.Minute-time.Second)
			ask(62*time.Second, "b", 0)
		})
	}
}

// TestNewerFormat checks that a daemon makes no call whose limit only a newer one can
// read, and tries again.
func TestNewerFormat(t *testing.T) {
	t.Parallel()
	p := newPace(t)
	d := broker.Doc{Key: broker.Key{Kind: "limit", ID: "chat:C"}, Format: 2, Value: []byte("{}")}
	if _, err := p.store.Do(t.Context(), broker.Change{Put: []broker.Doc{d}}); err != nil {
		t.Fatal(err)
	}
	_, err := p.daemons[0].Turn(t.Context(), bridge.Call{Platform: "chat", Limits: []bridge.Limit{{Line: "C", Calls: 2, Period: time.Minute}}})
	if bridge.ErrorCode(err) != bridge.CodeUnavailable {
		t.Error(err)
	}
}

// TestTurnsAfterClockJumps checks that no call waits for the time by which the clock was
// set back, as after a failover to a replica with another clock: neither for turns
// that were given before, nor for a hold, nor for calls that will not ask again
// before the clock has caught up.
func TestTurnsAfterClockJumps(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]bridge.Limit{
		"window": {Line: "C", Calls: 2, Period: time.Minute},
		"steady": {Line: "C", Calls: 2, Period: time.Minute, Steady: true},
		"held":   {Line: "C"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPace(t)
			limits := []bridge.Limit{limit, {Line: "all", Calls: 100, Period: time.Second}}
			for n := range 8 { // most of them wait
				p.ask(bridge.Call{Key: fmt.Sprint("before ", n), Edit: n%2 == 0, Limits: limits})
			}
			if name == "held" {
				p.hold(bridge.Call{Limits: limits}, 0, time.Minute)
			}
			back := paceBegan.Add(-5 * time.Hour)
			now := back
			for tries := 0; ; tries++ {
				p.now = now
				wait := p.ask(bridge.Call{Key: "after", Limits: limits})
				if wait <= bridge.WaitForTurn {
					break
				}
				if wait > 2*time.Minute || tries > 30 {
					t.Fatalf("it waits for another %s after %d tries", wait, tries)
				}
				now = now.Add(bridge.AskAgain(wait))
			}
			if waited := now.Sub(back); waited > 2*time.Minute {
				t.Errorf("it waited for %s", waited)
			}
		})
	}
}

// ahead is a store of a daemon whose clock is ahead until the store refuses a change.
type ahead struct {
	*watched
	by time.Duration
}

// Now implements broker.Store.
func (a *ahead) Now() time.Time { return a.watched.Now().Add(a.by) }

// Do implements broker.Store.
func (a *ahead) Do(ctx context.Context, c broker.Change) (broker.Done, error) {
	done, err := a.watched.Do(ctx, c)
	if errors.As(err, new(broker.Untimely)) {
		a.by = 0
	}
	return done, err
}

// TestWrongClock checks that the time of the store counts, not that of a daemon.
func TestWrongClock(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		p := newPace(t)
		p.daemons[1] = daemonOn(&ahead{p.store, by})
		limits := []bridge.Limit{{Line: "C", Calls: 1, Period: time.Minute}}
		p.tries = 1 // the other daemon asks first
		for n, want := range []time.Duration{0, time.Minute, time.Minute} {
			if got := p.ask(bridge.Call{Key: "k", Limits: limits}); got != want {
				t.Errorf("%s: call %d waits for %s, want %s", by, n, got, want)
			}
		}
	}
}

// slow is a store that applies each change a second after it was sent.
type slow struct {
	*watched
	p *pace
}

// Do implements broker.Store.
func (s slow) Do(ctx context.Context, c broker.Change) (broker.Done, error) {
	s.p.now = s.p.now.Add(time.Second)
	return s.watched.Do(ctx, c)
}

// TestSlowStore checks that a slow store stops no call.
func TestSlowStore(t *testing.T) {
	t.Parallel()
	p := newPace(t)
	p.daemons[0] = daemonOn(slow{p.store, p})
	limits := []bridge.Limit{{Line: "C", Calls: 2, Period: time.Minute}}
	for n, want := range []bool{true, true, false} {
		wait, err := p.daemons[0].Turn(t.Context(), bridge.Call{Platform: "chat", Key: fmt.Sprint(n), Limits: limits})
		if err != nil || wait <= bridge.WaitForTurn != want {
			t.Errorf("call %d waits for %s, %v", n, wait, err)
		}
	}
}

// counted is a store that counts conflicts.
type counted struct {
	broker.Store
	changes, conflicts atomic.Int64
}

// Do implements broker.Store.
func (c *counted) Do(ctx context.Context, change broker.Change) (broker.Done, error) {
	done, err := c.Store.Do(ctx, change)
	c.changes.Add(1)
	if errors.As(err, new(*broker.Stale)) {
		c.conflicts.Add(1)
	}
	return done, err
}

// TestTwoProcesses checks that the workers of two daemons on Redis, which all ask at once,
// together get as many turns as their limits have, and that no worker is turned away.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	const workers, asks = 64, 3
	c := redistest.Shared(t).Client(t)
	var stores [2]*counted
	var turns atomic.Int64
	var wg sync.WaitGroup
	for n := range stores {
		s, err := redis.New(t.Context(), redis.Options{Client: c, Seals: broker.NewSeals([]byte("key"))})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		stores[n] = &counted{Store: s}
		daemon := daemonOn(stores[n])
		for k := range workers {
			wg.Go(func() {
				for range asks {
					wait, err := daemon.Turn(t.Context(), bridge.Call{
						Platform: "chat", Key: fmt.Sprint(n, "-", k), Limits: []bridge.Limit{
							{Line: fmt.Sprint("C", k%2), Calls: 10, Period: time.Hour}, {Line: "all", Calls: 15, Period: time.Hour},
						},
					})
					if err != nil {
						t.Errorf("daemon %d: %v", n, err)
					} else if wait <= bridge.WaitForTurn {
						turns.Add(1)
					}
				}
			})
		}
	}
	wg.Wait()
	if turns.Load() != 15 {
		t.Errorf("%d calls got a turn, want 15", turns.Load())
	}
	for n, s := range stores {
		t.Logf("daemon %d: %d changes, %d conflicts", n, s.changes.Load(), s.conflicts.Load())
	}
}
