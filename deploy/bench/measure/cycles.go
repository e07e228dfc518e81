package measure

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
)

// openFor is the time for which a request is open. It is longer than a run,
// because requests must not expire while the run is still opening others.
const openFor = 24 * time.Hour

// opening returns the request that every cycle opens: a typical approval with
// one destination.
func (b *harness) opening() (life.Opening, error) {
	id, err := bridge.NewID()
	if err != nil {
		return life.Opening{}, err
	}
	now := time.Now().UTC()
	i := bridge.Interaction{
		ID: id,
		Ask: bridge.Ask{
			Kind: bridge.KindApproval, Prompt: "Deploy version 2 to production?", Route: "default", MaxRounds: 1,
			Approval: &bridge.Approval{Tool: "deploy", Input: []byte(`{"command":"kubectl apply -f v2.yaml"}`), Scopes: []bridge.Scope{bridge.ScopeOnce}}, OnTimeout: bridge.OnTimeoutExpire, Hold: bridge.Duration(time.Hour),
		},
		Agent:   "bench",
		Lineage: bridge.Lineage{Round: 1},
		Placement: bridge.Placement{
			Destinations: []bridge.Destination{{Platform: "chat", Channel: "C"}}, Responders: []bridge.Responder{{Person: "ana", Platform: "chat", User: "U"}},
		},
		Schedule: bridge.Schedule{Created: now, Deadline: now.Add(openFor)},
		Digest:   strings.Repeat("0", 64),
		Content:  strings.Repeat("1", 64),
	}
	return life.Opening{Interaction: i, Awaited: true}, nil
}

func yes(id bridge.ID) life.Resolution {
	actor := bridge.Actor{Platform: "chat", User: "U", Person: "ana"}
	return life.Resolution{ID: id, Nonce: "bench", Response: bridge.Response{
		State: bridge.StateApproved, Scope: bridge.ScopeOnce, Actor: &actor, Annotations: map[string]bridge.Annotation{}, At: time.Now().UTC(), Digest: strings.Repeat("0", 64),
	}}
}

// settleAfter is the delay between opening and resolving a request. By then,
// its caller is waiting.
const settleAfter = 2 * time.Millisecond

// cycles returns the number of cycles that the callers complete per second.
func (b *harness) cycles(ctx context.Context, callers int) (float64, error) {
	return b.repeat(ctx, callers, b.cycle)
}

// repeat returns the number of times per second that the callers together
// complete the work.
func (b *harness) repeat(ctx context.Context, callers int, work func(context.Context) error) (float64, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var done atomic.Int64
	var over atomic.Bool
	failed := make(chan error, callers)
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for !over.Load() {
				if err := work(ctx); err != nil {
					failed <- err
					return
				}
				done.Add(1)
			}
		})
	}
	for done.Load() < int64(callers) && len(failed) == 0 && ctx.Err() == nil { // warm-up
		bridge.Pause(ctx, settleAfter)
	}
	used := b.spentNow(ctx)
	first, began := done.Load(), time.Now()
	// the machine is slow
	for bridge.Pause(ctx, b.span); done.Load() == first && len(failed) == 0 && ctx.Err() == nil; {
		bridge.Pause(ctx, settleAfter)
	}
	n, took := done.Load()-first, time.Since(began)
	b.costSince(ctx, used, "cycle", int(n))
	over.Store(true)
	wg.Wait()
	select {
	case err := <-failed:
		return 0, err
	default:
		return float64(n) / took.Seconds(), ctx.Err()
	}
}

func (b *harness) cycle(ctx context.Context) error {
	o, err := b.opening()
	if err != nil {
		return err
	}
	return b.complete(ctx, o)
}

// fullCycle is a cycle of a request with everything that an agent usually
// sends: an idempotency key, a session, and destinations on three platforms.
func (b *harness) fullCycle(ctx context.Context) error {
	o, err := b.opening()
	if err != nil {
		return err
	}
	i := &o.Interaction
	i.Session = uuid.NewString()
	o.Identity = bridge.CallID{Key: uuid.NewString()}.Identity(i.Agent, i.Session, i.Digest)
	if i.ID, err = bridge.NewID(); err != nil {
		return err
	}
	for _, platform := range []string{"second", "third"} {
		i.Destinations = append(i.Destinations, bridge.Destination{Platform: platform, Channel: "C"})
	}
	return b.complete(ctx, o)
}

// complete opens a request, resolves it, and waits for the end.
func (b *harness) complete(ctx context.Context, o life.Opening) error {
	id := o.Interaction.ID
	if _, _, err := b.store.Open(ctx, o); err != nil {
		return err
	}
	settled := make(chan error, 1)
	time.AfterFunc(settleAfter, func() {
		_, _, err := b.store.Resolve(ctx, yes(id))
		settled <- err
	})
	rec, err := core.Await(ctx, b.store, id)
	if err = errors.Join(err, <-settled); err == nil && rec.State != bridge.StateApproved {
		err = bridge.Errorf(bridge.CodeInternal, "a cycle ended %s", rec.State)
	}
	return err
}

// fullCycles compares plain cycles with cycles that have every field that an
// agent sends.
func fullCycles(ctx context.Context, b *harness) ([]figures, error) {
	value, err := b.repeat(ctx, queueCallers, b.fullCycle)
	if err != nil {
		return nil, err
	}
	b.keepCost(0)
	other, err := b.cycles(ctx, queueCallers)
	return []figures{{value, other}}, err
}

func cyclesByHand(callers int) func(context.Context, *harness) ([]figures, error) {
	return func(ctx context.Context, b *harness) ([]figures, error) {
		value, err := b.cycles(ctx, callers)
		if err != nil {
			return nil, err
		}
		b.keepCost(0)
		other, err := b.handCycles(ctx, callers)
		return []figures{{value, other}}, err
	}
}

// queueCallers is the usual number of concurrent callers.
const queueCallers = 64

func cyclesAgainstQueue(callers int) func(context.Context, *harness) ([]figures, error) {
	return func(ctx context.Context, b *harness) ([]figures, error) {
		value, err := b.cycles(ctx, callers)
		if err != nil {
			return nil, err
		}
		b.keepCost(0)
		lists, err := b.replyQueue(ctx, callers)
		return []figures{{value, lists}}, err
	}
}

// ratePerSecond returns the rate at which done grows while the callers
// continue.
func (b *harness) ratePerSecond(ctx context.Context, done *atomic.Int64) float64 {
	began := time.Now()
	for bridge.Pause(ctx, b.span); done.Load() == 0 && ctx.Err() == nil; { // the machine is slow
		bridge.Pause(ctx, settleAfter)
	}
	return float64(done.Load()) / time.Since(began).Seconds()
}

// replyQueue measures the common approach without a broker: a list of requests,
// and a list for each reply. It stores nothing after the reply.
func (b *harness) replyQueue(ctx context.Context, callers int) (float64, error) {
	client := redis.NewClient(&redis.Options{Addr: b.addr, PoolSize: 3 * callers, ContextTimeoutEnabled: true})
	defer client.Close()
	run, stop := context.WithCancel(ctx)
	defer stop()
	var done atomic.Int64
	var wg sync.WaitGroup
	for n := range callers {
		wg.Go(func() { // answers
			for run.Err() == nil {
				got, err := client.BLPop(run, time.Second, "bench:requests").Result()
				if err == nil {
					_ = client.RPush(run, got[1], "yes").Err() // ends with the run
				}
			}
		})
		wg.Go(func() { // asks
			reply := "bench:reply:" + strconv.Itoa(n)
			for run.Err() == nil {
				if client.RPush(run, "bench:requests", reply).Err() == nil && client.BLPop(run, time.Second, reply).Err() == nil {
					done.Add(1)
				}
			}
		})
	}
	rate := b.ratePerSecond(ctx, &done)
	stop()
	wg.Wait()
	return rate, ctx.Err()
}

// mostUnblock is the limit in µs from the start of a resolution until its
// caller is unblocked.
const mostUnblock = 250

// unblocking measures the time from the start of a resolution until a waiting
// caller has the result.
func unblocking(ctx context.Context, b *harness) ([]figures, error) {
	p50, err := b.unblock(ctx)
	return []figures{{p50, mostUnblock}}, err
}

// unblock returns the median of the time that unblocking measures, in µs.
func (b *harness) unblock(ctx context.Context) (float64, error) {
	var values []float64
	for end := time.Now().Add(b.span); len(values) == 0 || time.Now().Before(end); {
		o, err := b.opening()
		if err != nil {
			return 0, err
		}
		id := o.Interaction.ID
		if _, _, err := b.store.Open(ctx, o); err != nil {
			return 0, err
		}
		woken := make(chan time.Time, 1)
		go func() {
			if _, err := core.Await(ctx, b.store, id); err == nil {
				woken <- time.Now()
			}
			close(woken)
		}()
		if !bridge.Pause(ctx, settleAfter) {
			return 0, ctx.Err()
		}
		if err := b.client.Ping(ctx).Err(); err != nil { // warms the connection
			return 0, err
		}
		began := time.Now()
		if _, _, err := b.store.Resolve(ctx, yes(id)); err != nil {
			return 0, err
		}
		at, ok := <-woken
		if !ok {
			return 0, bridge.Errorf(bridge.CodeInternal, "a caller was not woken")
		}
		values = append(values, float64(at.Sub(began).Microseconds()))
	}
	return median(values), nil
}
