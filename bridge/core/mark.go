package core

import (
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
)

// Mark implements Interactions.
func (in *interactions) Mark(ctx context.Context, id bridge.ID, m life.Mark) (bridge.Record, error) {
	_, r, verdict, err := in.turn(ctx, id, func(t *life.Turn) life.Verdict { return t.Mark(m) })
	if err != nil {
		return bridge.Record{}, err
	}
	switch verdict {
	case life.Forged:
		if _, is := m.(life.Amendment); is { // a person may be told that it was stored
			return *r, r.Trusted()
		}
	case life.Changed:
		return *r, bridge.Errorf(bridge.CodeConflict, "interaction %s was changed in the meantime", id)
	case life.Final:
		return *r, bridge.Errorf(bridge.CodeConflict, "interaction %s is already %s", id, r.State)
	}
	return *r, nil
}
