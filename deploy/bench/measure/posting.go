package measure

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// A service accepts a minute's messages in several channels. Its limits are
// those that the sandbox enforces.
type service struct {
	name     string
	channels int
	calls    int // calls that show a card with its controls
	channel  rate
	all      rate
}

// A rate permits a number of calls in any period. A steady rate permits another
// call every period/calls.
type rate struct {
	calls  int
	period time.Duration
	steady bool
}

// There are so few channels that the limits delay many cards.
var services = []service{
	{"slack", 20, 1, rate{5, 5 * time.Second, true}, rate{600, time.Minute, false}},
	{"discord", 10, 2, rate{5, 5 * time.Second, false}, rate{50, time.Second, false}},
	{"telegram", 40, 1, rate{20, time.Minute, false}, rate{30, time.Second, false}},
}

const (
	posted      = 1000 // requests in a minute on each service
	schedule    = "the schedule that the service's limits allow"
	postingSpan = 30                     // one minute, as a number of spans
	postTime    = 200 * time.Millisecond // duration of a call, about that of the real services
)

// postingRows returns two rows for each service, and one for the calls that no
// rate limit refused.
func postingRows() []row {
	var out []row
	for _, s := range services {
		name := "posting, 1,000 requests in a minute on " + s.name
		out = append(out, row{name + ", p50", "ms", schedule, 0, false}, row{name + ", p99", "ms", schedule, 0, true})
	}
	return append(out, row{"posting, calls that no rate limit refused", "", "all calls", 1, false})
}

// card is a request of the measurement: when the agent asked, and the time
// until it was shown with its controls.
type card struct {
	channel int
	asked   time.Time
	took    time.Duration
}

// posting opens requests for a minute on all services at the same time, and
// waits for their cards.
func posting(ctx context.Context, b *harness) ([]figures, error) {
	on, routes := sandbox.New(sandbox.Options{}), map[string]config.Route{}
	for _, s := range services {
		for n, channel := range on.AddChannels(s.name, s.channels) {
			routes[routeOf(s, n)] = config.Route{To: []string{s.name + ":" + channel}, Responders: []string{"ana"}}
		}
		on.AddFault(sandbox.Fault{Service: s.name, Kind: "delay", Delay: postTime})
	}
	i, err := b.installOn(ctx, on, "posting", true, func(c *config.Config) {
		for name, r := range routes {
			c.Routes[name] = r
		}
	})
	if i != nil {
		defer i.stop()
	}
	if err != nil {
		return nil, err
	}
	var wg sync.WaitGroup
	out, errs := make([]figures, 2*len(services)), make([]error, len(services))
	for n, s := range services {
		wg.Go(func() {
			var cards []card
			if cards, errs[n] = b.postTo(ctx, i, s); errs[n] != nil {
				return
			}
			real, ideal := took(cards), took(s.ideal(cards))
			out[2*n] = figures{percentile(real, 50), percentile(ideal, 50)}
			out[2*n+1] = figures{percentile(real, 99), percentile(ideal, 99)}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	all, refused, _ := on.Calls()
	return append(out, figures{float64(all - refused), float64(all)}), nil
}

func routeOf(s service, n int) string { return fmt.Sprintf("%s-%d", s.name, n) }

// took returns the times of cards in ms.
func took(cards []card) []float64 {
	var out []float64
	for _, c := range cards {
		out = append(out, c.took.Seconds()*1000)
	}
	return out
}

// postTo opens the requests of one service and returns their cards in the order
// of the requests.
func (b *harness) postTo(ctx context.Context, i *installation, s service) ([]card, error) {
	minute := min(time.Minute, postingSpan*b.span)
	n := max(1, int(posted*minute/time.Minute))
	journal := i.History()
	cursor, err := journal.Cursor(ctx)
	if err != nil {
		return nil, err
	}
	cards, ids := make([]card, n), map[bridge.ID]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	began := time.Now()
	var failed error
	for k := range n {
		bridge.Pause(ctx, time.Until(began.Add(minute*time.Duration(k)/time.Duration(n))))
		c := card{channel: k % s.channels, asked: time.Now()}
		wg.Go(func() {
			rec, err := i.agent.Open(ctx, request(s, c.channel), "")
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = err
			}
			cards[k], ids[rec.Interaction.ID] = c, k
		})
	}
	wg.Wait()
	if failed != nil {
		return nil, failed
	}
	for left := n; left > 0; {
		events, next, err := journal.Events(ctx, cursor, bridge.EventFilter{})
		if err != nil {
			return nil, err
		}
		for _, e := range events {
			k, known := ids[e.InteractionID]
			switch {
			case !known:
			case e.Type == bridge.EventFailed:
				return nil, bridge.Errorf(bridge.CodeInternal, "%s did not take a card: %s", s.name, e.Data)
			case e.Type == bridge.EventPosted:
				cards[k].took = e.Timestamp.Sub(cards[k].asked)
				left--
			}
		}
		if cursor = next; left > 0 && !bridge.Pause(ctx, 100*time.Millisecond) {
			return nil, ctx.Err()
		}
	}
	return cards, nil
}

func request(s service, channel int) bridge.Request {
	return bridge.Request{Ask: bridge.Ask{
		Prompt: "Deploy version 2?", Timeout: bridge.Duration(time.Hour),
		Approval: &bridge.Approval{Tool: "deploy", Input: json.RawMessage(`{"command":"kubectl apply"}`)},
		Route:    routeOf(s, channel),
	}}
}

// ideal returns the same requests with the times at which a service would show
// them if they waited only for its limits and the duration of its calls. Among
// the free channels, the oldest request goes first.
func (s service) ideal(cards []card) []card {
	all := &limiter{rate: s.all}
	channels, waiting := make([]*limiter, s.channels), make([][]card, s.channels)
	for n := range channels {
		channels[n] = &limiter{rate: s.channel}
	}
	for _, c := range cards {
		waiting[c.channel] = append(waiting[c.channel], c)
	}
	var out []card
	for range cards {
		best, at := -1, time.Time{}
		for n, w := range waiting {
			if len(w) == 0 {
				continue
			}
			if free := channels[n].free(w[0].asked); best < 0 || free.Before(at) {
				best, at = n, free
			}
		}
		c := waiting[best][0]
		waiting[best] = waiting[best][1:]
		at = all.free(at)
		channels[best].use(at)
		for range s.calls {
			all.use(at)
		}
		c.took = at.Sub(c.asked) + time.Duration(s.calls)*postTime
		out = append(out, c)
	}
	return out
}

// limiter keeps the calls within a rate.
type limiter struct {
	rate
	used []time.Time
	full time.Time // time at which all calls of a steady rate are available again
}

// free returns when the next call is possible, not before at.
func (l *limiter) free(at time.Time) time.Time {
	switch {
	case l.steady:
		return latest(at, l.full.Add(l.period/time.Duration(l.calls)-l.period))
	case len(l.used) < l.calls:
		return at
	}
	return latest(at, l.used[len(l.used)-l.calls].Add(l.period))
}

func (l *limiter) use(at time.Time) {
	l.used = append(l.used, at)
	l.full = latest(at, l.full).Add(l.period / time.Duration(l.calls))
}

func latest(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare) }
