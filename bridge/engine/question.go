package engine

import (
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/words"
)

// question applies a click on a question, which answers it or changes a draft.
func (cl *Clicks) question(ctx context.Context, a Click) (bridge.Verdict, error) {
	i := a.Record.Interaction
	if a.Control.Action == bridge.ActionDecline && i.Declinable {
		return cl.settle(ctx, a, declined(""))
	}
	if a.Control.Question >= len(a.fields) && a.Control.Action != bridge.ActionStep {
		return bridge.Verdict{Kind: bridge.VerdictUnknown, Note: words.Forged}, nil
	}
	if a.Control.Action == bridge.ActionSubmit && a.Control.Option == bridge.OptionDecide && i.LonePlan() {
		a.Control.Option = 0 // the dialog with the complete plan approves it
		return cl.tap(ctx, a)
	}
	if a.Control.Action == bridge.ActionSubmit {
		return cl.submit(ctx, a)
	}
	if _, lone := i.Lone(); a.Control.Action == bridge.ActionChoose && (lone && a.fields[0].OneTap() || i.LonePlan()) {
		return cl.tap(ctx, a)
	}
	if a.Record.State.Final() {
		return cl.late(ctx, a)
	}
	return cl.edit(ctx, a)
}

func declined(reason string) bridge.Response {
	return bridge.Response{State: bridge.StateCancelled, Reason: reason}
}
