package platformtest

import (
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/render"
)

// moreWays contains the flows for decisions that are not on a card.
var moreWays = []flow{
	{"every scope of an approval states what it covers first", func(r *Rig) {
		for label, want := range map[string]bridge.Scope{
			render.LabelSession: bridge.ScopeSession, render.LabelAlways: bridge.ScopeAlways,
		} {
			req := samples.Approval(bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways)
			req.Approval.Where = "/" + string(want) // a separate location for each case, which no other grant covers
			c := r.ask(req).read()
			covers := c.Interaction.CoverageShown(want)
			if len(covers) != 1 || strings.Contains(squeezed(c.text()), squeezed(covers[0])) {
				r.T.Errorf("the card states %q:\n%s", covers, c.text())
			}
			text, decide := r.Considers("ana", c.at(), label)
			if !strings.Contains(squeezed(text), squeezed(covers[0])) {
				r.T.Errorf("%s does not state %q:\n%s", label, covers[0], text)
			}
			c.pending()
			decide()
			got := c.end()
			if got.State != bridge.StateApproved || got.Response.Scope != want || got.Response.Digest != c.Interaction.Digest {
				r.T.Errorf("%s: %s %+v", label, got.State, got.Response)
			}
			if m := got.Response.Message; m == nil || m.Message != c.Messages[0].Message {
				r.T.Errorf("%s was given on %+v", label, m)
			}
			c.closed("ana")
		}
	}},
	{"a longer approval needs the typed confirmation", func(r *Rig) {
		req := samples.Approval(bridge.ScopeOnce, bridge.ScopeSession)
		req.Approval.Confirm, req.Approval.Where = "prod-db", "/confirmed"
		c := r.ask(req).read()
		refused := r.Typed("ana", c.at(), render.LabelSession, "prod")
		c.pending()
		r.Retyped("ana", c.at(), render.LabelSession, "prod-db", refused)
		if got := c.end(); got.State != bridge.StateApproved || got.Response.Scope != bridge.ScopeSession {
			r.T.Errorf("%s %+v", got.State, got.Response)
		}
	}},
	{"always deny, and deny and stop", func(r *Rig) {
		for label, d := range map[string]bridge.Decision{
			render.LabelDenyAlways: bridge.DecideDenyAlways, render.LabelDenyStop + "tester": bridge.DecideDenyStop,
		} {
			req := samples.Approval()
			req.Approval.Decisions = []bridge.Decision{bridge.DecideDeny, d, bridge.DecideOnce}
			c := r.ask(req)
			r.Decide("ana", c.at(), label)
			got := c.end()
			always := got.Response.Scope == bridge.ScopeAlways
			if got.State != bridge.StateDenied || always != (d == bridge.DecideDenyAlways) || got.Response.Stop == always {
				r.T.Errorf("%s: %s %+v", label, got.State, got.Response)
			}
		}
	}},
	{"deny and stop takes a reason", func(r *Rig) {
		req := samples.Approval()
		req.Session = samples.Session()
		req.Approval.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyStop, bridge.DecideOnce}
		c := r.ask(req)
		label := render.LabelDenyStop + "tester"
		if r.Harness.Name == "telegram" { // Telegram has no form with an optional input
			label += " with a reason"
		}
		r.Typed("ana", c.at(), label, "too risky")
		if got := c.end(); got.State != bridge.StateDenied || !got.Response.Stop || got.Response.Reason != "too risky" {
			r.T.Errorf("%s %+v", got.State, got.Response)
		}
	}},
	{"an answer instead of an approval is neither a denial nor its reason", func(r *Rig) {
		req := samples.Approval()
		req.Approval.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyReason, bridge.DecideRespond, bridge.DecideOnce}
		c := r.ask(req)
		r.Typed("ana", c.at(), render.LabelRespond, "use staging")
		if got := c.end(); got.State != bridge.StateDenied || !got.Response.Respond || got.Response.Reason != "use staging" {
			r.T.Errorf("%s %+v", got.State, got.Response)
		}
		r.Says(c.at(), "did not run")
	}},
	{"the card has three controls, and More only if it holds something", func(r *Rig) {
		req := samples.Approval()
		req.Approval.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyReason, bridge.DecideDenyAlways, bridge.DecideDenyStop,
			bridge.DecideOnce, bridge.DecideSession, bridge.DecideAlways, bridge.DecideEdit}
		c := r.ask(req)
		buttons := 0
		for _, control := range c.controls() {
			if !strings.Contains(control.ID, "#") { // an entry of a menu
				buttons++
			}
		}
		if most := 3; buttons > most || !r.Offers(c.at(), render.LabelRun) || !r.Offers(c.at(), render.LabelDeny) {
			r.T.Errorf("%d controls: %+v", buttons, c.controls())
		}
		r.Typed("ana", c.read().at(), render.LabelDenyReason, "because")
		if got := c.end(); got.Response.Reason != "because" {
			r.T.Errorf("%+v", got.Response)
		}
	}},
	{"a card without a single approval states what its own approval covers", func(r *Rig) {
		req := samples.Approval()
		req.Session, req.Approval.Where = samples.Session(), "/longer"
		req.Approval.Decisions = []bridge.Decision{bridge.DecideDenyReason, bridge.DecideSession}
		c := r.ask(req).read()
		if r.Offers(c.at(), render.LabelMore) || !r.Offers(c.at(), render.LabelDenyReason) {
			r.T.Errorf("the card offers %+v", c.controls())
		}
		covers := c.Interaction.CoverageShown(bridge.ScopeSession)
		text, decide := r.Considers("ana", c.at(), render.LabelSession)
		if len(covers) != 1 || !strings.Contains(squeezed(text), squeezed(covers[0])) {
			r.T.Errorf("it does not state %q:\n%s", covers, text)
		}
		c.pending()
		decide()
		if got := c.end(); got.State != bridge.StateApproved || got.Response.Scope != bridge.ScopeSession {
			r.T.Errorf("%s %+v", got.State, got.Response)
		}
		c.closed("ana")
	}},
	{"who may only deny gets no approval", func(r *Rig) {
		req := samples.Approval(bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways)
		req.Requester, req.Approval.Where = "ana", "/requested"
		c := r.ask(req).read()
		switch first := r.Leads(c.at(), render.LabelSession); first {
		case render.LabelMore:
			r.Press("ana", c.at(), first)
			if menu := r.Menu("ana", c.at(), "reason"); r.Offers(menu, render.LabelSession) || r.Offers(menu, render.LabelAlways) {
				r.T.Errorf("the menu offers %+v", r.Controls(menu))
			}
		default:
			reaction := r.Press("ana", c.at(), first)
			r.Told("ana", r.Harness.Name, reaction, "your own request")
			if reaction.Modal != "" {
				r.T.Error("a form opened")
			}
		}
		c.pending()
		r.Typed("ana", c.at(), "reason", "changed my mind")
		if got := c.end(); got.State != bridge.StateDenied {
			r.T.Errorf("state %s", got.State)
		}
	}},
	{"a menu of a card that was decided elsewhere decides nothing", func(r *Rig) {
		req := samples.Approval(bridge.ScopeOnce, bridge.ScopeSession)
		req.Approval.Where = "/elsewhere"
		c := r.ask(req).read()
		r.Considers("ana", c.at(), render.LabelSession)
		c.elsewhere("bo", bridge.Reply{Decision: bridge.DecideDeny})
		c.closed("bo")
		if got := c.end(); got.State != bridge.StateDenied {
			r.T.Errorf("state %s", got.State)
		}
	}},
}

// squeezed returns a text without the spaces and signs that services and their
// markup add.
func squeezed(s string) string {
	return strings.NewReplacer(" ", "", "\n", "", "\\", "", "\u200d", "").Replace(s)
}
