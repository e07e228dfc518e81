package core

import (
	"cmp"
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
)

// Vote implements Interactions.
func (in *interactions) Vote(ctx context.Context, v bridge.Ballot, also ...Also) (bridge.Record, bridge.BallotResult, error) {
	verdict, result, began := life.Final, bridge.BallotLate, in.db.Now()
	d, r, err := in.turn(ctx, v.ID, func(t *life.Turn) error {
		verdict, result = t.Vote(v)
		return refusal(v.ID, verdict)
	}, also...)
	if err != nil {
		return bridge.Record{}, "", err
	}
	if result == bridge.BallotDecided || result == bridge.BallotCounted {
		if result == bridge.BallotDecided {
			v.Response, v.Receipt = *d.Life.Response, d.Life.Receipt
		}
		in.verifier.add(checked{ballot: &v, also: also, recorded: cmp.Or(v.Recorded, began)}, d)
	}
	return *r, result, nil
}
