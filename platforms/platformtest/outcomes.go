package platformtest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// patience is the maximum pause after an error for which runOutcomes waits.
const patience = 2 * time.Second

// runOutcomes makes the service respond to the post and to the closing edit of
// a card once with the first error of each row of the table. It checks the
// final state. After the post, people see the card, or the request is
// undeliverable with the reason. After the edit, people see a closed card, or a
// reply with the outcome. The platform stays up.
func runOutcomes(t *testing.T, h Harness) {
	if testing.Short() {
		t.Skip("it waits for repeated calls")
	}
	r := New(t, h, Options{}).Connected()
	for _, row := range h.Errors {
		err, name := row.Err(nil, ""), row.Errors[0]
		if err == nil || row.Wait > patience {
			continue
		}
		r.Fault(sandbox.Fault{Kind: "error", Method: h.Post, Error: name, Count: 1})
		r.opens(row.About, name, !platforms.Final(err) || errors.Is(err, bridge.ErrRefused))
		r.Sandbox.ClearFaults()
		if row.About != platforms.AboutDeleted { // the card to close no longer exists
			r.closes(name)
			r.Sandbox.ClearFaults()
		}
		if health := r.Platform.Health(); health.State == bridge.HealthDown {
			t.Errorf("%s: health is %+v", name, health)
		}
	}
}

// opens opens a request whose post fails once.
func (r *Rig) opens(about platforms.About, name string, waits bool) {
	r.T.Helper()
	rec, err := r.Engine.Open(r.Ctx, r.agent, samples.Approval(), "")
	if err != nil {
		r.T.Fatal(err)
	}
	var got bridge.Record
	r.Eventually("the request is shown or given up after "+name, func() bool {
		got, err = r.Engine.Get(r.Ctx, rec.Interaction.ID)
		return err == nil && (got.State.Final() || len(got.Messages) > 0)
	})
	shown := len(got.Messages) > 0
	switch {
	case waits && !shown, !waits && !shown && (got.State != bridge.StateUndeliverable || got.Response.Reason == ""):
		r.T.Errorf("%s, about the %s: the request is %s, %+v", name, about, got.State, got.Response)
	case !shown:
		return
	}
	if _, err := r.Engine.Cancel(r.Ctx, rec.Interaction.ID, "tried"); err != nil {
		r.T.Error(err)
	}
}

// closes denies a request whose closing edit fails once.
func (r *Rig) closes(name string) {
	r.T.Helper()
	c := r.ask(samples.Approval())
	before := len(r.Messages())
	r.Fault(sandbox.Fault{Kind: "error", Method: r.Harness.Edit, Error: name, Count: 1})
	c.elsewhere("ana", bridge.Reply{Decision: bridge.DecideDeny, Reason: "of " + name})
	r.Eventually("people see the outcome after "+name, func() bool {
		if len(c.controls()) == 0 {
			return true
		}
		for _, m := range r.Messages()[before:] {
			if strings.Contains(strings.ToLower(sandbox.Texts(m)), "denied") {
				return true
			}
		}
		return false
	})
}
