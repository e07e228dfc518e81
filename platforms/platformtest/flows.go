package platformtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// flow is a scenario with people and an agent on a platform.
type flow struct {
	name string
	run  func(*Rig)
}

// runFlows runs every flow on an adapter with a real engine.
func runFlows(t *testing.T, h Harness) {
	for name, all := range map[string][]flow{
		"choices": choices, "texts": typedTexts, "forms": forms, "decisions": decisions, "more": moreWays, "ends": ends,
		"together": together, "long and hostile texts": texts, "replies": replied,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "replies" && !h.Replies {
				t.Skip("a reply to a card is not an answer")
			}
			r := New(t, h, Options{}).Connected()
			for _, f := range all {
				t.Run(f.name, func(t *testing.T) { f.run(r.with(t)) })
			}
		})
	}
}

// choices contains the flows for questions with options.
var choices = []flow{
	{"one click answers", func(r *Rig) {
		c := r.ask(samples.One(bridge.WidgetButtons, samples.Choices("eu", "us")...))
		r.Press("ana", c.at(), "Us")
		c.wantAnswer(bridge.TextAnswer("us"))
		if by := c.end().Response.Actor; by.User != r.account("ana") || by.Person != "ana" || by.Platform != r.Harness.Name {
			r.T.Errorf("it was answered by %+v", by)
		}
		c.closed("ana", "Us")
	}},
	{"a bare prompt is yes or no", func(r *Rig) {
		c := r.ask(bridge.Request{})
		r.Press("bo", c.at(), "No")
		if got := c.end(); got.Response.Answers["q1"].Text != "no" {
			r.T.Errorf("answered %v", got.Response.Answers)
		}
	}},
	{"confirm", func(r *Rig) {
		c := r.ask(samples.One(bridge.WidgetConfirm))
		r.Press("ana", c.at(), "Yes")
		c.wantAnswer(bridge.TextAnswer("yes"))
	}},
	{"select", func(r *Rig) { choosesOne(r, bridge.WidgetSelect) }},
	{"radio", func(r *Rig) { choosesOne(r, bridge.WidgetRadio) }},
	{"action selection", func(r *Rig) { choosesOne(r, bridge.WidgetActionSelection) }},
	{"checkbox takes several, in the order of the options", func(r *Rig) {
		c := r.ask(samples.One(bridge.WidgetCheckbox, samples.Choices("api", "cron", "web")...))
		r.Choose("ana", c.at(), bridge.WidgetCheckbox, "Web", "Api")
		c.wantAnswer(bridge.ListAnswer("api", "web"))
	}},
	{"an optional checkbox may be empty", func(r *Rig) {
		req := samples.One(bridge.WidgetCheckbox, samples.Choices("api", "cron")...)
		req.Questions[0].Required = new(bool)
		c := r.ask(req)
		r.Choose("ana", c.at(), bridge.WidgetCheckbox)
		c.wantAnswer(bridge.ListAnswer())
	}},
	{"select does nothing until one is chosen", func(r *Rig) { needsChoice(r, bridge.WidgetSelect, render.LabelOK) }},
	{"radio does nothing until one is chosen", func(r *Rig) { needsChoice(r, bridge.WidgetRadio, "Submit") }},
	{"defaults are preselected", func(r *Rig) {
		req := samples.One(bridge.WidgetSelect, samples.Choices("eu", "us")...)
		d := bridge.TextAnswer("us")
		req.Questions[0].Default = &d
		c := r.ask(req)
		r.Press("ana", c.at(), render.LabelOK)
		c.wantAnswer(bridge.TextAnswer("us"))
	}},
	{"an answer other than the options", func(r *Rig) {
		req := samples.One(bridge.WidgetButtons, samples.Choices("eu", "us")...)
		req.Questions[0].AllowOther = true
		c := r.ask(req)
		r.Typed("ana", c.at(), render.LabelOther, "Antarctica")
		got := c.end()
		if got.Response.Answers["q"].Text != "Antarctica" || !got.Response.Annotations["q"].Other {
			r.T.Errorf("got %+v", got.Response)
		}
	}},
	{"many options", func(r *Rig) {
		for _, n := range []int{26, 60, 120, 200} {
			var o []bridge.Option
			for k := range n {
				o = append(o, bridge.Option{Value: fmt.Sprintf("v%03d", k), Label: fmt.Sprintf("Option %03d", k)})
			}
			c := r.ask(samples.One(bridge.WidgetSelect, o...))
			r.ChooseFrom("ana", c.at(), n, fmt.Sprintf("Option %03d", n-1))
			c.wantAnswer(bridge.TextAnswer(fmt.Sprintf("v%03d", n-1)))
		}
	}},
	{"a preview is shown and comes back", func(r *Rig) {
		const preview = "<aside>\n  right\n</aside>"
		req := samples.One(bridge.WidgetButtons, samples.Choices("left", "right")...)
		req.Questions[0].Options[1].Preview = preview
		c := r.ask(req)
		if !strings.Contains(strings.ReplaceAll(c.text(), "&lt;", "<"), "aside") {
			r.T.Errorf("the preview is not shown: %s", c.text())
		}
		r.Press("ana", c.at(), "Right")
		if got := c.end(); got.Response.Annotations["q"].Preview != preview {
			r.T.Errorf("annotations %+v", got.Response.Annotations)
		}
	}},
	{"a question may be declined", func(r *Rig) {
		req := samples.One(bridge.WidgetButtons, samples.Choices("left", "right")...)
		req.Declinable = true
		c := r.ask(req)
		r.Press("ana", c.at(), "Close for everyone")
		if got := c.end(); got.State != bridge.StateCancelled || got.Response.Actor == nil {
			r.T.Errorf("%s %+v", got.State, got.Response)
		}
		c.closed("Closed without an answer by ana")
	}},
}

// choosesOne answers a question with options by its native control.
func choosesOne(r *Rig, w bridge.Widget) {
	r.T.Helper()
	c := r.ask(samples.One(w, samples.Choices("eu", "us")...))
	r.Choose("ana", c.at(), w, "Us")
	c.wantAnswer(bridge.TextAnswer("us"))
	c.closed("ana")
}

// needsChoice submits a question without a choice. Some services have no
// control for that, because their form requires a choice.
func needsChoice(r *Rig, w bridge.Widget, submit string) {
	r.T.Helper()
	c := r.ask(samples.One(w, samples.Choices("eu", "us")...))
	if slices.ContainsFunc(c.controls(), func(x sandbox.Control) bool { return strings.Contains(x.Label, submit) }) {
		r.Told("ana", r.Harness.Name, r.Press("ana", c.at(), submit), "Choose one first")
		c.pending()
	}
	r.Choose("ana", c.at(), w, "Us")
	c.wantAnswer(bridge.TextAnswer("us"))
}

// wantAnswer waits for the answer to the only question.
func (c Card) wantAnswer(want bridge.Answer) {
	c.r.T.Helper()
	got := c.end()
	if got.State != bridge.StateAnswered {
		c.r.T.Fatalf("%s %+v", got.State, got.Response)
	}
	if d := cmp.Diff(want, got.Response.Answers["q"]); d != "" {
		c.r.T.Errorf("the answer (-want +got): %s", d)
	}
}

// harmless fails the test if the card mentions anyone.
func (c Card) harmless() {
	c.r.T.Helper()
	m := c.r.Sandbox.Message(c.at())
	if who := c.r.Harness.Client.Mentions(m); who != "" {
		c.r.T.Errorf("the card mentions %s: %v", who, m)
	}
}

// act performs a prepared click. It reports whether the control still exists.
func (r *Rig) act(a sandbox.Action) (sandbox.Reaction, bool) {
	reaction, err := r.Sandbox.Act(r.Ctx, a)
	return reaction, err == nil && reaction.Warning == ""
}
