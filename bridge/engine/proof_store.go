package engine

import (
	"context"
	"errors"
	"log/slog"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// verifier is the common part of the port decorators. They trust only what a
// daemon has proven: they add proofs to what is stored, and check the proofs of
// what is read. They return a record that does not verify as closed without a
// decision, so that no caller can mistake it for an approval.
type verifier struct {
	p   *proof.Prover
	log *slog.Logger
}

// checked checks a record that a port returned, and logs it if it does not
// verify.
func (v verifier) checked(r bridge.Record, err error) (bridge.Record, error) {
	if err != nil && r.Interaction.ID == "" {
		return r, err
	}
	if r = v.p.Checked(r); r.Unverified != "" {
		v.log.Warn("record does not verify", "id", r.Interaction.ID, "why", r.Unverified)
	}
	return r, err
}

// Load implements Records.
func (s provenRecords) Load(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	return s.checked(s.Records.Load(ctx, id))
}

// Await implements Records.
func (s provenRecords) Await(ctx context.Context, id bridge.ID) (*bridge.Record, error) {
	r, err := s.Records.Await(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.checkedAt(r), nil
}

// AwaitThen implements Records.
func (s provenRecords) AwaitThen(ctx context.Context, id bridge.ID, then func(bridge.Awaited)) {
	s.Records.AwaitThen(ctx, id, func(result bridge.Awaited) {
		then(func() (*bridge.Record, error) {
			r, err := result()
			if err != nil {
				return nil, err
			}
			return s.checkedAt(r), nil
		})
	})
}

// checkedAt is checked for a record that is held by a pointer.
func (s provenRecords) checkedAt(r *bridge.Record) *bridge.Record {
	got, _ := s.checked(*r, nil) // returns no error of its own
	return &got
}

// Open implements Openings.
func (s provenOpenings) Open(ctx context.Context, o bridge.Opening) (bridge.Record, bool, error) {
	s.p.ProveInteraction(&o.Interaction)
	if o.Response != nil {
		resp := *o.Response
		if err := s.p.ProveResponse(o.Interaction, &resp, nil); err != nil {
			return bridge.Record{}, false, err
		}
		o.Response = &resp
	}
	if err := s.p.ProveResponse(o.Interaction, &o.Timeout, nil); err != nil {
		return bridge.Record{}, false, err
	}
	rec, created, err := s.Openings.Open(ctx, o)
	if spent, ok := errors.AsType[*bridge.RepeatedError](err); ok {
		if other := repeats(spent.Interaction, o.Interaction); other != nil {
			err = other
		}
	}
	if err == nil && !created {
		err = repeats(rec.Interaction, o.Interaction)
	}
	if err != nil {
		return bridge.Record{}, false, err
	}
	rec, err = s.checked(rec, nil)
	return rec, created, err
}

// repeats returns an error unless the earlier interaction matches the current
// request. The store finds it through a mapping in Redis, which anyone with
// write access can change.
func repeats(first, now bridge.Interaction) error {
	same := first.Agent == now.Agent && first.Session == now.Session && first.Digest == now.Digest
	joined := first.Join && now.Join
	if now.RequestKey == "" && first.ID != now.ID && !joined {
		same = false // without a key there is no earlier interaction
	}
	if first.Proof != "" && first.RequestKey != now.RequestKey && !joined && first.ID != now.ID {
		same = false
	}
	if same {
		return nil
	}
	return bridge.Errorf(bridge.CodeForbidden, "the call refers to interaction %s, which is another request, because Redis was changed outside nod", first.ID).
		WithHint("ask again with another key or ID")
}

// Settle implements Outcomes. It signs a decision together with the verified
// interaction.
func (s provenOutcomes) Settle(ctx context.Context, t bridge.Settlement) (bridge.Record, bool, error) {
	if t.Response.Decided() && t.Response.Proof == "" {
		why, err := "of another request", error(nil)
		if t.Interaction.ID == t.ID {
			why, err = s.p.ProveDecision(t.Interaction, &t.Response)
		}
		if why != "" {
			rec, failed := s.records.Load(ctx, t.ID)
			if failed != nil || rec.Unverified != "" {
				return rec, false, failed
			}
			err = s.p.ProveResponse(rec.Interaction, &t.Response, nil)
		}
		if err != nil {
			return bridge.Record{}, false, err
		}
	}
	rec, won, err := s.Outcomes.Settle(ctx, t)
	rec, err = s.checked(rec, err)
	return rec, won && rec.Unverified == "", err
}

// proveAmendment signs an amended interaction.
func (s provenRecords) proveAmendment(a *bridge.Amendment) {
	i := a.Interaction
	if times := i.Stated; times != (bridge.Times{}) {
		i.Created, i.Deadline = times.Created, times.Deadline
	}
	s.p.ProveInteraction(&i)
	a.Interaction = i
}

// Messages implements Mailbox. It skips an entry that refers to a record of
// another session. The message for a record that does not verify contains the
// reason instead of the answer.
func (s provenMailbox) Messages(ctx context.Context, agent, session string, limit int) ([]bridge.Message, error) {
	all, err := s.Mailbox.Messages(ctx, agent, session, limit)
	out := make([]bridge.Message, 0, len(all))
	for _, m := range all {
		if i := m.Record.Interaction; i.Agent != agent || i.Session != session || !m.Record.State.Final() {
			s.log.Error("late answer refers to a record of another session", "id", i.ID, "agent", agent)
			continue
		}
		if r := s.p.Checked(m.Record); r.Unverified != "" {
			m = bridge.NewMessage(m.ID, r)
		} else {
			m.Record = r
		}
		out = append(out, m)
	}
	return out, err
}

// Mark implements Records. An amendment keeps the times that were proven when
// the interaction was opened.
func (s provenRecords) Mark(ctx context.Context, id bridge.ID, m bridge.Mark) (bridge.Record, error) {
	if m.Amended != nil {
		a := *m.Amended
		s.proveAmendment(&a)
		m.Amended = &a
	}
	return s.checked(s.Records.Mark(ctx, id, m))
}
