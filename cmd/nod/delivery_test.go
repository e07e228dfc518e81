package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// tail ends the long texts of these tests: the part that must not stay unseen.
const tail = "and then: rm -rf /"

// longPlan is a text of about n bytes that ends in tail.
func longPlan(n int) string {
	var b strings.Builder
	for k := 0; b.Len() < n-len(tail)-20; k++ {
		fmt.Fprintf(&b, "%05d look at it\n\n", k)
	}
	return b.String() + tail
}

// commandOf is an approval of about n bytes that ends in tail.
func commandOf(n int) bridge.Request {
	req := approval()
	req.Timeout = bridge.Duration(5 * time.Minute)
	line := strings.Repeat("echo step; ", max(0, n-len(tail))/11)
	req.Approval.Input = fmt.Appendf(nil, `{"command":%q}`, line+tail)
	return req
}

func planned(text string) bridge.Request {
	return bridge.Request{Ask: bridge.Ask{
		Prompt: "Is this plan right?", Session: "s", MaxRounds: 3, Questions: []bridge.Question{{ID: "p", Widget: bridge.WidgetPlanReview, Plan: text}},
	}}
}

// approving are the controls of a message that may approve.
func approving(service string, m map[string]any) []sandbox.Control {
	return slices.DeleteFunc(sandbox.Controls(service, m), func(c sandbox.Control) bool {
		return !strings.Contains(c.Label, "Allow") && !strings.Contains(c.Label, "Approve")
	})
}

// guard fails the test whenever a message that names the round can approve
// without showing all of it.
func (r *rig) guard(at sandbox.Place, round, want string) {
	ctx, cancel := context.WithCancel(r.ctx)
	var wg sync.WaitGroup
	r.t.Cleanup(func() { cancel(); wg.Wait() })
	wg.Go(func() {
		_ = r.sandbox.Wait(ctx, func() bool {
			m := r.sandbox.Message(at)
			if len(approving(at.Service, m)) == 0 || !strings.Contains(sandbox.Texts(m), round) {
				return false
			}
			if !strings.Contains(r.displayed(at), normal(at.Service, want)) {
				r.t.Errorf("%s can be approved on %s and does not show %q", round, at.Service, want)
				return true
			}
			return false
		})
	})
}

// once fails the test unless each part of the long text that a card refers to
// is there once; it returns how many there are.
func (r *rig) once(at sandbox.Place) int {
	r.t.Helper()
	own := shownIn(r.sandbox.Message(at))
	switch at.Service {
	case "telegram":
		name := telegramFile.FindString(fmt.Sprint(r.sandbox.Message(at)["text"]))
		if n := len(r.files(at.Channel, name)); name == "" || n != 1 {
			r.t.Errorf("the file %q is there %d times", name, n)
		}
		return 1
	case "slack":
		name := slackParts.FindStringSubmatch(own)
		if name == nil {
			r.t.Fatalf("the card names no parts: %s", own)
		}
		all := r.parts(at.Channel, name[1])
		for n, p := range all {
			if want := fmt.Sprintf("part %d of %d\n", n+1, len(all)); !strings.Contains(p, want) {
				r.t.Errorf("message %d is not %q: %.80q", n+1, want, p)
			}
		}
		return len(all)
	}
	return 0
}

// TestLongLaterRound asks again with a long plan after a short or a long one:
// the plan of the new round is there whole before its controls are.
func TestLongLaterRound(t *testing.T) {
	for _, s := range services {
		for _, before := range []int{10, 50_000} {
			t.Run(fmt.Sprintf("%s after %d", s, before), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, rigOptions{config: only(s), daemons: 2})
				a := r.ask(planned(longPlan(before)))
				at := a.on(s)
				r.typed("ana", at, "Request changes", "more detail")
				a.end()
				plan := strings.TrimSuffix(longPlan(60_000), tail) + "the second plan " + tail
				r.guard(at, "round 2", "the second plan "+tail)
				next, err := r.agent.Reprompt(r.ctx, a.Interaction.ID, planned(plan), "")
				if err != nil {
					t.Fatal(err)
				}
				b := a.as(next)
				r.eventually("the card asks again", func() bool {
					return strings.Contains(b.text(s), "round 2") && len(approving(s, r.sandbox.Message(at))) > 0
				})
				r.once(at)
				b.read(s)
				r.press("ana", at, "Approve")
				if got := b.end(); got.State != bridge.StateAnswered {
					t.Errorf("the second round is %s", got.State)
				}
			})
		}
	}
}

// TestPartsOnce breaks the delivery of a long text in its middle: every part
// arrives once, and the card after them.
func TestPartsOnce(t *testing.T) {
	type trouble struct {
		name string
		make func(*rig, string)
	}
	fault := func(f sandbox.Fault) func(*rig, string) {
		return func(r *rig, method string) {
			f.Service, f.Method, _ = strings.Cut(method, " ")
			r.sandbox.AddFault(f)
		}
	}
	for _, x := range []trouble{
		{"429", fault(sandbox.Fault{Kind: "rate_limit", RetryAfter: 1, Count: 2})},
		{"429 without a time", fault(sandbox.Fault{Kind: "rate_limit", Count: 3})},
		{"500", fault(sandbox.Fault{Kind: "error", Count: 8})}, // more than a card alone would be tried
		{"drop", fault(sandbox.Fault{Kind: "drop", Count: 3})},
		{"other daemon", func(r *rig, _ string) { r.daemons[0].stop() }},
	} {
		for _, method := range []string{"slack chat.postMessage", "telegram sendMessage"} {
			s, _, _ := strings.Cut(method, " ")
			t.Run(s+" "+x.name, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, rigOptions{config: only(s), daemons: 2})
				rec := r.half(s, commandOf(100_000), func() { x.make(r, method) })
				a := asked{Record: rec, r: r}
				if r.agent = newClient(r.daemons[1].url, testAgentToken); s == "slack" {
					if n := r.once(a.on(s)); n < 10 {
						t.Errorf("%d parts", n)
					}
				} else {
					r.once(a.on(s))
				}
				a.read(s)
				r.press("ana", a.on(s), "Allow once")
				if got := a.end(); got.State != bridge.StateApproved {
					t.Errorf("it is %s", got.State)
				}
			})
		}
	}
}

// half opens a request and does something once the first of its parts is sent.
// It returns the record when its card is posted.
func (r *rig) half(s string, req bridge.Request, do func()) bridge.Record {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.ctx, patience)
	defer cancel()
	rec, err := r.agent.Open(ctx, req, "")
	if err != nil {
		r.t.Fatal(err)
	}
	id := rec.Interaction.ID
	last := len(r.daemons) - 1
	_ = r.sandbox.Wait(ctx, func() bool { return r.posted(s) > 0 })
	do()
	r.within(2*patience, "the card is posted", func() bool {
		rec, err = r.daemons[last].engine().Get(r.ctx, id)
		return err == nil && len(rec.Messages) == 1
	})
	return rec
}

// read waits until nod knows that a service shows all of a request. A person
// takes longer than that to read it.
func (a asked) read(service string) {
	a.r.t.Helper()
	a.r.eventually("nod knows that "+service+" shows everything", func() bool {
		rec, err := a.r.daemons[0].engine().Get(a.r.ctx, a.Interaction.ID)
		if err != nil {
			return false
		}
		n := slices.IndexFunc(rec.Interaction.Destinations, func(d bridge.Destination) bool { return d.Platform == service })
		return n >= 0 && rec.Shown[n] != ""
	})
}

// posted counts the messages on a service.
func (r *rig) posted(s string) int {
	st := r.sandbox.State()
	n := 0
	for _, c := range map[string][]sandbox.ChatState{"slack": st.Slack.Channels, "telegram": st.Telegram.Chats, "discord": st.Discord.Channels}[s] {
		n += len(c.Messages)
	}
	return n
}

// TestLongTextPaced sends the longest text at Slack's own pace and within its
// limits: in a few seconds and few messages, while other requests are posted
// too.
func TestLongTextPaced(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{config: only("slack"), limits: true, daemons: 2})
	began := time.Now()
	a := r.ask(commandOf(150_000))
	n := r.once(a.on("slack"))
	if all := r.posted("slack"); all != n+1 {
		t.Errorf("%d messages for %d parts and a card", all, n)
	}
	t.Logf("%d parts in %s", n, time.Since(began))
	a.read("slack")
	r.press("ana", a.on("slack"), "Allow once")
	a.end()
}

// TestSizes sends texts of every size: each part once, the card after them, and
// a yes only then.
func TestSizes(t *testing.T) {
	for _, s := range services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{config: only(s)})
			for _, n := range []int{10, 100, 1_000, 2_400, 2_600, 4_000, 8_000, 11_000, 13_000, 20_000, 50_000, 155_000} {
				a := r.ask(commandOf(n))
				if len(a.Failures) > 0 {
					t.Fatalf("%d bytes: %v", n, a.Failures)
				}
				at := a.on(s)
				if !strings.Contains(r.displayed(at), normal(s, tail)) {
					t.Errorf("%d bytes: the end is not shown", n)
				}
				if strings.Contains(a.text(s), "Shortened") {
					r.once(at)
				}
				a.read(s)
				r.press("ana", at, "Allow once")
				if got := a.end(); got.State != bridge.StateApproved {
					t.Errorf("%d bytes: %s", n, got.State)
				}
			}
		})
	}
	t.Run("too long for slack", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, rigOptions{config: only("slack")})
		_, err := r.agent.Open(r.ctx, commandOf(200_000), "")
		if bridge.ErrorCode(err) != bridge.CodeUnsupported {
			t.Errorf("200 kB: %v", err)
		}
	})
}

// TestIncompleteMessage has services store less than they were sent: nobody is
// asked there, and the reason is known.
func TestIncompleteMessage(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ method, kind string }{
		{"slack chat.postMessage", "truncate"}, {"slack chat.postMessage", "strip"},
		{"telegram sendMessage", "truncate"}, {"telegram sendDocument", "truncate"}, {"telegram sendDocument", "strip"},
	} {
		s, method, _ := strings.Cut(x.method, " ")
		for _, size := range []int{1000, 30_000} {
			if method == "sendDocument" && size < 30_000 {
				continue
			}
			t.Run(fmt.Sprintf("%s %s %d", x.method, x.kind, size), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, rigOptions{config: only(s)})
				r.sandbox.AddFault(sandbox.Fault{Service: s, Method: method, Kind: x.kind})
				rec, err := r.agent.Open(r.ctx, commandOf(size), "")
				if err != nil {
					t.Fatal(err)
				}
				got := asked{Record: rec, r: r}.end()
				if got.State != bridge.StateUndeliverable || !strings.Contains(fmt.Sprint(got.Failures), "accepted, but") {
					t.Errorf("state %s, failures %v", got.State, got.Failures)
				}
				for _, p := range (&crashRig{rig: r}).cards(s) {
					if c := sandbox.Controls(s, r.sandbox.Message(p)); len(c) > 0 {
						t.Errorf("a message has controls: %v", c)
					}
				}
			})
		}
	}
}

// TestIncompleteUpdate does the same to the card of a later round.
func TestIncompleteUpdate(t *testing.T) {
	t.Parallel()
	for s, method := range map[string]string{"slack": "chat.update", "telegram": "editMessageText"} {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{config: only(s)})
			a := r.ask(planned("a short plan"))
			at := a.on(s)
			r.typed("ana", at, "Request changes", "more detail")
			a.end()
			a.closed("more detail")
			r.sandbox.AddFault(sandbox.Fault{Service: s, Method: method, Kind: "truncate"})
			next, err := r.agent.Reprompt(r.ctx, a.Interaction.ID, planned(strings.Repeat("word ", 300)+tail), "")
			if err != nil {
				t.Fatal(err)
			}
			b := a.as(next)
			if got := b.end(); got.State != bridge.StateUndeliverable {
				t.Errorf("it is %s", got.State)
			}
			if c := sandbox.Controls(s, r.sandbox.Message(at)); len(c) > 0 {
				t.Errorf("the card has controls: %v", c)
			}
		})
	}
}

// TestEscalationShowsAll asks more people at another place with a long text:
// their card has it whole as well.
func TestEscalationShowsAll(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{config: func(c *config.Config) {
		only("slack")(c)
		route := c.Routes[bridge.DefaultRoute]
		route.EscalateTo = "later"
		c.Routes[bridge.DefaultRoute] = route
		c.Routes["later"] = config.Route{To: []string{fmt.Sprintf("telegram:%d", sandbox.TelegramChat)}, Responders: []string{"bo"}}
	}})
	req := commandOf(30_000)
	req.Timeout, req.OnTimeout = bridge.Duration(2*time.Second), bridge.OnTimeoutEscalate
	rec, err := r.agent.Open(r.ctx, req, "")
	if err != nil {
		t.Fatal(err)
	}
	a := asked{Record: rec, r: r}
	r.eventually("more people are asked", func() bool {
		a.Record, err = r.daemons[0].engine().Get(r.ctx, rec.Interaction.ID)
		return err == nil && len(a.Messages) == 2
	})
	r.once(a.on("telegram"))
	a.read("telegram")
	r.press("bo", a.on("telegram"), "Allow once")
	if got := a.end(); got.State != bridge.StateApproved {
		t.Errorf("it is %s", got.State)
	}
}

// TestKilledBetweenParts kills the daemon with kill -9 around a part of a long
// text. Only the part that was sent and not recorded may be there twice.
func TestKilledBetweenParts(t *testing.T) {
	t.Parallel()
	for _, before := range []bool{true, false} {
		t.Run(fmt.Sprintf("before %v", before), func(t *testing.T) {
			t.Parallel()
			c := newCrashRig(t, "slack")
			c.connectedOn("slack")
			// Steps: the opening, then each message and its note.
			c.k.mu.Lock()
			c.k.at, c.k.before = 6, before
			c.k.mu.Unlock()
			rec, err := c.agent.Open(c.ctx, commandOf(50_000), "the-key")
			if err != nil {
				t.Fatal(err)
			}
			c.eventually("the daemon dies", c.k.killed.Load)
			c.kill()
			c.k.mu.Lock()
			c.k.killed.Store(false)
			c.k.at = 0
			c.k.mu.Unlock()
			c.startDaemon()
			var at sandbox.Place
			c.eventually("the card is posted", func() bool {
				for _, p := range c.cards("slack") {
					if len(approving("slack", c.sandbox.Message(p))) > 0 {
						at = p
					}
				}
				return at.Message != ""
			})
			name := slackParts.FindStringSubmatch(shownIn(c.sandbox.Message(at)))
			if name == nil {
				t.Fatal("the card names no parts")
			}
			seen := map[string]int{}
			for _, p := range c.parts(at.Channel, name[1]) {
				seen[slackPart.FindString(p)]++
			}
			twice := 0
			for _, n := range seen {
				twice += n - 1
			}
			if twice > 1 || len(seen) < 5 || !strings.Contains(c.displayed(at), normal("slack", tail)) {
				t.Errorf("parts: %v\nsteps: %v", seen, c.k.names)
			}
			c.press("ana", at, "Allow once")
			if got, err := c.agent.Wait(c.ctx, rec.Interaction.ID); err != nil || got.State != bridge.StateApproved {
				t.Errorf("it is %s, %v", got.State, err)
			}
		})
	}
}

// TestDraftMakesTextLong fills in a wizard whose text fits the card until the
// draft is shown on it too: the file is sent then, once, and the wizard goes on.
func TestDraftMakesTextLong(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{config: only("telegram")})
	a := r.ask(bridge.Request{Ask: bridge.Ask{
		Prompt: strings.Repeat("word ", 804) + tail, Questions: []bridge.Question{
			{ID: "a", Text: "A?", Widget: bridge.WidgetRadio, Options: options("eu", "us")}, {ID: "b", Text: "B?", Widget: bridge.WidgetRadio, Options: options("yes", "no")},
		},
	}})
	at := a.on("telegram")
	if strings.Contains(a.text("telegram"), "Shortened") {
		t.Fatal("it does not fit from the start")
	}
	for n, label := range []string{"Eu", "Yes"} {
		r.press("ana", at, label)
		r.press("ana", at, "Next")
		next := []string{"2/2", "Check and submit"}[n]
		r.eventually("the wizard goes on", func() bool { return strings.Contains(a.text("telegram"), next) })
	}
	r.once(at)
	r.press("ana", at, "Submit")
	if got := a.end(); got.State != bridge.StateAnswered {
		t.Errorf("it is %s", got.State)
	}
}
