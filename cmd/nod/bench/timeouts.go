package bench

import (
	"context"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
)

var timeoutRows = []row{
	{"delay of timeouts at 1000/s, p99", "ms", limited, 1, true},
	{"time to process many simultaneous timeouts", "s", limited, 1, true},
}

const (
	mostLate   = 50 // ms
	mostAtOnce = 5  // s
	// openRate is a rate, per second, at which requests can certainly be opened
	// before a deadline that they share.
	openRate = 1500
)

// timeouts measures the delay with which an engine applies deadlines.
func timeouts(ctx context.Context, b *harness) ([]figures, error) {
	run, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	engine := engine.New(engine.Options{Store: b.store})
	wg.Go(func() { _ = engine.Run(run) }) // it ends with run
	n := int(2 * b.span / time.Millisecond)
	first := time.Now().Add(time.Duration(n) * time.Second / openRate).Add(time.Second)
	next := first
	late, _, err := b.expire(ctx, n, func() time.Time { next = next.Add(time.Millisecond); return next })
	if err != nil {
		return nil, err
	}
	all := time.Now().Add(time.Duration(b.pending) * time.Second / openRate).Add(time.Second)
	_, last, err := b.expire(ctx, b.pending, func() time.Time { return all })
	return []figures{{late, mostLate}, {last, mostAtOnce}}, err
}

// expire opens n requests with deadlines. It returns the 99th percentile of the
// delay with which they end, in ms, and the delay of the last one, in s. It
// checks that each ends once.
func (b *harness) expire(ctx context.Context, n int, deadline func() time.Time) (p99, last float64, err error) {
	c, err := b.gather(ctx, n, func(i *bridge.Interaction) {
		i.Created, i.Deadline = time.Now(), deadline()
		i.Grace = bridge.Duration(time.Hour) // there is no chat to post to
	})
	defer c.disperse()
	if err != nil {
		return 0, 0, err
	}
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
	ends := make(map[bridge.ID]int, n)
	for cursor := ""; ; {
		events, next, err := b.store.Events(ctx, cursor, bridge.EventFilter{})
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
