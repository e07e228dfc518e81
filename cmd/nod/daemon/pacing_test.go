package daemon_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestEditsAreMerged changes a card 50 times while its platform accepts no edits.
// Two daemons send one edit after that, with the last state.
func TestEditsAreMerged(t *testing.T) {
	t.Parallel()
	var edits atomic.Int64
	r, now := clocked(t, rig.Options{Limits: true, Daemons: 2, Config: func(c *config.Config) {
		rig.Only("telegram")(c)
		at, err := url.Parse(c.Sandbox)
		if err != nil {
			t.Fatal(err)
		}
		pass := httputil.NewSingleHostReverseProxy(at)
		count := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "editMessage") {
				edits.Add(1)
			}
			pass.ServeHTTP(w, r)
		}))
		t.Cleanup(count.Close)
		c.Sandbox = count.URL
	}})
	a := r.Ask(samples.Approval())
	id := a.Interaction.ID
	limit := sandbox.Fault{Service: "telegram", Method: "editMessageText", Kind: "rate_limit", RetryAfter: 60, Count: 1}
	r.Sandbox.AddFault(limit)
	before := edits.Load()
	change := func() {
		if _, err := r.Daemons[0].Store().Mark(r.Ctx, id, life.Refresh{}); err != nil {
			t.Fatal(err)
		}
	}
	change()
	r.Eventually("the edit is refused", func() bool { return edits.Load() == before+1 })
	for range 50 {
		change()
	}
	r.Press("ana", a.On("telegram"), r.ApprovingLabel(a.On("telegram")))
	now.jump(61 * time.Second)
	r.Eventually("the card is closed", func() bool { return strings.Contains(a.Text("telegram"), "Approved") })
	if got := edits.Load() - before; got != 2 {
		t.Errorf("%d edits, want the one that was refused and one more", got)
	}
}

// TestOrderAtTheLimit lets two daemons post more cards than a channel accepts at
// once. They appear in the order of the requests.
func TestOrderAtTheLimit(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"slack", "discord"} {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Limits: true, Daemons: 2, Config: rig.Only(s)})
			n := level.Often(12, 6)
			for k := range n {
				numbered(t, r, r.Daemons[k%2], k)
			}
			if got := posting(r, s, n); len(got) != n || !slices.IsSorted(got) {
				t.Errorf("%d cards, in the order %v", len(got), got)
			}
		})
	}
}

// tooEarly is the time by which a refused call may come too early, because the
// first calls took longer to reach their platform than usual. nod repeats such a
// call. A call that does not wait for its turn comes even earlier: by a second on
// Slack, and by five on Discord.
var tooEarly = map[string]time.Duration{"slack": 900 * time.Millisecond, "discord": 2 * time.Second}

// TestLimitsWithoutADaemon lets two daemons use the limits of a channel fully, for
// cards and their edits. One of them loses Redis in the meantime. No call is
// made too early, and each card shows its decision.
func TestLimitsWithoutADaemon(t *testing.T) {
	level.CI(t)
	t.Parallel()
	for _, s := range []string{"slack", "discord"} {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Limits: true, Config: rig.Only(s)})
			proxy := redistest.StartProxy(t, r.Redis.Addr)
			whole := r.Client
			r.Client = r.Redis.Via(t, proxy.Addr)
			dying := r.Start(rig.Listen(t))
			r.Client = whole
			const n = 14
			var ids []bridge.ID
			for k := range n {
				d := []*rig.Running{r.Daemons[0], dying}[k%2]
				req := samples.Approval()
				req.Prompt = fmt.Sprintf("Number %d?", k)
				rec, err := client.New(d.URL, rig.TestAgentToken, nil).Open(r.Ctx, req, "")
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, rec.Interaction.ID)
			}
			r.Eventually("some cards are posted", func() bool { return len(numbers(r, s)) > n/3 })
			proxy.Refuse(true)
			proxy.Cut()
			for _, id := range ids[:n/3] {
				if _, err := r.Person.Respond(r.Ctx, id, bridge.Reply{Decision: bridge.DecideOnce}); err != nil {
					t.Fatal(err)
				}
			}
			if got := posting(r, s, n); len(got) != n {
				t.Errorf("%d cards: %v", len(got), got)
			}
			r.Eventually("the decided cards are closed", func() bool { return closed(r) == n/3 })
			if _, refused, early := r.Sandbox.Calls(); early > tooEarly[s] {
				t.Errorf("%d calls were refused, one of them came %s too early", refused, early)
			}
		})
	}
}

// closed returns the number of cards that show an approval.
func closed(r *rig.Rig) int {
	n := 0
	for _, chat := range append(r.Sandbox.Chats("slack"), r.Sandbox.Chats("discord")...) {
		for _, m := range chat.Messages {
			if text := sandbox.Texts(m); number.MatchString(text) && strings.Contains(text, "Approved") {
				n++
			}
		}
	}
	return n
}
