package core

import (
	"cmp"
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
)

// Vote implements Interactions.
func (in *interactions) Vote(ctx context.Context, v bridge.Ballot, also ...Also) (bridge.Record, bridge.BallotResult, error) {
	began := in.db.Now()
	d, r, verdict, err := in.turn(ctx, v.ID, func(t *life.Turn) life.Verdict { return t.Vote(v) }, also...)
	if err == nil {
		err = refusal(v.ID, verdict)
	}
	if err != nil {
		return bridge.Record{}, "", err
	}
	if verdict == life.Won {
		v.Response, v.Receipt = *d.Life.Response, d.Life.Receipt
	}
	if verdict == life.Won || verdict == life.Done {
		in.verifier.add(checked{ballot: &v, also: also, recorded: cmp.Or(v.Recorded, began)}, d)
	}
	return *r, results[verdict], nil
}

// results maps the verdict of a rule to the result of a vote.
var results = map[life.Verdict]bridge.BallotResult{
	life.Won: bridge.BallotDecided, life.Done: bridge.BallotCounted, life.Kept: bridge.BallotRepeat,
	life.Final: bridge.BallotLate, life.Forged: bridge.BallotLate,
}
