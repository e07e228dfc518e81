package measure

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/history"
	"github.com/nodbridge/nod/bridge/rooms"
)

var timeoutRows = []row{
	{"delay of timeouts at 1000/s, p99", "ms", limited, 1, true},
	{"time to process many simultaneous timeouts", "s", limited, 1, true},
	{"other calls during them: open, resolve or unblock, p99", "ms", limited, 1, true},
}

const (
	mostLate   = 50 // ms
	mostAtOnce = 6  // s
	mostOther  = 50 // ms
	// openRate is the rate, per second, at which requests can usually be opened
	// before a shared deadline. If it is too high, it is halved, down to
	// leastOpenRate.
	openRate      = 1500
	leastOpenRate = 15
	// otherCallers is the number of other callers, and otherPause is their
	// pause after each request.
	otherCallers = 8
	otherPause   = 10 * time.Millisecond
)

// timeouts measures the delay with which an engine applies deadlines.
func timeouts(ctx context.Context, b *harness) ([]figures, error) {
	run, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	engine := rooms.New(rooms.Options{Options: engine.Options{Store: b.store, DB: b.db}})
	wg.Go(func() { _ = engine.Run(run) }) // the engine ends with run
	n := int(2 * b.span / time.Millisecond)
	var late, last, slowest float64
	err := inTime(n, func(first time.Time) (err error) {
		late, _, err = b.expire(ctx, n, first, time.Millisecond)
		return err
	})
	if err != nil {
		return nil, err
	}
	b.keepCost(0)
	err = inTime(b.pending, func(first time.Time) (err error) {
		stopOthers := b.alongside(ctx, first)
		_, last, err = b.expire(ctx, b.pending, first, 0)
		others, failed := stopOthers(first.Add(time.Duration(last * float64(time.Second))))
		slowest = others
		return errors.Join(err, failed)
	})
	b.keepCost(1)
	return []figures{{late, mostLate}, {last, mostAtOnce}, {slowest, mostOther}}, err
}

// errLate means that a deadline passed before all requests were open, so the
// figures would measure the openings.
var errLate = errors.New("the machine is too busy to open the requests before their deadline")

// inTime calls measure with a deadline that leaves time to open n requests. If
// the deadline was too early, it repeats the measurement with a later one.
func inTime(n int, measure func(first time.Time) error) error {
	for rate := openRate; ; rate /= 2 {
		err := measure(time.Now().Add(time.Duration(n) * time.Second / time.Duration(rate)).Add(time.Second))
		if !errors.Is(err, errLate) || rate/2 < leastOpenRate {
			return err
		}
	}
}

// taken holds the time at which a request of another caller was opened, and the
// duration of each of its calls in ms.
type taken struct {
	at                    time.Time
	open, settle, unblock float64
}

// alongside starts callers that open and resolve requests, beginning at a given
// time. The returned function stops them. It returns the 99th percentile of the
// slowest kind of call, in ms. It counts the requests that were opened until
// the given time, and the first request of each caller.
func (b *harness) alongside(ctx context.Context, from time.Time) func(until time.Time) (float64, error) {
	var stopped atomic.Bool
	var wg sync.WaitGroup
	all, failed := make([][]taken, otherCallers), make([]error, otherCallers)
	for n := range otherCallers {
		wg.Go(func() {
			for bridge.Pause(ctx, time.Until(from)); len(all[n]) == 0 || !stopped.Load(); bridge.Pause(ctx, otherPause) {
				t, err := b.timed(ctx)
				if err != nil {
					failed[n] = err
					return
				}
				all[n] = append(all[n], t)
			}
		})
	}
	return func(until time.Time) (float64, error) {
		stopped.Store(true)
		wg.Wait()
		var open, settle, unblock []float64
		for _, own := range all {
			for k, t := range own {
				if k == 0 || !t.at.After(until) {
					open, settle, unblock = append(open, t.open), append(settle, t.settle), append(unblock, t.unblock)
				}
			}
		}
		if err := errors.Join(failed...); err != nil {
			return 0, err
		}
		return max(percentile(open, 99), percentile(settle, 99), percentile(unblock, 99)), nil
	}
}

// timed opens a request, resolves it while its caller waits, and times the
// calls.
func (b *harness) timed(ctx context.Context) (taken, error) {
	o, err := b.opening()
	if err != nil {
		return taken{}, err
	}
	o.Interaction.Grace = bridge.Duration(time.Hour) // there is no chat to post to
	id := o.Interaction.ID
	since := func(at time.Time) float64 { return float64(time.Since(at).Microseconds()) / 1000 }
	t := taken{at: time.Now()}
	if _, _, err := b.store.Open(ctx, o); err != nil {
		return t, err
	}
	t.open = since(t.at)
	var settling time.Time
	settled := make(chan error, 1)
	time.AfterFunc(settleAfter, func() {
		settling = time.Now()
		_, _, err := b.store.Resolve(ctx, yes(id))
		t.settle = since(settling)
		settled <- err
	})
	_, err = core.Await(ctx, b.store, id)
	unblocked := time.Now()
	err = errors.Join(err, <-settled)
	t.unblock = float64(unblocked.Sub(settling).Microseconds()) / 1000
	return t, err
}

// expire opens n requests whose deadlines start at a given time. It returns the
// 99th percentile of the delay with which they end, in ms, and the delay of the
// last one, in s. It checks that each ends only once. If the first deadline
// passes before all are open, it waits until they have ended, and returns
// errLate.
func (b *harness) expire(ctx context.Context, n int, first time.Time, apart time.Duration) (p99, last float64, err error) {
	due := first
	c, err := b.gather(ctx, n, func(i *bridge.Interaction) {
		i.Created, i.Deadline = time.Now(), due
		i.Grace = bridge.Duration(time.Hour) // there is no chat to post to
		due = due.Add(apart)
	})
	defer c.disperse()
	if err != nil {
		return 0, 0, err
	}
	used, inTime := b.spentNow(ctx), time.Now().Before(first)
	var late []float64
	for range n {
		select {
		case w := <-c.woken:
			if w.state != bridge.StateExpired {
				return 0, 0, bridge.Errorf(bridge.CodeInternal, "ended %s", w.state)
			}
			late = append(late, float64(w.at.Sub(w.due).Microseconds())/1000)
		case <-time.After(2 * time.Minute):
			return 0, 0, bridge.Errorf(bridge.CodeInternal, "%d of %d requests have not ended", n-len(late), n)
		}
	}
	b.costSince(ctx, used, "timeout", n)
	if !inTime {
		return 0, 0, errLate
	}
	ends := make(map[bridge.ID]int, n)
	for cursor := ""; ; {
		events, next, err := history.New(b.db, b.store, nil).Events(ctx, cursor, bridge.EventFilter{})
		if err != nil {
			return 0, 0, err
		}
		for _, e := range events {
			if e.Type == bridge.EventResponse {
				ends[e.InteractionID]++
			}
		}
		if cursor = next; len(events) == 0 {
			break
		}
	}
	for _, id := range c.ids {
		if ends[id] != 1 {
			return 0, 0, bridge.Errorf(bridge.CodeInternal, "%s ended %d times", id, ends[id])
		}
	}
	p99 = percentile(late, 99)
	return p99, late[len(late)-1] / 1000, nil
}
