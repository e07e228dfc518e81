package engine

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// Evidence returns stored records and events, and checks whether they verify.
type Evidence struct {
	records bridge.Records
	raw     bridge.Records
	prover  *proof.Prover
	signer  *proof.Signer
	log     *slog.Logger
}

// Show returns a stored record unchanged, for inspection. If the record does
// not verify, Unverified is set.
func (e *Evidence) Show(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	r, err := e.raw.Load(ctx, id)
	return e.prover.Marked(r), err
}

// StateAnswer signs an answer in another format that was made from verified
// records. It returns "" without a signer.
func (e *Evidence) StateAnswer(records []bridge.Record, body []byte) (string, error) {
	if e.signer == nil {
		return "", nil
	}
	for _, r := range records {
		if err := r.Trusted(); err != nil {
			return "", err
		}
	}
	return e.signer.Answer(records, body)
}

// CheckList marks the records of a list that do not verify. With asStored it
// returns them otherwise unchanged, for inspection. Without it, it returns them
// as closed without a decision.
func (e *Evidence) CheckList(l bridge.List, asStored bool) bridge.List {
	for n, r := range l.Items {
		if r = e.prover.Marked(r); r.Unverified != "" && !asStored {
			r = r.Distrusted()
		}
		l.Items[n] = r
	}
	return l
}

// CheckEvents removes the events whose decision, vote or request does not
// verify. It replaces the data of the others by the encoding of the verified
// values.
func (e *Evidence) CheckEvents(ctx context.Context, events []bridge.Event) ([]bridge.Event, error) {
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
			e.log.Warn("event skipped because it does not verify", "id", ev.InteractionID, "event", ev.Type)
			continue
		}
		out = append(out, ev)
	}
	return out, nil
}

func (e *Evidence) checkEvent(ctx context.Context, ev *bridge.Event) (bool, error) {
	switch ev.Type {
	case bridge.EventRequest, bridge.EventWidened:
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
	return e.checkEnd(ctx, ev)
}

// checkEnd checks an event that closes a request.
func (e *Evidence) checkEnd(ctx context.Context, ev *bridge.Event) (bool, error) {
	r, err := e.records.Load(ctx, ev.InteractionID)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return !ev.State.Decided() && ev.Data == nil, nil // the record has expired
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

// checkShown checks the interaction in an event. An event without data is
// valid, because its record has expired.
func (e *Evidence) checkShown(ev *bridge.Event) bool {
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
