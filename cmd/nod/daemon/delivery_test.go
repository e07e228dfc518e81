package daemon_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/person"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// tail is the end of the long texts in these tests, which people must see.
const tail = "and then: rm -rf /"

// longPlan returns a text of about n bytes that ends with tail.
func longPlan(n int) string {
	var b strings.Builder
	for k := 0; b.Len() < n-len(tail)-20; k++ {
		fmt.Fprintf(&b, "%05d look at it\n\n", k)
	}
	return b.String() + tail
}

// commandOf returns an approval of about n bytes that ends with tail.
func commandOf(n int) bridge.Request {
	req := samples.Approval()
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

// approving returns the controls of a message that can approve.
func approving(service string, m map[string]any) []sandbox.Control {
	return slices.DeleteFunc(sandbox.Controls(service, m), func(c sandbox.Control) bool {
		return !strings.Contains(c.Label, "Allow") && !strings.Contains(c.Label, "Approve") && !strings.Contains(c.Label, "Run") && !strings.HasPrefix(c.Label, "Read and ")
	})
}

// opens reports whether the approving control of a message opens a dialog with
// the whole text. The rig checks what the dialog shows.
func opens(m map[string]any) bool {
	return slices.ContainsFunc(approving("slack", m), func(c sandbox.Control) bool { return strings.HasPrefix(c.Label, "Read and ") })
}

// guard fails the test if a message of the round ever has controls that approve
// without showing the complete text.
func guard(r *rig.Rig, at sandbox.Place, round, want string) {
	ctx, cancel := context.WithCancel(r.Ctx)
	var wg sync.WaitGroup
	r.T.Cleanup(func() { cancel(); wg.Wait() })
	wg.Go(func() {
		_ = r.Sandbox.Wait(ctx, func() bool {
			m := r.Sandbox.Message(at)
			if len(approving(at.Service, m)) == 0 || !strings.Contains(sandbox.Texts(m), round) {
				return false
			}
			if !strings.Contains(r.DisplayedIn(at, m), rig.Normal(at.Service, want)) && !opens(m) && reflect.DeepEqual(m, r.Sandbox.Message(at)) {
				r.T.Errorf("%s can be approved on %s and does not show %q", round, at.Service, want)
				return true
			}
			return false
		})
	})
}

// once fails the test unless the file with a card's long text exists exactly
// once. Only Telegram posts it as a message.
func once(r *rig.Rig, at sandbox.Place) {
	r.T.Helper()
	if at.Service != "telegram" {
		return
	}
	name := person.TelegramFile.FindString(fmt.Sprint(r.Sandbox.Message(at)["text"]))
	if n := len(r.Files(at.Channel, name)); name == "" || n != 1 {
		r.T.Errorf("the file %q exists %d times", name, n)
	}
}

// TestLongLaterRound checks a follow-up with a long plan after a short or a
// long one: the complete plan of the new round is shown before its controls.
func TestLongLaterRound(t *testing.T) {
	for _, s := range rig.Services {
		for _, before := range []int{10, 50_000} {
			t.Run(fmt.Sprintf("%s after %d", s, before), func(t *testing.T) {
				t.Parallel()
				r := rig.New(t, rig.Options{Config: rig.Only(s), Daemons: 2})
				a := r.Ask(planned(longPlan(before)))
				at := a.On(s)
				r.Typed("ana", at, "Request changes", "more detail")
				a.End()
				plan := strings.TrimSuffix(longPlan(60_000), tail) + "the second plan " + tail
				guard(r, at, "round 2", "the second plan "+tail)
				next, err := r.Agent.Reprompt(r.Ctx, a.Interaction.ID, planned(plan), "")
				if err != nil {
					t.Fatal(err)
				}
				b := a.As(next)
				r.Eventually("the card asks again", func() bool {
					return strings.Contains(b.Text(s), "round 2") && len(approving(s, r.Sandbox.Message(at))) > 0
				})
				once(r, at)
				read(b, s)
				if s == "slack" {
					r.Approve("ana", at)
				} else {
					r.Press("ana", at, "Approve plan")
				}
				if got := b.End(); got.State != bridge.StateAnswered {
					t.Errorf("the second round is %s", got.State)
				}
			})
		}
	}
}

// TestPartsOnce checks that the file with a long text arrives once on Telegram, and
// the card after it, although the delivery fails in the middle. The other
// services deliver a long text with its card.
func TestPartsOnce(t *testing.T) {
	const s = "telegram"
	fault := func(f sandbox.Fault) func(*rig.Rig) {
		return func(r *rig.Rig) {
			f := f // several tests use the fault
			f.Service, f.Method = s, "sendMessage"
			r.Sandbox.AddFault(f)
		}
	}
	for name, trouble := range map[string]func(*rig.Rig){
		"429":                fault(sandbox.Fault{Kind: "rate_limit", RetryAfter: 1, Count: 2}),
		"429 without a time": fault(sandbox.Fault{Kind: "rate_limit", Count: 3}),
		"500":                fault(sandbox.Fault{Kind: "error", Count: 3}),
		"drop":               fault(sandbox.Fault{Kind: "drop", Count: 3}),
		"other daemon":       func(r *rig.Rig) { r.Daemons[0].Stop() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Config: rig.Only(s), Daemons: 2})
			a := rig.Asked{Record: half(r, s, commandOf(50_000), func() { trouble(r) }), R: r}
			r.Agent = rig.NewClient(r.Daemons[1].URL, rig.TestAgentToken)
			once(r, a.On(s))
			read(a, s)
			r.Press("ana", a.On(s), "Run command")
			if got := a.End(); got.State != bridge.StateApproved {
				t.Errorf("it is %s", got.State)
			}
		})
	}
}

// half sends a request and calls do after the first of its parts is sent. It
// returns the record once the card is posted.
func half(r *rig.Rig, s string, req bridge.Request, do func()) bridge.Record {
	r.T.Helper()
	ctx, cancel := context.WithTimeout(r.Ctx, await.Limit)
	defer cancel()
	rec, err := r.Agent.Open(ctx, req, "")
	if err != nil {
		r.T.Fatal(err)
	}
	id := rec.Interaction.ID
	last := len(r.Daemons) - 1
	_ = r.Sandbox.Wait(ctx, func() bool { return posted(r, s) > 0 })
	do()
	r.Eventually("the card is posted", func() bool {
		rec, err = r.Daemons[last].Engine().Get(r.Ctx, id)
		return err == nil && len(rec.Messages) == 1
	})
	return rec
}

// read waits until nod knows that a platform shows all of a request. A person
// would take longer than that to read it.
func read(a rig.Asked, service string) {
	a.R.T.Helper()
	a.R.Eventually("nod knows that "+service+" shows everything", func() bool {
		rec, err := a.R.Daemons[0].Engine().Get(a.R.Ctx, a.Interaction.ID)
		if err != nil {
			return false
		}
		n := slices.IndexFunc(rec.Interaction.Destinations, func(d bridge.Destination) bool { return d.Platform == service })
		return n >= 0 && rec.Shown[n] != ""
	})
}

// posted returns the number of messages on a platform.
func posted(r *rig.Rig, s string) int {
	n := 0
	for _, c := range r.Sandbox.Chats(s) {
		n += len(c.Messages)
	}
	return n
}

// TestLongTextIsOneMessage checks that the longest text is one message on Slack,
// within its rate limits.
func TestLongTextIsOneMessage(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack"), Limits: true, Daemons: 2})
	a := r.Ask(commandOf(150_000))
	if all := posted(r, "slack"); all != 1 {
		t.Errorf("%d messages", all)
	}
	read(a, "slack")
	r.Approve("ana", a.On("slack"))
	a.End()
}

// TestSizes checks that texts of every size are delivered once, and that an
// approval is possible only where all of it is shown.
func TestSizes(t *testing.T) {
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Config: rig.Only(s)})
			for _, n := range []int{10, 100, 1_000, 2_400, 2_600, 4_000, 8_000, 11_000, 13_000, 20_000, 50_000, 155_000} {
				a := r.Ask(commandOf(n))
				if len(a.Failures) > 0 {
					t.Fatalf("%d bytes: %v", n, a.Failures)
				}
				at := a.On(s)
				if !strings.Contains(r.Displayed(at), rig.Normal(s, tail)) && !opens(r.Sandbox.Message(at)) {
					t.Errorf("%d bytes: the end is not shown", n)
				}
				if strings.Contains(a.Text(s), "Shortened") {
					once(r, at)
				}
				read(a, s)
				r.Approve("ana", at)
				if got := a.End(); got.State != bridge.StateApproved {
					t.Errorf("%d bytes: %s", n, got.State)
				}
			}
		})
	}
	t.Run("too long for slack", func(t *testing.T) {
		t.Parallel()
		r := rig.New(t, rig.Options{Config: func(c *config.Config) {
			rig.Only("slack")(c)
			c.Console.Enabled = true // without it, nod refuses the request
		}})
		a := r.Ask(commandOf(255_000))
		at := a.On("slack")
		if c := approving("slack", r.Sandbox.Message(at)); len(c) > 0 || !strings.Contains(a.Text("slack"), "open the console") {
			t.Errorf("%v on %s", c, a.Text("slack"))
		}
		r.Press("ana", at, "Deny")
		if got := a.End(); got.State != bridge.StateDenied {
			t.Errorf("it is %s", got.State)
		}
	})
}

// TestEscalationShowsAll checks that the card of an escalation to another
// destination also shows a long text completely.
func TestEscalationShowsAll(t *testing.T) {
	t.Parallel()
	r, now := clocked(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("slack")(c)
		route := c.Routes[bridge.DefaultRoute]
		route.Escalation = []config.Step{{After: config.Duration(time.Hour), Route: "later"}}
		c.Routes[bridge.DefaultRoute] = route
		c.Routes["later"] = config.Route{To: []string{fmt.Sprintf("telegram:%d", sandbox.TelegramChat)}, Responders: []string{"bo"}}
	}})
	req := commandOf(30_000)
	req.OnTimeout = bridge.OnTimeoutEscalate
	a := r.Ask(req)
	now.jump(time.Duration(req.Timeout))
	r.Eventually("more people are asked", func() bool {
		var err error
		a.Record, err = r.Daemons[0].Engine().Get(r.Ctx, a.Interaction.ID)
		return err == nil && len(a.Messages) == 2
	})
	once(r, a.On("telegram"))
	read(a, "telegram")
	r.Press("bo", a.On("telegram"), "Run command")
	if got := a.End(); got.State != bridge.StateApproved {
		t.Errorf("it is %s", got.State)
	}
}

// TestDraftMakesTextLong checks a wizard whose text fits on the card until the
// draft is shown too: the file is then sent once, and the wizard continues.
func TestDraftMakesTextLong(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	a := r.Ask(bridge.Request{Ask: bridge.Ask{
		Prompt: strings.Repeat("word ", 768) + tail, Questions: []bridge.Question{
			{ID: "a", Text: "A?", Widget: bridge.WidgetRadio, Options: samples.Choices("eu", "us")}, {ID: "b", Text: "B?", Widget: bridge.WidgetRadio, Options: samples.Choices("yes "+strings.Repeat("and more ", 12), "no")},
		},
	}})
	at := a.On("telegram")
	if strings.Contains(a.Text("telegram"), "Shortened") {
		t.Fatal("it does not even fit without a draft")
	}
	for n, label := range []string{"Eu", "Yes"} {
		r.Press("ana", at, label)
		r.Press("ana", at, "Next")
		next := []string{"2/2", "Check and submit"}[n]
		r.Eventually("the wizard continues", func() bool { // without controls, the card waits for its file
			return strings.Contains(a.Text("telegram"), next) && len(a.Controls("telegram")) > 0
		})
	}
	once(r, at)
	r.Press("ana", at, "Submit")
	if got := a.End(); got.State != bridge.StateAnswered {
		t.Errorf("it is %s", got.State)
	}
}

// TestDraftIsDrawn checks that what a person fills in on the card is on it, although
// the call that should show it fails.
func TestDraftIsDrawn(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	ask := func() rig.Asked {
		return r.Ask(bridge.Request{Ask: bridge.Ask{Prompt: "Where?", Questions: []bridge.Question{
			{ID: "a", Text: "A?", Widget: bridge.WidgetRadio, Options: samples.Choices("eu", "us")},
			{ID: "b", Text: "B?", Widget: bridge.WidgetRadio, Options: samples.Choices("yes", "no")},
		}}})
	}
	for _, kind := range []string{"error", "rate_limit", "drop"} {
		a := ask()
		r.Sandbox.AddFault(sandbox.Fault{Service: "telegram", Method: "editMessageText", Kind: kind, RetryAfter: 1, Count: 1})
		r.Press("ana", a.On("telegram"), "Eu")
		r.Eventually("after "+kind+" the card shows the choice", func() bool { return strings.Contains(a.Text("telegram"), "is filling this in") })
	}
}
