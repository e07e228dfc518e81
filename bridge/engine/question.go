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

// readInputs converts the inputs of a click, which refer to fields and options
// by index, into answers. It returns false for an invalid index.
func (a *Click) readInputs() bool {
	a.answers, a.others, a.parts = map[string]bridge.Answer{}, map[string]string{}, map[string]bridge.Input{}
	for n, in := range a.Inputs {
		if n < 0 || n >= len(a.fields) {
			return false
		}
		f := a.fields[n]
		values := []string{}
		if f.FreeText() {
			in.Options = nil
		}
		for _, o := range in.Options {
			if o < 0 || o >= len(f.Options) {
				return false
			}
			values = append(values, f.Options[o].Value)
		}
		switch {
		case in.KeepOptions:
		case f.FreeText():
			a.answers[f.ID] = bridge.TextAnswer(in.Text)
		case f.Multiple() || len(values) > 1: // Check rejects several values for a field with one value
			a.answers[f.ID] = bridge.ListAnswer(values...)
		case len(values) == 1:
			a.answers[f.ID] = bridge.TextAnswer(values[0])
		default:
			a.answers[f.ID] = bridge.Answer{}
		}
		if in.Part {
			a.parts[f.ID] = in
		}
		if in.Other != "" {
			a.others[f.ID] = in.Other
		}
	}
	return true
}
