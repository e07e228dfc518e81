package daemon_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/person"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// private is a rig whose requests are private, and one person who may answer.
type private struct {
	*rig.Rig
	service string
}

// hidden is a text of the requests that only ana may read.
const hidden = "walrus"

func newPrivate(t *testing.T, s string) private {
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only(s)(c)
		route := c.Routes[bridge.DefaultRoute]
		route.Payload, route.Responders = "private", []string{"ana"}
		c.Routes[bridge.DefaultRoute] = route
	}})
	return private{r, s}
}

// kept fails the test if anyone but ana can read the hidden text.
func (p private) kept() {
	p.T.Helper()
	st := p.Sandbox.State()
	ana := map[string]string{}
	for _, m := range st.Members {
		if m.Key == "ana" {
			ana = map[string]string{"slack": m.Slack, "discord": m.Discord, "telegram": fmt.Sprint(m.Telegram)}
		}
	}
	for _, c := range p.Sandbox.Chats(p.service) {
		own := p.service == "telegram" && c.ID == ana["telegram"]
		for _, m := range c.Messages {
			if text := fmt.Sprint(m); !own && strings.Contains(text, hidden) {
				p.T.Errorf("everyone in %s reads %.600s", c.ID, text)
			}
		}
		for _, m := range c.Private {
			if m.User != ana[p.service] && strings.Contains(fmt.Sprint(m.Message), hidden) {
				p.T.Errorf("%s reads it", m.User)
			}
		}
	}
	for _, v := range st.Slack.Views {
		if v.User != ana["slack"] && strings.Contains(fmt.Sprint(v.View), hidden) {
			p.T.Errorf("%s reads it in a dialog", v.User)
		}
	}
}

// opened holds the message or the dialog in which ana reads a request.
type opened struct {
	at   sandbox.Place // of the message
	view string        // the modal in Slack
	text string
}

// review opens a request.
func (p private) review(at sandbox.Place) opened {
	p.T.Helper()
	reaction := p.Press("ana", at, render.LabelReview)
	if p.service == "slack" {
		return opened{view: reaction.Modal, text: p.Modal(reaction.Modal)}
	}
	var o opened
	p.Eventually("ana reads the request", func() bool {
		for _, place := range p.places() {
			if text := p.Displayed(place); strings.Contains(text, hidden) && len(sandbox.Controls(p.service, p.Sandbox.Message(place))) > 0 {
				o = opened{at: place, text: text}
			}
		}
		return o.text != ""
	})
	return o
}

// places are the messages that only ana sees.
func (p private) places() []sandbox.Place {
	all := p.Sandbox.Person("ana").PrivatePlaces(p.service)
	for _, c := range p.Sandbox.Chats(p.service) {
		for _, m := range c.Messages {
			if p.service == "telegram" && !strings.HasPrefix(c.ID, "-") {
				all = append(all, sandbox.Place{Service: p.service, Channel: c.ID, Message: rig.MessageID(p.service, m)})
			}
		}
	}
	return all
}

// press clicks a control of an opened request.
func (p private) press(o opened, label string) {
	p.T.Helper()
	if o.view == "" {
		p.Press("ana", o.at, label)
		return
	}
	for _, v := range p.Sandbox.State().Slack.Views {
		for _, c := range sandbox.Controls("slack", v.View) {
			if v.ID == o.view && strings.Contains(c.Label, label) {
				reaction, err := p.Sandbox.Act(p.Ctx, sandbox.Action{Service: "slack", As: "ana", Do: "press", View: o.view, Control: c.ID})
				person.Did(p.T, reaction, err)
				return
			}
		}
	}
	p.T.Fatalf("the dialog has no %q", label)
}

// TestPrivatePayload checks on each service that a private request is readable
// only for people who may answer it, at every moment until after its end, and
// that they can decide it where they read it.
func TestPrivatePayload(t *testing.T) {
	t.Parallel()
	for _, s := range rig.Services {
		for label, want := range map[string]bridge.State{render.LabelRun: bridge.StateApproved, render.LabelDeny: bridge.StateDenied} {
			t.Run(s+" "+label, func(t *testing.T) {
				t.Parallel()
				p := newPrivate(t, s)
				req := samples.Approval(bridge.ScopeOnce, bridge.ScopeSession)
				req.Prompt = "Feed the " + hidden + "?"
				req.Approval.Input = []byte(`{"command":"feed --animal ` + hidden + `"}`)
				a := p.Ask(req)
				at := a.On(s)
				if c := sandbox.Controls(s, p.Sandbox.Message(at)); len(c) != 1 || c[0].Label != render.LabelReview {
					t.Errorf("the card has %v", c)
				}
				p.kept()
				read(a, s)
				p.Told("bo", s, p.Press("bo", at, render.LabelReview), "may not answer")
				p.kept()
				o := p.review(at)
				if n := strings.Count(o.text, hidden); n < 2 {
					t.Errorf("ana reads %s", o.text)
				}
				p.kept()
				p.press(o, label)
				if got := a.End(); got.State != want {
					t.Errorf("it is %s", got.State)
				}
				if _, err := p.Agent.Complete(p.Ctx, a.Interaction.ID, bridge.Completion{Result: "the " + hidden + " is fed"}); err != nil {
					t.Error(err)
				}
				p.Eventually("the card is closed", func() bool {
					return len(sandbox.Controls(s, p.Sandbox.Message(at))) == 0 && !strings.Contains(a.Text(s), "?")
				})
				p.kept()
			})
		}
	}
}

// TestPrivateQuestion checks on each service that a private question is readable
// and answered only where a person opened it.
func TestPrivateQuestion(t *testing.T) {
	t.Parallel()
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			p := newPrivate(t, s)
			a := p.Ask(bridge.Request{Ask: bridge.Ask{Prompt: "About the " + hidden, Questions: []bridge.Question{
				{ID: "q", Text: "Feed the " + hidden + "?", Widget: bridge.WidgetButtons, Options: samples.Choices("fish", "nothing")},
			}}})
			at := a.On(s)
			if c := sandbox.Controls(s, p.Sandbox.Message(at)); len(c) != 1 || c[0].Label != render.LabelReview {
				t.Errorf("the card has %v", c)
			}
			p.kept()
			read(a, s)
			o := p.review(at)
			if !strings.Contains(o.text, hidden) {
				t.Errorf("ana reads %s", o.text)
			}
			if s == "slack" {
				reaction, err := p.Sandbox.Person("ana").Fill(p.Ctx, s, o.view, []string{"Fish"})
				person.Did(t, reaction, err)
			} else {
				p.press(o, "Fish")
			}
			if got := a.End(); got.State != bridge.StateAnswered || got.Response.Answers["q"].Text != "fish" {
				t.Errorf("it is %s %v", got.State, got.Response)
			}
			p.Eventually("the card is closed", func() bool { return len(sandbox.Controls(s, p.Sandbox.Message(at))) == 0 })
			p.kept()
		})
	}
}
