package bridge

import (
	"slices"
	"strconv"
	"strings"
)

// Counted reports whether decisions are counted: several people have to
// approve, or certain ones, or one denial does not end it.
func (p Placement) Counted() bool {
	return p.Needs() > 1 || len(p.Must) > 0 || len(p.Requirements) > 1 || p.DenyCounts
}

// Ballot is a vote on an interaction that needs several.
type Ballot struct {
	ID   ID
	Vote Vote
	// Covers are the indexes of Interaction.Slots that the voter counts for.
	Covers []int
	// Expect is Record.Amended as it was when the vote was checked; if another
	// amendment came first, the vote is CodeConflict. Nil accepts any.
	Expect *int
	// Response stands if this vote decides.
	Response Response
	Nonce    string
	// Revision is that of the record whose votes were counted; the store
	// counts the vote only if it is still the same. Zero means any.
	Revision int64
}

// BallotResult is what became of a ballot.
type BallotResult string

// The results.
const (
	BallotDecided BallotResult = "decided" // this vote was the last that was needed
	BallotCounted BallotResult = "counted"
	BallotRepeat  BallotResult = "repeat" // the person had voted so before
	BallotLate    BallotResult = "late"   // it was decided before
	BallotChanged BallotResult = "raced"  // another vote came first: nothing was counted
)

// Approvals counts the people who have approved so far.
func (r Record) Approvals() int {
	n := 0
	for _, v := range r.Votes {
		if v.State == StateApproved {
			n++
		}
	}
	return n
}

// Missing says who has to approve yet; empty: nothing is missing.
func (r Record) Missing() string {
	i := r.Interaction
	var s []string
	if left := i.Needs() - r.Approvals(); left > 0 && len(i.Requirements) == 0 {
		s = append(s, strconv.Itoa(left)+" more")
	}
	for n, q := range i.Requirements {
		if m := r.missingOf(n); m != "" {
			s = append(s, q.Route+": "+m)
		}
	}
	if left := i.Needs() - r.Approvals(); left > 0 && len(i.Requirements) > 0 && len(s) == 0 {
		s = append(s, strconv.Itoa(left)+" more")
	}
	for n, must := range i.Must {
		if !slices.ContainsFunc(r.Votes, func(v Vote) bool { return v.State == StateApproved && slices.Contains(v.Covers, n) }) {
			s = append(s, must)
		}
	}
	return strings.Join(s, ", ")
}

// Voters names who has voted so.
func (r Record) Voters(s State) []string {
	var names []string
	for _, v := range r.Votes {
		if v.State == s {
			names = append(names, v.Actor.Display())
		}
	}
	return names
}

// Voted says that a vote was counted, and what is still needed.
func (r Record) Voted() string {
	s := "Recorded. " + strconv.Itoa(r.Approvals()) + " of " + strconv.Itoa(r.Interaction.Needs()) + " have approved"
	if m := r.Missing(); m != "" {
		s += "; still needed: " + m
	}
	return s + "."
}
