package engine_test

import (
	"context"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/broker"
)

// opens lets something happen right before a request is stored.
type opens struct {
	core.Port
	first func()
}

func (o *opens) Open(ctx context.Context, x bridge.Opening, on ...broker.Version) (bridge.Record, bool, error) {
	if f := o.first; f != nil {
		o.first = nil
		f()
	}
	return o.Port.Open(ctx, x, on...)
}

// TestRevokedDuringOpening checks that a grant approves nothing that is stored after it
// was revoked.
func TestRevokedDuringOpening(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	w.decided(run("ls"), bridge.DecideAlways, "ana")
	w.mustPass("before", run("ls"))
	w.between = &opens{Port: w.store, first: func() {
		for _, g := range w.grants() {
			if _, err := w.engine.Grants.Revoke(t.Context(), g.Agent, g.ID(), "ana"); err != nil {
				t.Error(err)
			}
		}
	}}
	w.reload(w.setup)
	w.mustAsk("while the grant is revoked", run("ls"))
}

// dying is the store of a daemon that ends right after it has stored a decision.
type dying struct{ core.Port }

func (d dying) Settle(ctx context.Context, s bridge.Settlement, also ...core.Also) (bridge.Record, bool, error) {
	if _, _, err := d.Port.Settle(ctx, s, also...); err != nil {
		return bridge.Record{}, false, err
	}
	return bridge.Record{}, false, bridge.Errorf(bridge.CodeUnavailable, "the daemon ended")
}

// TestOneChange checks that a decision is stored with all that follows from it: the stop
// of a session, and a grant, each with its entry of the audit log.
func TestOneChange(t *testing.T) {
	t.Parallel()
	for d, entry := range map[bridge.Decision]bridge.AuditType{bridge.DecideDenyStop: bridge.AuditStop, bridge.DecideAlways: bridge.AuditGrant} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			w := newGoverned(t)
			w.between = dying{w.store}
			w.reload(w.setup)
			r := run("ls")
			if d == bridge.DecideDenyStop {
				r.Approval.Scopes, r.Approval.Decisions = nil, []bridge.Decision{d, bridge.DecideOnce}
			}
			id := w.open(agentCI, r).Interaction.ID
			pending := w.open(agentCI, run("make x")).Interaction.ID
			if err := w.answer("ana", id, bridge.Reply{Decision: d}); bridge.ErrorCode(err) != bridge.CodeUnavailable {
				t.Fatal(err)
			}
			if all := w.audited(entry); len(all) != 1 {
				t.Errorf("the audit log has %+v", all)
			}
			w.between = nil
			w.reload(w.setup)
			if d == bridge.DecideAlways {
				w.mustPass("the same again", run("ls"))
				return
			}
			w.stopped(run("ls"), bridge.StateDenied)
			if _, err := w.engine.Await(t.Context(), id); err != nil { // what the stop cancels is over before the agent goes on
				t.Error(err)
			}
			w.state(pending, bridge.StateCancelled)
		})
	}
}
