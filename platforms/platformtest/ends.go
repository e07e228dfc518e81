package platformtest

import (
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// duplicated makes the service deliver a click twice.
var duplicated = sandbox.Fault{Kind: "event_duplicate", Count: 1}

// ends contains the flows in which a request is closed without a response, and
// the modes that accept none.
var ends = []flow{
	{"a request expires, and the late are told", func(r *Rig) {
		req := samples.Approval()
		req.Timeout = bridge.Duration(10 * time.Minute)
		c := r.ask(req)
		late := c.holding(render.LabelRun, "bo")
		r.ahead.Add(int64(20 * time.Minute))
		if got := c.end(); got.State != bridge.StateExpired {
			r.T.Errorf("state %s", got.State)
		}
		c.closed("Expired")
		if reaction, ok := r.act(late); ok { // some clients can still send a click on a removed control
			r.Told("bo", r.Harness.Name, reaction, "already expired")
		}
	}},
	{"a cancelled request says so", func(r *Rig) {
		c := r.ask(samples.Approval())
		if _, err := r.Engine.Cancel(r.Ctx, c.Interaction.ID, "no longer needed"); err != nil {
			r.T.Fatal(err)
		}
		c.closed("no longer needed")
	}},
	{"the card says when the agent has the response", func(r *Rig) {
		c := r.ask(samples.Approval())
		r.Press("ana", c.at(), render.LabelDeny)
		if err := r.Engine.Delivered(r.Ctx, c.end()); err != nil {
			r.T.Fatal(err)
		}
		c.closed("was told")
	}},
	{"a notice has no controls", func(r *Rig) {
		c := r.ask(bridge.Request{Ask: bridge.Ask{
			Kind: bridge.KindNotice, Prompt: "The release is out", Session: samples.Session(),
		}})
		c.closed("The release is out")
		if got := c.end(); got.State != bridge.StateAnswered {
			r.T.Errorf("state %s", got.State)
		}
	}},
	{"a session keeps together", func(r *Rig) {
		req := samples.Approval()
		first, second := r.ask(req), r.ask(req)
		if got := r.Harness.Client.Follows(r, second.at(), first.at()); got != r.Harness.Threads {
			r.T.Errorf("the second card follows the first: %t: %v", got, r.Sandbox.Message(second.at()))
		}
		other := r.ask(samples.Approval())
		if r.Harness.Client.Follows(r, other.at(), first.at()) {
			r.T.Error("the card of another session follows the first")
		}
		for _, c := range []Card{first, second, other} {
			r.Press("ana", c.at(), render.LabelDeny)
			c.end()
			c.closed("ana")
		}
	}},
	{"people are reminded next to the card", func(r *Rig) {
		req := samples.Approval()
		req.Route, req.Approval.Input = routeSlow, []byte(`{"command":"restart `+req.Session+`"}`)
		c := r.ask(req)
		c.due()
		const words = " left to decide "
		r.Eventually("people are reminded", func() bool { return r.count(c.at(), words, req.Session) == 1 })
		reaction, _ := r.Open("ana", c.at(), "Remind me")
		r.Told("ana", r.Harness.Name, reaction, "nod will remind you ")
		r.Press("ana", c.at(), render.LabelDeny)
		c.end()
	}},
}
