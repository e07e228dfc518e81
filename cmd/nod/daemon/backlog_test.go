package daemon_test

import (
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/rig"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// backlog returns the length of the backlogs of tests: NOD_BACKLOG if it is set.
func backlog(t *testing.T, usual int) int {
	t.Helper()
	text := os.Getenv("NOD_BACKLOG")
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("NOD_BACKLOG is %q, want a positive number", text)
	}
	return n
}

// A service takes serviceTime for a call, and each card of a backlog in one line
// may take perCard. A card that slept until its turn would take longer.
const (
	serviceTime = 30 * time.Millisecond
	perCard     = 100 * time.Millisecond
)

// TestBacklogOfOneLine lets an agent ask while a service hangs. Once it responds
// again, the cards appear one right after the other, in order, although the
// service is at its rate limit in between.
// NOD_BACKLOG sets the number of requests.
func TestBacklogOfOneLine(t *testing.T) {
	t.Parallel()
	n := backlog(t, 60)
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Daemons: 2, Config: rig.Only(s)})
			for _, f := range []sandbox.Fault{ // one after the other
				{Kind: "delay", Delay: 3 * time.Second, Count: 1},
				{Kind: "delay", Delay: serviceTime, Count: n / 2},
				{Kind: "rate_limit", RetryAfter: 2, Count: 2},
				{Kind: "delay", Delay: serviceTime},
			} {
				f.Service, f.Method = s, deliveries[s][len(deliveries[s])-1]
				if s == "discord" {
					f.Method = deliveries[s][0]
				}
				r.Sandbox.AddFault(f)
			}
			opening := time.Now()
			for k := range n {
				numbered(t, r, r.Daemons[k%2], k)
			}
			began := time.Now()
			var got []int
			for len(got) < n && time.Since(began) < rig.Patience+time.Duration(n)*time.Second && bridge.Pause(r.Ctx, 100*time.Millisecond) {
				got = numbers(r)[s]
			}
			took := time.Since(began)
			if limit := 10*time.Second + time.Duration(n)*perCard; took > limit {
				t.Errorf("%d cards took %s, want at most %s", n, took, limit)
			}
			if len(got) != n || !slices.IsSorted(got) {
				t.Errorf("%d cards, in the order %v", len(got), got)
			}
			t.Logf("%d cards were opened in %s and posted %s later", n, began.Sub(opening).Round(time.Millisecond), took.Round(time.Millisecond))
		})
	}
}
