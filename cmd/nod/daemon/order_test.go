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
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
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

// numbers returns the numbers of the cards on each service, in order.
func numbers(r *rig.Rig) map[string][]int {
	out := map[string][]int{}
	for _, service := range rig.Services {
		for _, chat := range r.Sandbox.Chats(service) {
			for _, m := range chat.Messages {
				hit := number.FindStringSubmatch(sandbox.Texts(m))
				if hit == nil {
					continue
				}
				n, _ := strconv.Atoi(hit[1])
				if !slices.Contains(out[service], n) { // a daemon that died may have posted it before
					out[service] = append(out[service], n)
				}
			}
		}
	}
	return out
}

// all waits until every service shows n cards, and returns their order.
func all(r *rig.Rig, n int) map[string][]int {
	r.T.Helper()
	var got map[string][]int
	r.Eventually(fmt.Sprintf("%d cards are posted", n), func() bool {
		got = numbers(r)
		return len(got["slack"]) == n && len(got["discord"]) == n && len(got["telegram"]) == n
	})
	return got
}

// TestOrderOfTwoDaemons checks that the cards of an agent appear in the order of
// its requests, although two daemons post them and each call of a platform may
// take longer than the next.
func TestOrderOfTwoDaemons(t *testing.T) {
	t.Parallel()
	const rounds, each = 25, 4
	r := rig.New(t, rig.Options{Daemons: 2})
	for round := range rounds {
		for _, service := range rig.Services {
			r.Sandbox.AddFault(sandbox.Fault{Service: service, Kind: "delay", Delay: 40 * time.Millisecond, Count: 1})
		}
		for k := range each {
			numbered(t, r, r.Daemons[(round+k)%2], round*each+k)
		}
		all(r, (round+1)*each)
	}
	for service, got := range all(r, rounds*each) {
		if !slices.IsSorted(got) {
			t.Errorf("%s: the order is %v", service, got)
		}
	}
}

// TestOrderWithoutADaemon checks that cards do not wait long for those of a
// daemon that died, and that none of them is lost.
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
	began := time.Now()
	for n := range 4 {
		numbered(t, r, r.Daemons[0], 8+n)
	}
	all(r, 12)
	if took := time.Since(began); took > rig.Patience {
		t.Errorf("the cards took %s", took)
	}
	t.Logf("%s, %v", time.Since(began), numbers(r))
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
			req := rig.Approval()
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
	began := time.Now()
	for _, kind := range []string{"plain", "grace"} {
		numbered := regexp.MustCompile(kind + ` (\d+)\.`)
		for _, service := range rig.Services {
			var got []int
			for len(got) < requests && time.Since(began) < 2*rig.Patience+time.Duration(requests)*time.Second && bridge.Pause(r.Ctx, 500*time.Millisecond) {
				got = inOrder(r, service, numbered)
			}
			if len(got) != requests || !slices.IsSorted(got) {
				t.Errorf("%s: %d cards of %s: %v", service, len(got), kind, got)
			}
		}
	}
	t.Logf("the cards took %s", time.Since(began))
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
