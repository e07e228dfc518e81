package session

import (
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

const (
	// messageBatch is the maximum number of messages that a reader of late
	// answers gets at a time, and steeringBatch that of a named reader.
	messageBatch  = 100
	steeringBatch = 20
)

// Messages returns the first late answers and messages from people that wait for
// a session.
func (b *Inbox) Messages(ctx context.Context, agent, session string) ([]bridge.Message, error) {
	for {
		all, err := b.take(ctx, bridge.Taking{Agent: agent, Session: session}, true, messageBatch)
		if err != nil {
			return nil, err
		}
		out, gone := []bridge.Message{}, broker.Change{}
		for _, i := range all {
			m, waits, err := b.message(ctx, agent, session, i)
			if err != nil {
				return nil, err
			}
			if waits {
				out = append(out, m)
			} else {
				gone.Unset = append(gone.Unset, b.member(agent, session, i.id))
			}
		}
		if len(gone.Unset) == 0 {
			return out, nil
		}
		if _, err := b.db.Do(ctx, gone); err != nil { // so that the next call does not read them
			return out, documents.Public(err)
		}
		if len(out) > 0 {
			return out, nil
		}
	}
}

// Take returns the first messages from people that wait for a session, and
// reserves them for a named reader.
func (b *Inbox) Take(ctx context.Context, t bridge.Taking) ([]bridge.Message, error) {
	all, err := b.take(ctx, t, false, steeringBatch)
	out := []bridge.Message{}
	for _, i := range all {
		s := i.said.public()
		s.Again = i.again && t.Reader != ""
		out = append(out, bridge.SaidMessage(s))
	}
	return out, err
}

// message returns a waiting message. It returns false for a late answer that
// does not wait, whatever the index says.
func (b *Inbox) message(ctx context.Context, agent, session string, i item) (bridge.Message, bool, error) {
	if i.said != nil {
		return bridge.SaidMessage(i.said.public()), true, nil
	}
	r, waits, err := b.answer(ctx, agent, session, bridge.ID(i.id))
	return bridge.NewMessage(i.id, r), waits, err
}

// answer returns the record of a late answer of a session, and reports whether
// its agent has not acknowledged it.
func (b *Inbox) answer(ctx context.Context, agent, session string, id bridge.ID) (bridge.Record, bool, error) {
	r, err := b.records.Load(ctx, id)
	if bridge.ErrorCode(err) == bridge.CodeNotFound { // the retention of the record has ended
		return r, false, nil
	}
	i := r.Interaction
	return r, i.Agent == agent && i.Session == session && r.State.Final() && !r.Queued.IsZero() && !r.Acknowledged, err
}

// answered records that the agent has a late answer.
func (b *Inbox) answered(ctx context.Context, agent, session string, id bridge.ID) error {
	_, waits, err := b.answer(ctx, agent, session, id)
	if err != nil || !waits {
		return err
	}
	_, err = b.records.Mark(ctx, id, life.Acknowledged{})
	return err
}
