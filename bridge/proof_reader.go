package bridge

import (
	"context"
	"encoding/json"
)

// CheckList marks the records of a list that do not verify. With asStored they
// keep what is stored, for people to look at; otherwise they end without a
// decision.
func (e *Engine) CheckList(l List, asStored bool) List {
	for n, r := range l.Items {
		if r = e.prover.marked(r); r.Unverified != "" && !asStored {
			r = r.distrusted()
		}
		l.Items[n] = r
	}
	return l
}

// CheckEvents leaves out the events that say something that does not verify:
// a decision, a vote, or what people are asked. The data of the others is
// written again from what was verified.
func (e *Engine) CheckEvents(ctx context.Context, events []Event) ([]Event, error) {
	if e.prover == nil {
		return events, nil
	}
	out := make([]Event, 0, len(events))
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

func (e *Engine) checkEvent(ctx context.Context, ev *Event) (bool, error) {
	switch ev.Type {
	case EventRequest, EventEscalated, EventWidened:
		return e.checkShown(ev), nil
	case EventVoted:
		var v Vote
		if json.Unmarshal(ev.Data, &v) != nil {
			return false, nil
		}
		ev.Data = stable(v)
		return v.Proof == "" && !e.prover.strict || e.prover.knownVote(ev.InteractionID, v), nil
	}
	if ev.Type != EventResponse && !ev.State.Final() {
		return true, nil
	}
	r, err := e.store.Load(ctx, ev.InteractionID)
	if ErrorCode(err) == CodeNotFound {
		return !ev.State.Decided() && ev.Data == nil, nil // it outlived its record
	}
	if err != nil {
		return false, err
	}
	i := r.Interaction
	if r.Unverified != "" || i.Agent != ev.Agent || i.Session != ev.SessionID || r.State != ev.State {
		return false, nil
	}
	if ev.Type != EventResponse || ev.Data == nil {
		return true, nil
	}
	if r.Response == nil {
		return false, nil
	}
	ev.Data = stable(r.Response)
	return true, nil
}

// checkShown checks what an event says is asked. An event that outlived its
// record has no data.
func (e *Engine) checkShown(ev *Event) bool {
	if ev.Data == nil {
		return true
	}
	var i Interaction
	if json.Unmarshal(ev.Data, &i) != nil || i.ID != ev.InteractionID || i.Agent != ev.Agent || i.Session != ev.SessionID {
		return false
	}
	ev.Data = stable(i)
	_, why := e.prover.interactionProblem(i)
	return why == ""
}
