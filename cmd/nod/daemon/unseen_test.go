package daemon_test

import (
	"net/http"
	"net/http/cookiejar"
	"strings"
	"sync"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// TestNothingUnseen clicks every control of every kind of card as if nothing
// had been recorded as shown: only a denial counts.
func TestNothingUnseen(t *testing.T) {
	t.Parallel()
	edit := samples.Approval(bridge.ScopeOnce, bridge.ScopeSession)
	edit.Approval.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyReason, bridge.DecideOnce, bridge.DecideSession, bridge.DecideEdit}
	confirm := samples.Approval()
	confirm.Approval.Confirm = "prod"
	form := bridge.Request{Ask: bridge.Ask{Prompt: "Fill it in", Questions: []bridge.Question{
		{ID: "a", Text: "Where?", Widget: bridge.WidgetRadio, Options: samples.Choices("eu", "us")}, {ID: "b", Text: "Why?", Widget: bridge.WidgetText},
	}}}
	declinable := samples.One(bridge.WidgetCheckbox, samples.Choices("a", "b")...)
	declinable.Declinable = true
	kinds := map[string]bridge.Request{
		"approval": edit, "confirm": confirm, "buttons": samples.One(bridge.WidgetButtons, samples.Choices("a", "b")...), "select": samples.One(bridge.WidgetSelect, samples.Choices("a", "b")...),
		"checkbox": declinable, "text": samples.One(bridge.WidgetText), "plan": planned("do it"), "form": form,
	}
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Config: rig.Only(s)})
			cards := map[string]rig.Asked{}
			for name, req := range kinds {
				cards[name] = r.Ask(req)
				forget(r, cards[name])
			}
			r.Sandbox.AddFault(sandbox.Fault{Service: s, Kind: "error"}) // no card can be brought up to date
			for name, a := range cards {
				t.Run(name, func(t *testing.T) { unseen(r, t, s, a) }) // a parallel test could wait until the request has expired
			}
		})
	}
}

// forget removes what is recorded as shown of a request: what it records instead has
// no proof.
func forget(r *rig.Rig, a rig.Asked) {
	r.T.Helper()
	other := life.Shown{Content: "0123456789abcdef01234567"}
	if _, err := r.Daemons[0].Store().Mark(r.Ctx, a.Interaction.ID, other); err != nil {
		r.T.Fatal(err)
	}
}

// unseen sends every control of a card, in every way, to the engine.
func unseen(r *rig.Rig, t *testing.T, s string, a rig.Asked) {
	t.Helper()
	e := r.Daemons[0].Engine()
	ref := a.Messages[0]
	user := map[string]string{"slack": "U0ANA00001", "discord": "300000000000000001", "telegram": "7001"}[s]
	inputs := map[int]bridge.Input{}
	for n, f := range a.Interaction.Fields() {
		if len(f.Options) > 0 {
			inputs[n] = bridge.Input{Options: []int{0}}
		} else {
			inputs[n] = bridge.Input{Text: "text"}
		}
	}
	var wg sync.WaitGroup
	for _, c := range a.Controls(s) {
		if c.Kind == "select" {
			continue // the value comes with a button
		}
		token := c.ID
		if s == "slack" {
			token = c.Value
		}
		wg.Go(func() {
			click := bridge.Click{Token: token, Ref: ref, Actor: bridge.Actor{Platform: s, User: user}, Inputs: inputs, Typed: "prod"}
			denies := strings.Contains(c.Label, "Deny") || c.Label == render.LabelDecline || strings.Contains(c.Label, "Request changes")
			if bridge.PeekAction(token) == bridge.ActionMore {
				if f, v, err := e.Form(r.Ctx, click); err != nil || v.Kind != bridge.VerdictInvalid && !f.DenyOnly {
					t.Errorf("%q offers approvals: %+v, %v", c.Label, v, err)
				}
				return
			}
			if bridge.PeekAction(token) == bridge.ActionInput {
				_, v, err := e.Form(r.Ctx, click)
				if err != nil || !denies && v.Kind != bridge.VerdictInvalid {
					t.Errorf("%q opened a form: %+v, %v", c.Label, v, err)
				}
				return
			}
			if denies {
				return // such a decision is possible
			}
			if v, err := e.Click(r.Ctx, click); err != nil || v.Kind != bridge.VerdictInvalid || !strings.Contains(v.Note, "does not show everything") {
				t.Errorf("%q: %+v, %v", c.Label, v, err)
			}
		})
	}
	wg.Wait()
	if rec, err := e.Get(r.Ctx, a.Interaction.ID); err != nil || rec.State != bridge.StatePending {
		t.Errorf("it is %s, %v", rec.State, err)
	}
}

// TestUnseenHeals checks that an approval is refused while the card cannot be
// brought up to date, and accepted once it is up to date. A denial is accepted
// at any time.
func TestUnseenHeals(t *testing.T) {
	t.Parallel()
	for s, method := range map[string]string{"slack": "chat.update", "telegram": "editMessageText"} {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Config: rig.Only(s)})
			a, b := r.Ask(samples.Approval()), r.Ask(samples.Approval())
			r.Sandbox.AddFault(sandbox.Fault{Service: s, Method: method, Kind: "error"})
			forget(r, a)
			forget(r, b)
			r.Told("ana", s, r.Press("ana", a.On(s), "Run command"), "does not show everything")
			a.Pending(s)
			r.Press("ana", b.On(s), "Deny")
			if got := b.End(); got.State != bridge.StateDenied {
				t.Errorf("the other is %s", got.State)
			}
			r.Due(life.JobEdit, a.Interaction.ID, 0) // the refused yes has requested it
			r.Sandbox.ClearFaults()
			read(a, s)
			r.Press("ana", a.On(s), "Run command")
			if got := a.End(); got.State != bridge.StateApproved {
				t.Errorf("it is %s, want approved", got.State)
			}
		})
	}
}

// TestOtherPlacesShowAll reads a long request where people can answer without a
// message: the console shows it whole.
func TestOtherPlacesShowAll(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) { rig.Only("telegram")(c); withConsole(c) }})
	a := r.Ask(commandOf(150_000))
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if status, body := browserOf(r, t, jar, http.MethodPost, "/console/login", "", map[string]string{"token": rig.BoToken}); status != http.StatusOK {
		t.Fatal(status, body)
	}
	_, page := browserOf(r, t, jar, http.MethodGet, "/console/cards/"+string(a.Interaction.ID), "", nil)
	if n := strings.Count(page, "echo step;"); n < 13_000 || !strings.Contains(page, tail) {
		t.Errorf("the console shows %d steps of it, the end %v", n, strings.Contains(page, tail))
	}
}

// TestDisplayIsChecked shows that the checker of all these tests notices what a
// message lacks: it takes the card of one request for that of another.
func TestDisplayIsChecked(t *testing.T) {
	t.Parallel()
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Config: rig.Only(s)})
			command := samples.Approval()
			command.Approval.Input = []byte(`{"command":"make other"}`)
			argument := samples.Approval()
			argument.Approval.Input = []byte(`{"command":"make deploy","timeout":77}`)
			tool := samples.Approval()
			tool.Approval.Tool = "zsh"
			right := r.Ask(samples.Approval())
			for name, req := range map[string]bridge.Request{"command": command, "argument": argument, "tool": tool, "long": commandOf(30_000), "plan": planned("tidy up")} {
				a := r.Ask(req)
				for _, at := range []rig.Asked{a, right} {
					ref := at.Messages[0]
					missing := r.Shown.Missing(a.Interaction.ID, rig.Decided{Actor: &bridge.Actor{Platform: s}, State: bridge.StateApproved, Message: &ref})
					unread := s == "slack" && name == "long" // no one has opened its dialog
					if (missing == "") != (at.Interaction.ID == a.Interaction.ID && !unread) {
						t.Errorf("%s on the card of %s: %q", name, at.Interaction.Prompt, missing)
					}
				}
			}
		})
	}
}
