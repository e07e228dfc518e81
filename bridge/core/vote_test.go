package core_test

import (
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
)

// ballot is the vote of a person on an interaction.
func ballot(id bridge.ID, who string, s bridge.State) life.Ballot {
	actor := bridge.Actor{Platform: "slack", User: "U" + who, Person: who}
	scope := bridge.ScopeOnce
	if s == bridge.StateDenied {
		scope = ""
	}
	return life.Ballot{
		ID: id, Nonce: who + string(s), Vote: bridge.Vote{Actor: actor, State: s, Scope: scope, At: time.Now().UTC()},
		Response: bridge.Response{State: s, Scope: scope, Actor: &actor, Annotations: map[string]bridge.Annotation{}},
	}
}

func vote(t *testing.T, s core.Port, v life.Ballot, want core.BallotResult) bridge.Record {
	t.Helper()
	r, got, err := s.Vote(t.Context(), v)
	if err != nil || got != want {
		t.Fatalf("the vote of %s is %q (%v), want %q", v.Vote.Actor.Person, got, err, want)
	}
	return r
}

// TestQuorum checks that an approval that needs two people ends with the second of
// them, and counts each person once.
func TestQuorum(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, daemon opener) {
		s := daemon("n")
		id := open(t, s, func(i *bridge.Interaction) { i.Quorum, i.DenyCounts = 2, true }).Interaction.ID
		first := ballot(id, "ana", bridge.StateApproved)
		vote(t, s, first, core.BallotCounted)
		vote(t, s, first, core.BallotCounted) // the same click, whose reply was lost
		pass(t, time.Millisecond)
		vote(t, s, ballot(id, "ana", bridge.StateApproved), core.BallotRepeat)
		vote(t, s, ballot(id, "ben", bridge.StateDenied), core.BallotCounted)
		last := ballot(id, "ben", bridge.StateApproved) // replaces the denial
		if r := vote(t, s, last, core.BallotDecided); r.State != bridge.StateApproved || len(r.Votes) != 2 {
			t.Errorf("it is %s with %d votes", r.State, len(r.Votes))
		}
		vote(t, s, last, core.BallotDecided) // a repeat of the winner
		vote(t, s, ballot(id, "cem", bridge.StateDenied), core.BallotLate)
	})
}

// TestVoteNarrowed checks that a person can replace an approval with one of a narrower scope.
func TestVoteNarrowed(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		s := daemon("n")
		id := open(t, s, func(i *bridge.Interaction) { i.Quorum = 2 }).Interaction.ID
		always := func(who string) life.Ballot {
			pass(t, time.Millisecond) // each ballot is another click
			b := ballot(id, who, bridge.StateApproved)
			b.Nonce += "always"
			b.Vote.Scope, b.Response.Scope = bridge.ScopeAlways, bridge.ScopeAlways
			return b
		}
		vote(t, s, always("ana"), core.BallotCounted)
		vote(t, s, always("ana"), core.BallotRepeat)
		vote(t, s, ballot(id, "ana", bridge.StateApproved), core.BallotCounted)
		if r := vote(t, s, always("ben"), core.BallotDecided); r.Response.Scope != bridge.ScopeOnce || len(r.Votes) != 2 {
			t.Errorf("the scope is %s, with %d votes", r.Response.Scope, len(r.Votes))
		}
	})
}

// TestOneDenialEnds checks that a denial ends an approval at once unless denials are
// counted.
func TestOneDenialEnds(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		s := daemon("n")
		id := open(t, s, func(i *bridge.Interaction) { i.Quorum = 3 }).Interaction.ID
		if r := vote(t, s, ballot(id, "ana", bridge.StateDenied), core.BallotDecided); r.State != bridge.StateDenied {
			t.Errorf("it is %s", r.State)
		}
		if _, _, err := s.Vote(t.Context(), ballot("01a2004b-9f48-71c4-81b1-1b37eb744b0e", "ana", bridge.StateDenied)); bridge.ErrorCode(err) != bridge.CodeNotFound {
			t.Errorf("a vote on an unknown interaction: %v", err)
		}
	})
}

// TestAmendmentLeavesStep checks that an amendment without a next step, such as a
// snooze, changes neither the step nor its time.
func TestAmendmentLeavesStep(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		s := daemon("n")
		rec := open(t, s, func(i *bridge.Interaction) {
			i.Deadline = i.Created.Add(3 * time.Hour)
			i.Steps = []bridge.Step{{After: bridge.Duration(time.Hour), Remind: true}}
		})
		amend := func(expect int, then *life.NextStep) bridge.Record {
			return mark(t, s, rec.Interaction.ID, life.Amendment{Expect: expect, Interaction: rec.Interaction, Then: then})
		}
		due := func() int { return work(t, s)[life.JobStep] }
		if got := amend(0, nil); got.Step != 0 || due() != 0 {
			t.Errorf("step %d is due", got.Step)
		}
		pass(t, time.Hour)
		if due() != 1 {
			t.Error("the step is not due at its time")
		}
		if got := amend(1, &life.NextStep{Index: 1}); got.Step != 1 || due() != 0 {
			t.Errorf("after the last step: step %d is due", got.Step)
		}
		if got := amend(2, &life.NextStep{}); got.Step != 0 || due() != 1 {
			t.Errorf("step %d is not due", got.Step)
		}
	})
}

// TestAmendment checks that an amendment asks more people, reminds them and takes
// approvals back, that one based on an older state is refused, and that a repeat has no effect.
func TestAmendment(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		s := daemon("n")
		rec := open(t, s, func(i *bridge.Interaction) { i.Quorum = 2 })
		id := rec.Interaction.ID
		vote(t, s, ballot(id, "ana", bridge.StateApproved), core.BallotCounted)
		next := rec.Interaction
		next.Destinations = append(next.Destinations, bridge.Destination{Platform: "discord", Channel: "3"})
		next.Terms = 1
		a := life.Amendment{
			Nonce: "n", Interaction: next, Wider: true, Then: &life.NextStep{Index: 1, In: time.Minute},
			Reminders: []bridge.Reminder{{Destination: 1, Users: []string{"U2"}, Text: "Still pending."}}, Void: []string{"ana"},
		}
		got := mark(t, s, id, a)
		if len(got.Interaction.Destinations) != 3 || got.Interaction.Terms != 1 || got.Amended != 1 || got.Step != 1 || len(got.Votes) != 0 {
			t.Errorf("it is %+v", got)
		}
		if len(got.Reminders) != 1 || got.Reminders[0].Text != "Still pending." {
			t.Errorf("the reminders are %+v", got.Reminders)
		}
		again := a
		again.Nonce = "other"
		if _, err := s.Mark(t.Context(), id, again); bridge.ErrorCode(err) != bridge.CodeConflict {
			t.Errorf("an amendment of an older state: %v", err)
		}
		again.Expect = 1
		mark(t, s, id, again)
		if got := mark(t, s, id, a); got.Amended != 2 || len(got.Reminders) != 2 {
			t.Errorf("after a repeat, it is %+v", got)
		}
		checkedUnder := 0
		one := yes(id, "U1")
		one.Expect = &checkedUnder
		if _, _, err := s.Resolve(t.Context(), one); bridge.ErrorCode(err) != bridge.CodeConflict {
			t.Errorf("a decision on an older state: %v", err)
		}
		if kinds := work(t, s); kinds[life.JobPost] != 3 || kinds[life.JobRemind] != 2 {
			t.Errorf("the jobs are %v", kinds)
		}
	})
}

// TestLate checks that a card can be late until it shows its request.
func TestLate(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		s := daemon("n")
		r := open(t, s, nil)
		r = mark(t, s, r.Interaction.ID, life.Late{Destination: 1, Delay: time.Minute})
		if r.Late[1].IsZero() || !r.Late[0].IsZero() {
			t.Errorf("late: %v", r.Late)
		}
		if r = posted(t, s, r, 1); r.Late[1].IsZero() {
			t.Error("not late after it was posted without its request")
		}
		if r = mark(t, s, r.Interaction.ID, life.Shown{Destination: 1, Content: "c"}); len(r.Late) > 0 {
			t.Errorf("late after it shows its request: %v", r.Late)
		}
	})
}

// TestJoin checks that duplicates share one request.
func TestJoin(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, daemon opener) {
		s := daemon("n")
		join := func(i *bridge.Interaction) { i.Session, i.Join = "s", true }
		first := open(t, s, join)
		again, created, err := s.Open(t.Context(), opening(t, "", join))
		if err != nil || created || again.Interaction.ID != first.Interaction.ID || again.Joined != 1 {
			t.Fatalf("the duplicate: created %v, %d joined, %v", created, again.Joined, err)
		}
		approve(t, s, first.Interaction.ID)
		if _, created, err = s.Open(t.Context(), opening(t, "", join)); err != nil || !created {
			t.Errorf("a request after the end of its duplicate: created %v, %v", created, err)
		}
	})
}

// TestIdempotentOpen checks that a repeated call returns the first request, and that
// a different one under the same key is a conflict.
func TestIdempotentOpen(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, daemon opener) {
		s := daemon("n")
		first, created, err := s.Open(t.Context(), opening(t, "k1", nil))
		if err != nil || !created {
			t.Fatal(created, err)
		}
		second, created, err := s.Open(t.Context(), opening(t, "k1", nil))
		if err != nil || created || second.Interaction.ID != first.Interaction.ID {
			t.Errorf("the repeat returns %s, want %s (%v, %v)", second.Interaction.ID, first.Interaction.ID, created, err)
		}
		_, _, err = s.Open(t.Context(), opening(t, "k1", func(i *bridge.Interaction) { i.Digest = "other" }))
		if bridge.ErrorCode(err) != bridge.CodeConflict {
			t.Errorf("another request under the same key: %v", err)
		}
		if kinds := work(t, s); kinds[life.JobPost] != 2 {
			t.Errorf("the jobs are %v", kinds)
		}
	})
}
