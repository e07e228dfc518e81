package broker

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// Vote implements bridge.Records.
func (b *Broker) Vote(ctx context.Context, v bridge.Ballot) (bridge.Record, bridge.BallotResult, error) {
	rec, err := b.Load(ctx, v.ID)
	if err != nil {
		return rec, "", err
	}
	i := rec.Interaction
	v.Vote.Covers = v.Covers
	covers := ""
	for _, n := range v.Covers {
		covers += strconv.Itoa(n) + ","
	}
	reply, err := b.scripts.vote.Run(ctx, b.client, b.transitionKeys(v.ID), string(v.ID), voter(v.Vote.Actor), string(v.Vote.State), data(v.Vote), covers,
		max(i.Quorum, 1), len(i.Must), flag(!i.DenyCounts), data(v.Response), v.Nonce).Text()
	if err != nil {
		return rec, "", unavailable(err)
	}
	b.poke()
	result := bridge.BallotResult(reply)
	switch reply {
	case "missing":
		return rec, "", bridge.Errorf(bridge.CodeNotFound, "there is no interaction %s", v.ID)
	case "won":
		result = bridge.BallotDecided
	}
	if result == bridge.BallotDecided {
		b.verifier.add(bridge.Settlement{ID: v.ID, Cause: bridge.CauseAnswer, Response: v.Response, Nonce: v.Nonce})
	}
	rec, err = b.Load(ctx, v.ID)
	return rec, result, err
}

// voteEnd and voteField separate votes and their parts in a record.
const (
	voteEnd   = "\x1e"
	voteField = "\x1f"
)

// voter names a human: one vote each, from whatever account.
func voter(a bridge.Actor) string {
	name := a.Person
	if name == "" {
		name = a.Platform + "/" + a.User
	}
	return strings.NewReplacer(voteEnd, "", voteField, "").Replace(name)
}

func decodeVotes(id bridge.ID, s string) ([]bridge.Vote, error) {
	var out []bridge.Vote
	for part := range strings.SplitSeq(strings.TrimSuffix(s, voteEnd), voteEnd) {
		f := strings.SplitN(part, voteField, 4)
		if len(f) != 4 {
			continue
		}
		var v bridge.Vote
		if err := json.Unmarshal([]byte(f[3]), &v); err != nil {
			return nil, bridge.Wrap(bridge.CodeInternal, err, "stored vote of %s", id)
		}
		out = append(out, v)
	}
	return out, nil
}
