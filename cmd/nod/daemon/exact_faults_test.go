package daemon_test

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/person"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// deliveries are the calls with which a long text and its card are delivered.
var deliveries = map[string][]string{
	"slack":    {"chat.postMessage"},
	"discord":  {"POST /channels/{channel}/messages", "PATCH /channels/{channel}/messages/{message}"},
	"telegram": {"sendDocument", "editMessageMedia", "sendMessage"},
}

// TestShownIsDecidedWithFaults checks that a long text is shown character for
// character, each part once and in order, and the card below them, although a
// delivery fails in the middle. At no moment can a card be approved that does
// not show all of it. On Telegram, which can neither repeat a call safely nor
// find a message, a message whose answer was lost comes twice. With NOD_TEXTS,
// the texts have 10 bytes to 160 kB.
func TestShownIsDecidedWithFaults(t *testing.T) {
	t.Parallel()
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Config: rig.Only(s)})
			guardAll(r, s)
			for n, method := range deliveries[s][:level.Often(len(deliveries[s]), 1)] {
				for k, f := range []sandbox.Fault{
					{Kind: "drop_after", Count: 1}, {Kind: "half", Count: 1}, {Kind: "restart"},
					{Kind: "rate_limit", RetryAfter: 1, Count: 1}, {Kind: "drop", Count: 1}, {Kind: "error", Status: http.StatusBadGateway, Count: 1},
				}[:level.Often(6, 3)] {
					f.Service, f.Method = s, method
					for m, size := range faultedSizes() {
						survives(r, s, payloads[(n*6+k+m)%len(payloads)], size, f)
					}
				}
			}
			r.NoComplaints()
		})
	}
}

// faultedSizes returns the sizes of the texts whose delivery fails.
func faultedSizes() []int {
	if allTexts() {
		return []int{10, 1_000, 8_000, 30_000, 60_000, 160_000}
	}
	return []int{30_000}
}

// survives delivers a text while a call fails, and approves it.
func survives(r *rig.Rig, s string, p payload, size int, f sandbox.Fault) {
	r.T.Helper()
	what := fmt.Sprintf("%s of %d bytes on %s with %s of %s", p.name, size, s, f.Kind, f.Method)
	text, before := p.text(size), posted(r, s)
	if f.Kind != "restart" {
		r.Sandbox.AddFault(f)
	}
	rec, err := r.Agent.Open(r.Ctx, p.request(text), "")
	if err != nil {
		r.T.Fatal(err)
	}
	if f.Kind == "restart" {
		_ = r.Sandbox.Wait(r.Ctx, func() bool { return posted(r, s) > before })
		restart(r)
	}
	a := rig.Asked{R: r, Record: rec}
	r.Eventually("the card is posted: "+what, func() bool {
		a.Record, err = r.Daemons[0].Engine().Get(r.Ctx, rec.Interaction.ID)
		return err == nil && len(a.Messages)+len(a.Failures) == 1
	})
	if len(a.Failures) > 0 {
		r.T.Fatalf("%s: %v", what, a.Failures)
	}
	read(a, s)
	at := a.On(s)
	if tooLong(a, s, what, size) {
		r.Sandbox.ClearFaults()
		return
	}
	if problem := p.inexact(r, at, text); problem != "" {
		r.T.Errorf("%s: %s", what, problem)
	}
	want, got := 1, posted(r, s)-before
	if s == "telegram" && person.TelegramFile.MatchString(a.Text(s)) {
		want = 2
	}
	lost := strings.HasPrefix(f.Method, "send") && (f.Kind == "drop_after" || f.Kind == "half")
	if got != want && (!lost || got != want+1) {
		r.T.Errorf("%s: %d messages, want %d", what, got, want)
	}
	r.Approve("ana", at)
	if got := a.End(); got.State != bridge.StateApproved || got.Response.Digest != a.Interaction.Digest {
		r.T.Errorf("%s: it is %s", what, got.State)
	}
	r.Sandbox.ClearFaults()
}

// guardAll fails the test if a message can be approved at a moment at which it
// does not show all of its text. The texts of payloads end with a z.
func guardAll(r *rig.Rig, s string) {
	checked := map[string]bool{}
	ctx, cancel := context.WithCancel(r.Ctx)
	var wg sync.WaitGroup
	r.T.Cleanup(func() { cancel(); wg.Wait() })
	wg.Go(func() {
		_ = r.Sandbox.Wait(ctx, func() bool {
			for _, c := range r.Sandbox.Chats(s) {
				for _, m := range c.Messages {
					at := sandbox.Place{Service: s, Channel: c.ID, Message: rig.MessageID(s, m)}
					if checked[at.Message] || !approvable(s, m) {
						continue
					}
					if m = r.Sandbox.Message(at); !approvable(s, m) {
						continue
					}
					text, _, err := r.PayloadOf(at, m)
					if text == "" { // the headline has it
						text, _, _ = strings.Cut(rig.ShownIn(m), "?")
					}
					if !reflect.DeepEqual(m, r.Sandbox.Message(at)) { // an edit has replaced the files of it
						continue
					}
					checked[at.Message] = true
					if err != nil || !strings.Contains(strings.TrimRight(text, "`\"\n} "), "z") {
						r.T.Errorf("%s can be approved, and shows %d bytes: %v", at.Message, len(text), err)
					}
				}
			}
			return false
		})
	})
}

// approvable reports whether a message has a control that does more than deny. On
// Slack, one that opens a dialog does not count: the dialog shows the whole text.
func approvable(s string, m map[string]any) bool {
	return slices.ContainsFunc(sandbox.Controls(s, m), func(c sandbox.Control) bool {
		return !strings.Contains(c.Label, "Deny") && (s != "slack" || !strings.HasSuffix(c.Label, "…"))
	})
}

// TestKilledBetweenParts kills the daemon with kill -9 while it delivers a long
// text. Only a message that was sent but not recorded may come twice.
func TestKilledBetweenParts(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		service string
		step    int // the new request is the first, then come each message and its record
	}{{"telegram", 4}, {"slack", 2}, {"discord", 3}, {"telegram", 2}}[:level.Often(4, 1)] {
		for _, before := range []bool{false, true}[:level.Often(2, 1)] {
			t.Run(fmt.Sprintf("%s step %d before %v", x.service, x.step, before), func(t *testing.T) {
				t.Parallel()
				killedAt(rig.NewCrash(t, x.service), x.service, x.step, before)
			})
		}
	}
}

func killedAt(c *rig.Crash, s string, step int, before bool) {
	c.T.Helper()
	c.ConnectedOn(s)
	c.KillAt(step, "", before)
	p := payloads[step%2*6] // code or fences
	text := p.text(30_000)
	var rec bridge.Record
	var err error
	var opening sync.WaitGroup
	opening.Go(func() { rec, err = c.Agent.Open(c.Ctx, p.request(text), "the-key") }) // the daemon may die before it responds
	c.Eventually("the daemon dies", c.K.Killed.Load)
	c.Restart()
	if opening.Wait(); err != nil {
		c.T.Fatal(err)
	}
	stored := c.Redis.Client(c.T)
	var at sandbox.Place
	c.Eventually("nod knows that the card shows everything", func() bool {
		got, err := c.Agent.Get(c.Ctx, rec.Interaction.ID)
		ref := got.Messages[0]
		at = sandbox.Place{Service: s, Channel: ref.Channel, Message: ref.Message}
		card := stored.Get(c.Ctx, rig.DocumentKey("card", string(rec.Interaction.ID)+"/0")).Val()
		return err == nil && len(got.Messages) == 1 && strings.Contains(card, `"shown":`)
	})
	if problem := p.inexact(c.Rig, at, text); problem != "" {
		c.T.Errorf("%s\nsteps: %v", problem, c.K.Names)
	}
	want := map[string]int{"slack": 1, "discord": 1, "telegram": 2}[s]
	if got := posted(c.Rig, s); got != want && got != want+1 || before && got != want {
		c.T.Errorf("%d messages, want %d\nsteps: %v", got, want, c.K.Names)
	}
	c.Approve("ana", at)
	if got, err := c.Agent.Wait(c.Ctx, rec.Interaction.ID); err != nil || got.State != bridge.StateApproved {
		c.T.Errorf("it is %s, %v", got.State, err)
	}
}
