package broker

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// Vote implements bridge.Outcomes.
func (oc *outcomes) Vote(ctx context.Context, v bridge.Ballot) (bridge.Record, bridge.BallotResult, error) {
	rec, err := oc.known(ctx, v)
	if err != nil {
		return rec, "", err
	}
	i := rec.Interaction
	v.Vote.Covers = v.Covers
	covers := ""
	for _, n := range v.Covers {
		covers += strconv.Itoa(n) + ","
	}
	far, _ := reach(i, bridge.Response{State: v.Vote.State, Scope: v.Vote.Scope})
	_, responses := reach(i, v.Response)
	args := append([]any{string(v.ID), clean(v.Vote.Actor.Voter()), string(v.Vote.State), data(v.Vote), strconv.Itoa(far) + ";" + covers,
		max(i.Quorum, 1), slots(i), flag(!i.DenyCounts), v.Nonce, oc.keys.wake(oc.node), expected(v.Expect)}, responses...)
	args = append(args, revision(v.Revision))
	cmd, fields := oc.runAndRead(ctx, v.ID, oc.scripts.vote, args...)
	reply, err := cmd.Text()
	oc.hub.wake(v.ID, nil) // it may have ended
	if err != nil {
		return rec, "", unavailable(err)
	}
	oc.poke()
	result := bridge.BallotResult(reply)
	switch reply {
	case "missing":
		return rec, "", bridge.NotFound(v.ID)
	case "changed":
		return rec, "", changed(v.ID)
	case "won":
		result = bridge.BallotDecided
	}
	if rec, err = read(v.ID, fields); err == nil && result == bridge.BallotDecided && rec.Response != nil {
		oc.verifier.add(bridge.Settlement{ID: v.ID, Response: *rec.Response, Nonce: v.Nonce})
	}
	return rec, result, err
}

// known returns the record on which a vote was checked. The script refuses the
// vote if the record was amended since, so its interaction is the stored one.
func (oc *outcomes) known(ctx context.Context, v bridge.Ballot) (bridge.Record, error) {
	if k := v.Known; k != nil && v.Expect != nil && k.Amended == *v.Expect && k.Interaction.ID == v.ID {
		return *k, nil
	}
	return oc.load(ctx, v.ID)
}

// slots returns the numbers of approvals that are required in addition to the
// quorum.
func slots(i bridge.Interaction) string {
	out := ""
	for _, n := range i.Slots() {
		out += strconv.Itoa(n) + ","
	}
	return out
}

// expected returns the number of amendments that a decision was checked
// against. It is empty if any number is accepted.
func expected(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

func changed(id bridge.ID) error {
	return bridge.Errorf(bridge.CodeConflict, "interaction %s was amended in the meantime", id).WithHint("read it again")
}

// revision returns the revision that a script must find. It is empty if any
// revision is accepted.
func revision(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n-1, 10) // revision 1 is the opening, which scripts count as 0
}

// scopes are ordered from the narrowest to the widest.
var scopes = []bridge.Scope{bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways}

// reach returns the index of the scope of a response, counted from 1, and the
// response with each scope up to that one.
func reach(i bridge.Interaction, r bridge.Response) (int, []any) {
	far := slices.Index(scopes, r.Scope) + 1
	if r.State != bridge.StateApproved || far == 0 {
		return 1, []any{data(r)}
	}
	var out []any
	for _, s := range scopes[:far] {
		r.Scope, r.Covers = s, i.Coverage(s)
		out = append(out, data(r))
	}
	return far, out
}

// voteEnd and voteField separate votes and their parts in a record.
const (
	voteEnd   = "\x1e"
	voteField = "\x1f"
)

// clean removes the separators of votes from a name.
func clean(s string) string { return strings.NewReplacer(voteEnd, "", voteField, "").Replace(s) }

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
