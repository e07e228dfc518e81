package daemon_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// numbered opens a question with a number at a daemon.
func numbered(t *testing.T, r *rig.Rig, d *rig.Running, n int) {
	t.Helper()
	req := bridge.Request{Ask: bridge.Ask{
		Prompt: fmt.Sprintf("Number %d?", n), Questions: []bridge.Question{{ID: "q", Widget: bridge.WidgetConfirm}},
	}}
	if _, err := client.New(d.URL, rig.TestAgentToken, nil).Open(r.Ctx, req, ""); err != nil {
		t.Fatal(err)
	}
}

var number = regexp.MustCompile(`Number (\d+)`)

// numbers returns the numbers of the cards on a service, in order.
func numbers(r *rig.Rig, service string) []int { return inOrder(r, service, number) }

// TestOrderOfTwoDaemons checks that the cards of an agent appear in the order of
// its requests, although two daemons post them and each call of a platform may
// take longer than the next.
func TestOrderOfTwoDaemons(t *testing.T) {
	t.Parallel()
	const each = 4
	rounds := level.Often(25, 4)
	r := rig.New(t, rig.Options{Daemons: 2})
	for round := range rounds {
		for _, service := range rig.Services {
			r.Sandbox.AddFault(sandbox.Fault{Service: service, Kind: "delay", Delay: 40 * time.Millisecond, Count: 1})
		}
		for k := range each {
			numbered(t, r, r.Daemons[(round+k)%2], round*each+k)
		}
		for _, service := range rig.Services {
			if got := posting(r, service, (round+1)*each); !slices.IsSorted(got) {
				t.Fatalf("%s: the order is %v", service, got)
			}
		}
	}
}

// TestOrderWithoutADaemon checks that cards do not wait for those of a daemon that
// died, and that none of them is lost.
func TestOrderWithoutADaemon(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	proxy := redistest.StartProxy(t, r.Redis.Addr)
	whole := r.Client
	r.Client = r.Redis.Via(t, proxy.Addr)
	dying := r.Start(rig.Listen(t))
	r.Client = whole
	for n := range 8 {
		numbered(t, r, []*rig.Running{r.Daemons[0], dying}[n%2], n)
	}
	proxy.Refuse(true)
	proxy.Cut()
	for n := range 4 {
		numbered(t, r, r.Daemons[0], 8+n)
	}
	for _, service := range rig.Services {
		posting(r, service, 12)
	}
}

// TestOrderOfBacklog checks that the cards of a long backlog appear in the order
// of the requests: those that are posted immediately, and those with a grace
// period, although one of two daemons dies in the meantime. NOD_BACKLOG sets the
// number of each kind.
func TestOrderOfBacklog(t *testing.T) {
	t.Parallel()
	requests := backlog(t, 20)
	r := rig.New(t, rig.Options{})
	proxy := redistest.StartProxy(t, r.Redis.Addr)
	whole := r.Client
	r.Client = r.Redis.Via(t, proxy.Addr)
	r.Start(rig.Listen(t))
	r.Client = whole
	for _, service := range rig.Services {
		r.Sandbox.AddFault(sandbox.Fault{Service: service, Kind: "delay", Delay: time.Second, Count: 1})
	}
	for n := range requests {
		for kind, delay := range map[string]func(*bridge.Request){
			"plain": func(*bridge.Request) {},
			"grace": func(req *bridge.Request) { req.Grace = bridge.Duration(2 * time.Second) },
		} {
			req := samples.Approval()
			req.Prompt, req.Approval.Input = "Go?", fmt.Appendf(nil, `{"command":"%s %d."}`, kind, n)
			delay(&req)
			if _, err := r.Agent.Open(r.Ctx, req, ""); err != nil {
				t.Fatal(err)
			}
		}
		if n == requests/2 {
			proxy.Refuse(true)
			proxy.Cut()
		}
	}
	for _, kind := range []string{"plain", "grace"} {
		numbered := regexp.MustCompile(kind + ` (\d+)\.`)
		for _, service := range rig.Services {
			var got []int
			r.Eventually(fmt.Sprintf("%d cards of %s are on %s", requests, kind, service), func() bool {
				got = inOrder(r, service, numbered)
				return len(got) == requests
			})
			if !slices.IsSorted(got) {
				t.Errorf("%s: %d cards of %s: %v", service, len(got), kind, got)
			}
		}
	}
}

// inOrder returns the numbers of the cards on a service, in order. A daemon that
// died may have posted some of them twice.
func inOrder(r *rig.Rig, service string, numbered *regexp.Regexp) []int {
	var out []int
	seen := map[int]bool{}
	for _, m := range texts(r, service) {
		for _, hit := range numbered.FindAllStringSubmatch(m, -1) {
			if n, _ := strconv.Atoi(hit[1]); !seen[n] {
				seen[n], out = true, append(out, n)
			}
		}
	}
	return out
}
