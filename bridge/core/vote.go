package core

import (
	"cmp"
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
)

// BallotResult is the result of a ballot.
type BallotResult string

// The results.
const (
	BallotDecided BallotResult = "decided" // this vote was the last required vote
	BallotCounted BallotResult = "counted"
	BallotRepeat  BallotResult = "repeat" // the person had already voted the same way
	BallotLate    BallotResult = "late"   // the request was already closed
)

// Vote implements Interactions.
func (in *interactions) Vote(ctx context.Context, v life.Ballot, also ...Also) (bridge.Record, BallotResult, error) {
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
var results = map[life.Verdict]BallotResult{
	life.Won: BallotDecided, life.Done: BallotCounted, life.Kept: BallotRepeat,
	life.Final: BallotLate, life.Forged: BallotLate,
}
