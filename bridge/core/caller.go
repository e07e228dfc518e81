package core

import (
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
)

// Abandon implements Interactions.
func (in *interactions) Abandon(ctx context.Context, id bridge.ID, name string, cut bool, end bridge.Response) (bridge.Record, error) {
	_, r, _, err := in.turn(ctx, id, func(t *life.Turn) life.Verdict {
		return t.Leave(life.Caller{Name: name, Node: in.node}, cut, in.hub.awaits(id), end)
	})
	if err != nil {
		return bridge.Record{}, err
	}
	return *r, nil
}

// Sending implements Interactions. It succeeds only once the replicas have
// confirmed the change. Otherwise, a failover could drop it, and the answer could
// be used again.
func (in *interactions) Sending(ctx context.Context, r bridge.Record, caller string) error {
	id, first := r.Interaction.ID, r.Interaction.First()
	if caller != "" {
		_, _, verdict, err := in.turn(ctx, first, func(t *life.Turn) life.Verdict {
			verdict := t.Take(caller)
			if verdict != life.Taken && first == id {
				t.Send()
			}
			return verdict
		})
		if err == nil && (verdict == life.Taken || verdict == life.Forged) {
			err = &bridge.RepeatedError{Interaction: r.Interaction}
		}
		if err != nil || first == id {
			return err
		}
	}
	_, now, verdict, err := in.turn(ctx, id, (*life.Turn).Send)
	if err == nil && verdict == life.Forged { // otherwise, the answer would not count as sent
		err = now.Trusted()
	}
	return err
}

// Delivered implements Interactions.
func (in *interactions) Delivered(ctx context.Context, r bridge.Record) error {
	_, _, _, err := in.turn(ctx, r.Interaction.ID, (*life.Turn).Deliver)
	return err
}
