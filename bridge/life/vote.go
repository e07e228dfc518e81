package life

import (
	"slices"

	"github.com/nodbridge/nod/bridge"
)

// Vote counts one person's vote on an approval with a quorum. The vote that
// completes the quorum resolves the approval, with the narrowest scope of its votes. The
// verdict of that vote is Won, that of any other new vote is Done, and that of a
// repeated vote is Kept.
func (t *Turn) Vote(v Ballot) Verdict {
	switch {
	case !t.pending() && t.Life.Nonce == v.Nonce:
		return Won
	case slices.ContainsFunc(t.Life.Votes, v.Vote.Same): // the vote was stored, and then the reply of the store was lost
		return Done
	}
	at, inTime := t.answeredAt(v.Recorded)
	switch {
	case !inTime:
		return Final
	case v.Expect != nil && *v.Expect != len(t.Life.Amendments):
		return Changed
	case v.Vote.State == bridge.StateApproved && v.Vote.Content != t.Body.Content:
		return Changed
	case t.Body.Unassured(v.Response):
		return Unproven
	}
	vote := v.Vote
	vote.Covers = v.Covers
	rest := t.Life.Votes[:0:0]
	for _, other := range t.Life.Votes {
		if !other.SameVoter(vote) {
			rest = append(rest, other)
			continue
		}
		// A different vote replaces the first vote, such as one with a narrower scope. So
		// does an approval with a proof, and an approval that counts for other slots.
		same := other.State == vote.State && other.Scope == vote.Scope && other.Reason == vote.Reason
		if same && slices.Equal(other.Covers, vote.Covers) && (other.Assurance != "" || vote.Assurance == "") {
			return Kept
		}
	}
	t.Life.Votes = append(rest, vote)
	t.changedLife = true
	t.journal(bridge.EventVoted, bridge.StatePending, data(vote), bridge.AuditVote)
	t.change.Replicated = true
	if rec := t.Record(t.now); rec.Enough(vote.State) {
		t.Life.Receipt = v.Receipt
		t.resolve(rec.Narrowed(v.Response), at, v.Nonce)
		return Won
	}
	t.bump()
	t.editAll(0)
	return Done
}
