package daemon_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
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

// serviceTime is the time that a service takes for a call.
const serviceTime = 30 * time.Millisecond

// posts are the calls with which a service gets a new card.
var posts = map[string]string{
	"slack": "chat.postMessage", "discord": "POST /channels/{channel}/messages", "telegram": "sendMessage",
}

// TestBacklogOfOneLine lets an agent ask while a service hangs. Once it responds
// again, the cards appear in order, although the service is at its rate limit in
// between.
// NOD_BACKLOG sets the number of requests.
func TestBacklogOfOneLine(t *testing.T) {
	t.Parallel()
	n := backlog(t, level.Often(60, 20))
	for _, s := range rig.Services[:level.Often(3, 1)] {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Daemons: 2, Config: rig.Only(s)})
			for _, f := range []sandbox.Fault{ // one after the other
				{Kind: "delay", Delay: time.Second, Count: 1},
				{Kind: "delay", Delay: serviceTime, Count: n / 2},
				{Kind: "rate_limit", RetryAfter: 1, Count: 2},
				{Kind: "delay", Delay: serviceTime},
			} {
				f.Service, f.Method = s, posts[s]
				r.Sandbox.AddFault(f)
			}
			for k := range n {
				numbered(t, r, r.Daemons[k%2], k)
			}
			if got := posting(r, s, n); !slices.IsSorted(got) {
				t.Errorf("%d cards, in the order %v", len(got), got)
			}
		})
	}
}

// posting waits until a service shows n different cards, and returns their order.
func posting(r *rig.Rig, service string, n int) []int {
	r.T.Helper()
	var got []int
	r.Eventually(fmt.Sprintf("%d cards are posted on %s", n, service), func() bool {
		got = numbers(r, service)
		return len(got) >= n
	})
	return got
}

// TestBacklogAfterKill kills the only daemon with kill -9 when a card has left its
// line and the next one has not been woken. The daemon that comes after it posts
// the rest of the line in order.
func TestBacklogAfterKill(t *testing.T) {
	t.Parallel()
	for _, s := range rig.Services[:level.Often(3, 1)] {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			n := backlog(t, 20)
			c := rig.NewCrash(t, s)
			c.ConnectedOn(s)
			c.Sandbox.AddFault(sandbox.Fault{Service: s, Method: posts[s], Kind: "delay", Delay: await.Limit, Count: 1})
			for k := range n {
				numbered(t, c.Rig, &rig.Running{URL: c.URL}, k)
			}
			c.KillAt(0, "finish", false)
			c.Sandbox.ClearFaults() // the call that hangs returns
			c.Eventually("the daemon dies", c.K.Killed.Load)
			if before := len(posting(c.Rig, s, 1)); before == 0 || before == n {
				t.Errorf("it died with %d of %d cards", before, n)
			}
			c.Restart()
			if got := posting(c.Rig, s, n); !slices.IsSorted(got) {
				t.Errorf("%d cards, in the order %v", len(got), got)
			}
		})
	}
}
