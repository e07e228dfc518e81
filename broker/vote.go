package broker

import (
	"context"
	"encoding/json"
	"slices"
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
	far, _ := reach(bridge.Response{State: v.Vote.State, Scope: v.Vote.Scope})
	_, responses := reach(v.Response)
	args := append([]any{string(v.ID), voter(v.Vote.Actor), string(v.Vote.State), data(v.Vote), strconv.Itoa(far) + ";" + covers,
		max(i.Quorum, 1), len(i.Must), flag(!i.DenyCounts), v.Nonce, b.keys.wake(b.node)}, responses...)
	args = append(args, expected(v.Revision))
	cmd, fields := b.runAndRead(ctx, v.ID, b.scripts.vote, args...)
	reply, err := cmd.Text()
	b.hub.wake(v.ID, nil) // it may have ended
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
	if rec, err = readRecord(v.ID, fields); err == nil && result == bridge.BallotDecided && rec.Response != nil {
		b.verifier.add(bridge.Settlement{ID: v.ID, Response: *rec.Response, Nonce: v.Nonce})
	}
	return rec, result, err
}

// expected is the revision that a script has to find; empty for any.
func expected(revision int64) string {
	if revision == 0 {
		return ""
	}
	return strconv.FormatInt(revision-1, 10) // what was opened is the first
}

// scopes by how far they reach.
var scopes = []bridge.Scope{bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways}

// reach is how far a response reaches, and what it is with each reach up to
// that.
func reach(r bridge.Response) (int, []any) {
	far := slices.Index(scopes, r.Scope) + 1
	if r.State != bridge.StateApproved || far == 0 {
		return 1, []any{data(r)}
	}
	var out []any
	for _, s := range scopes[:far] {
		r.Scope = s
		out = append(out, data(r))
	}
	return far, out
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
