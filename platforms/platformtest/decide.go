package platformtest

import (
	"fmt"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/render"
)

// decisions contains the ways to decide on an approval.
var decisions = []flow{
	{"approve once", func(r *Rig) {
		c := r.ask(samples.Approval())
		if !strings.Contains(c.text(), "make deploy") {
			r.T.Errorf("the card does not show the command: %s", c.text())
		}
		r.Press("ana", c.read().at(), render.LabelRun)
		got := c.end()
		if got.State != bridge.StateApproved || got.Response.Scope != bridge.ScopeOnce || got.Response.Digest != c.Interaction.Digest {
			r.T.Errorf("%s %+v", got.State, got.Response)
		}
		c.closed("ana")
	}},
	{"deny", func(r *Rig) {
		c := r.ask(samples.Approval())
		r.Press("ana", c.at(), render.LabelDeny)
		if got := c.end(); got.State != bridge.StateDenied {
			r.T.Errorf("state %s", got.State)
		}
		c.closed("Denied", "ana")
	}},
	{"deny with a reason", func(r *Rig) {
		c := r.ask(samples.Approval())
		r.Typed("ana", c.at(), "reason", "not on a Friday")
		if got := c.end(); got.State != bridge.StateDenied || got.Response.Reason != "not on a Friday" {
			r.T.Errorf("%s %+v", got.State, got.Response)
		}
		c.closed("Denied", "not on a Friday")
	}},
	{"edit, then approve", func(r *Rig) {
		req := samples.Approval()
		req.Approval.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideOnce, bridge.DecideEdit}
		c := r.ask(req)
		refused := r.Typed("ana", c.read().at(), "Edit", "make test")
		c.pending()
		r.Retyped("ana", c.at(), "Edit", `{"command": "make test && x"}`, refused)
		text, confirm := r.Change("ana", c.at())
		for _, line := range []string{"make deploy", "make test && x", "Nothing is approved"} {
			if !strings.Contains(text, line) && (line != "Nothing is approved" || r.Harness.Name != "slack") {
				r.T.Errorf("the change does not show %q: %s", line, text)
			}
		}
		c.pending()
		confirm()
		if got := c.end(); got.State != bridge.StateApproved || string(got.Response.Input) != `{"command":"make test && x"}` {
			r.T.Errorf("%s %+v", got.State, got.Response)
		}
		c.closed("make deploy", "make test")
	}},
	{"edit a long input, then approve", func(r *Rig) {
		req := samples.Approval()
		req.Approval.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideOnce, bridge.DecideEdit}
		req.Approval.Input = fmt.Appendf(nil, `{"command":%q}`, strings.Repeat("make deploy\n", 190))
		c := r.ask(req)
		edited := fmt.Sprintf(`{"command":%q}`, strings.Repeat("make tests\n", 200))
		r.Edit("ana", c.at(), edited)
		if got := c.end(); got.State != bridge.StateApproved || string(got.Response.Input) != edited {
			r.T.Errorf("%s %+v", got.State, got.Response)
		}
	}},
	{"typed confirmation", func(r *Rig) {
		req := samples.Approval()
		req.Approval.Confirm = "prod-db"
		c := r.ask(req)
		refused := r.Typed("ana", c.read().at(), render.LabelRun, "prod")
		c.pending()
		r.Retyped("ana", c.at(), render.LabelRun, "prod-db", refused)
		if got := c.end(); got.State != bridge.StateApproved {
			r.T.Errorf("%s %+v", got.State, got.Response)
		}
		c = r.ask(req)
		r.Press("ana", c.at(), render.LabelDeny)
		if got := c.end(); got.State != bridge.StateDenied {
			r.T.Errorf("a denial without a confirmation: %s", got.State)
		}
	}},
	{"a person who may not respond is refused and changes nothing", func(r *Rig) {
		c := r.ask(samples.Approval())
		for _, label := range []string{render.LabelRun, render.LabelDeny, "reason"} {
			reaction := r.Press("mal", c.at(), r.Leads(c.at(), label))
			r.Told("mal", r.Harness.Name, reaction, "may not answer")
			if reaction.Modal != "" {
				r.T.Error("a form opened")
			}
		}
		c.pending()
		r.Press("ana", c.at(), render.LabelDeny)
		c.end()
	}},
	{"a second decision loses and is told who won", func(r *Rig) {
		c := r.ask(samples.Approval())
		late := c.holding(render.LabelDeny, "bo")
		c.elsewhere("ana", bridge.Reply{Decision: bridge.DecideOnce})
		if reaction, ok := r.act(late); ok { // the card may already be closed
			r.Told("bo", r.Harness.Name, reaction, "ana already")
		}
		if got := c.end(); got.State != bridge.StateApproved || got.Response.Actor.Person != "ana" {
			r.T.Errorf("%s %+v", got.State, got.Response)
		}
		c.closed("ana")
	}},
	{"votes are shown and counted once for each person", func(r *Rig) {
		req := samples.Approval()
		req.Route = routeTwo
		c := r.ask(req)
		r.Press("ana", c.read().at(), render.LabelRun)
		r.Says(c.at(), "1 of 2 approved: ana")
		r.Told("ana", r.Harness.Name, r.Press("ana", c.at(), render.LabelRun), "already recorded")
		if rec := c.pending(); len(rec.Votes) != 1 {
			r.T.Fatalf("votes: %+v", rec.Votes)
		}
		r.Press("bo", c.at(), render.LabelRun)
		if got := c.end(); got.State != bridge.StateApproved || len(got.Votes) != 2 {
			r.T.Errorf("%s, votes %+v", got.State, got.Votes)
		}
		c.closed("ana and bo")
	}},
	{"only what the agent can take is offered", func(r *Rig) {
		req := samples.Approval()
		req.Approval.Decisions = []bridge.Decision{bridge.DecideOnce, bridge.DecideDeny}
		c := r.ask(req)
		var labels []string
		for _, control := range c.controls() {
			labels = append(labels, control.Label)
		}
		if got := strings.Join(labels, ", "); got != render.LabelRun+", "+render.LabelDeny {
			r.T.Errorf("offered are %s", got)
		}
		c.elsewhere("ana", bridge.Reply{Decision: bridge.DecideDeny})
	}},
	{"a click that the service delivers twice counts once", func(r *Rig) {
		c := r.ask(samples.Approval()).read()
		r.Fault(duplicated)
		r.Press("ana", c.at(), render.LabelRun)
		if got := c.end(); got.State != bridge.StateApproved {
			r.T.Errorf("state %s", got.State)
		}
		c.closed("ana")
	}},
}
