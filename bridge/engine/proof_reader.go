package engine

import (
	"context"
	"encoding/json"

	"github.com/nodbridge/nod/bridge/proof"

	"github.com/nodbridge/nod/bridge"
)

// CheckList marks the records of a list that do not verify. With asStored they
// keep what is stored, for people to look at; otherwise they end without a
// decision.
func (e *Engine) CheckList(l bridge.List, asStored bool) bridge.List {
	for n, r := range l.Items {
		if r = e.prover.Marked(r); r.Unverified != "" && !asStored {
			r = r.Distrusted()
		}
		l.Items[n] = r
	}
	return l
}

// CheckEvents leaves out the events that say something that does not verify:
// a decision, a vote, or what people are asked. The data of the others is
// written again from what was verified.
func (e *Engine) CheckEvents(ctx context.Context, events []bridge.Event) ([]bridge.Event, error) {
	if e.prover == nil {
		return events, nil
	}
	out := make([]bridge.Event, 0, len(events))
	for _, ev := range events {
		good, err := e.checkEvent(ctx, &ev)
		if err != nil {
			return nil, err
		}
		if !good {
			e.log.Warn("event not verified, left out", "id", ev.InteractionID, "event", ev.Type)
			continue
		}
		out = append(out, ev)
	}
	return out, nil
}

func (e *Engine) checkEvent(ctx context.Context, ev *bridge.Event) (bool, error) {
	switch ev.Type {
	case bridge.EventRequest, bridge.EventEscalated, bridge.EventWidened:
		return e.checkShown(ev), nil
	case bridge.EventVoted:
		var v bridge.Vote
		if json.Unmarshal(ev.Data, &v) != nil {
			return false, nil
		}
		ev.Data = proof.Stable(v)
		return e.prover.AcceptsVote(ev.InteractionID, v), nil
	}
	if ev.Type != bridge.EventResponse && !ev.State.Final() {
		return true, nil
	}
	r, err := e.store.Load(ctx, ev.InteractionID)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return !ev.State.Decided() && ev.Data == nil, nil // it outlived its record
	}
	if err != nil {
		return false, err
	}
	i := r.Interaction
	if r.Unverified != "" || i.Agent != ev.Agent || i.Session != ev.SessionID || r.State != ev.State {
		return false, nil
	}
	if ev.Type != bridge.EventResponse || ev.Data == nil {
		return true, nil
	}
	if r.Response == nil {
		return false, nil
	}
	ev.Data = proof.Stable(r.Response)
	return true, nil
}

// checkShown checks what an event says is asked. An event that outlived its
// record has no data.
func (e *Engine) checkShown(ev *bridge.Event) bool {
	if ev.Data == nil {
		return true
	}
	var i bridge.Interaction
	if json.Unmarshal(ev.Data, &i) != nil || i.ID != ev.InteractionID || i.Agent != ev.Agent || i.Session != ev.SessionID {
		return false
	}
	ev.Data = proof.Stable(i)
	return e.prover.InteractionProblem(i) == ""
}
