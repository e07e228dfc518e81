package platformtest

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// delivery contains the faults of the service while the engine posts and edits.
var delivery = []flow{
	{"a card is posted once the service takes it", func(r *Rig) {
		r.Fault(sandbox.Fault{Method: r.Harness.Post, Kind: "rate_limit", RetryAfter: 1, Count: 1})
		r.Fault(sandbox.Fault{Method: r.Harness.Post, Kind: "error", Status: 502, Count: 1})
		c := r.ask(samples.Approval())
		r.Press("ana", c.at(), render.LabelDeny)
		c.end()
		c.closed("ana")
	}},
	{"an edit that fails is done later", func(r *Rig) {
		c := r.ask(samples.Approval())
		r.Fault(sandbox.Fault{Method: r.Harness.Edit, Kind: "error", Status: 500, Count: 1})
		r.Fault(sandbox.Fault{Method: r.Harness.Edit, Kind: "drop_after", Count: 1})
		r.Fault(sandbox.Fault{Method: r.Harness.Edit, Kind: "rate_limit", RetryAfter: 1, Count: 1})
		c.elsewhere("ana", bridge.Reply{Decision: bridge.DecideDeny})
		c.closed("ana")
	}},
	{"the parts of a long text come once, and then the card", func(r *Rig) {
		for _, f := range []sandbox.Fault{
			{Kind: "error", Count: 1}, {Kind: "drop", Count: 1}, {Kind: "rate_limit", RetryAfter: 1, Count: 1},
		} {
			f.Method = r.Harness.Part
			r.Fault(f)
		}
		c := r.ask(longCommand(900)).read()
		if n := strings.Count(r.Shown(c.at()), longLine(600)); n != 1 {
			r.T.Errorf("line 600 appears %d times", n)
		}
		r.Approve("ana", c.at())
		if got := c.end(); got.State != bridge.StateApproved {
			r.T.Errorf("state %s", got.State)
		}
		c.closed("ana")
	}},
	{"a deleted card comes back, once", func(r *Rig) {
		if !r.Harness.Deletions {
			return
		}
		c := r.ask(samples.Approval())
		now := func() sandbox.Place {
			rec, err := r.Engine.Get(r.Ctx, c.Interaction.ID)
			if err != nil {
				r.T.Fatal(err)
			}
			return r.Place(rec.Messages[0])
		}
		first := now()
		r.deletes(first)
		r.Eventually("the card is there again", func() bool { return now() != first && r.Sandbox.Message(now()) != nil })
		r.deletes(now())
		if got := c.end(); got.State != bridge.StateUndeliverable || !strings.Contains(got.Response.Reason, "deleted") {
			r.T.Errorf("%s %+v", got.State, got.Response)
		}
	}},
	{"a channel that cannot be posted to is known at once", func(r *Rig) {
		r.Fault(sandbox.Fault{Kind: "absent"})
		r.undeliverable()
	}},
	{"a request waits while the token is refused", func(r *Rig) {
		r.Fault(sandbox.Fault{Kind: "revoke"})
		before := r.opened()
		r.Eventually("health says why", func() bool {
			health := r.Engine.Health()[r.Harness.Name]
			return health.State == bridge.HealthDown && health.Reason != ""
		})
		var waiting []bridge.ID
		for n, rec := range []bridge.Record{before, r.opened()} {
			now, err := r.Engine.Get(r.Ctx, rec.Interaction.ID)
			if err != nil || now.State != bridge.StatePending || len(now.Failures) > 0 {
				r.T.Errorf("request %d is %s, with the failures %v: %v", n, now.State, now.Failures, err)
			}
			waiting = append(waiting, rec.Interaction.ID)
		}
		r.Sandbox.ClearFaults()
		for _, id := range waiting {
			r.Eventually("its card appears", func() bool {
				now, err := r.Engine.Get(r.Ctx, id)
				return err == nil && len(now.Messages) == 1
			})
		}
	}},
}

// runDelivery runs each flow of delivery on a separate rig.
func runDelivery(t *testing.T, h Harness) {
	for _, f := range delivery {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			f.run(New(t, h, Options{}).Connected())
		})
	}
}

// deletes deletes a message as an administrator does.
func (r *Rig) deletes(at sandbox.Place) {
	r.T.Helper()
	a := sandbox.Action{Service: at.Service, As: "ana", Do: "delete", Channel: at.Channel, Message: at.Message}
	if _, err := r.Sandbox.Act(r.Ctx, a); err != nil {
		r.T.Fatal(err)
	}
}

// undeliverable opens a request that no one can see.
func (r *Rig) undeliverable() {
	r.T.Helper()
	if got := (Card{r.opened(), r}).end(); got.State != bridge.StateUndeliverable || got.Response.Reason == "" {
		r.T.Errorf("%s %+v", got.State, got.Response)
	}
}

// opened opens a request, whose card may not appear.
func (r *Rig) opened() bridge.Record {
	r.T.Helper()
	rec, err := r.Engine.Open(r.Ctx, r.agent, samples.Approval(), "")
	if err != nil {
		r.T.Fatal(err)
	}
	return rec
}
