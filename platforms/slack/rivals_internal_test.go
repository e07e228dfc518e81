package slack

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"github.com/nodbridge/nod/bridge"
)

// TestNamedWait checks that a client which waits for as long as Slack names has not
// stalled: another one would ask for an address too early.
func TestNamedWait(t *testing.T) {
	t.Parallel()
	w := newWorkspace(Options{Name: "slack"})
	for name, x := range map[string]struct {
		err  error
		want time.Duration
	}{
		"rate limit": {&slack.RateLimitedError{RetryAfter: time.Hour}, time.Hour}, "no connection": {errors.New("no route to host"), 0},
	} {
		lost, began := time.Now().Add(-stalledAfter), time.Now()
		e := socketmode.Event{Type: socketmode.EventTypeConnectionError, Data: &slack.ConnectionErrorEvent{ErrorObj: x.err}}
		if err := (socket{workspace: w}).follow(e, &lost, &w.health); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if lost.Before(began.Add(x.want)) || lost.After(time.Now().Add(x.want)) {
			t.Errorf("%s: it counts as lost from %s on", name, lost)
		}
	}
}

// TestRivals checks when the number of connections means that another program
// receives.
func TestRivals(t *testing.T) {
	t.Parallel()
	daemons, fails := 2, error(nil)
	w := newWorkspace(Options{Name: "slack", Daemons: func(context.Context) (int, error) { return daemons, fails }})
	w.health.Set(bridge.HealthUp, "")
	r := &rivals{workspace: w}
	for n, x := range []struct {
		connections int
		fails       error
		again       time.Duration
		warned      bool
	}{
		{2, nil, lookEvery, false},
		{3, nil, lookAgain, false}, // one may have just ended
		{2, nil, lookEvery, false},
		{3, nil, lookAgain, false},
		{3, errors.New("no store"), lookEvery, false},
		{3, nil, rivalEvery, true},
		{4, nil, rivalEvery, true},
		{1, nil, lookEvery, false},
	} {
		fails = x.fails
		again := r.count(t.Context(), x.connections)
		if warned := w.health.Get().State == bridge.HealthDegraded; again != x.again || warned != x.warned {
			t.Errorf("%d: with %d connections, the next look is in %s; warned: %v", n, x.connections, again, warned)
		}
	}
}
