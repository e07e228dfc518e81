package slack

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

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
