package broker_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// ballot is the vote of a person on an interaction.
func ballot(id bridge.ID, who string, s bridge.State) bridge.Ballot {
	actor := bridge.Actor{Platform: "slack", User: "U" + who, Person: who}
	scope := bridge.ScopeOnce
	if s == bridge.StateDenied {
		scope = ""
	}
	return bridge.Ballot{
		ID: id, Nonce: who + string(s), Vote: bridge.Vote{Actor: actor, State: s, Scope: scope, At: time.Now().UTC()},
		Response: bridge.Response{State: s, Scope: scope, Actor: &actor, Annotations: map[string]bridge.Annotation{}},
	}
}

func vote(t *testing.T, b *broker.Broker, v bridge.Ballot, want bridge.BallotResult) bridge.Record {
	t.Helper()
	r, got, err := b.Vote(t.Context(), v)
	if err != nil || got != want {
		t.Fatalf("the vote of %s is %q (%v), want %q", v.Vote.Actor.Person, got, err, want)
	}
	return r
}

// TestQuorum checks that an approval that needs two people ends with the second
// of them, and counts each person once.
func TestQuorum(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "n")
		id := open(t, b, func(i *bridge.Interaction) { i.Quorum, i.DenyCounts = 2, true }).Interaction.ID
		r := vote(t, b, ballot(id, "ana", bridge.StateApproved), bridge.BallotCounted)
		vote(t, b, ballot(id, "ana", bridge.StateApproved), "repeat")
		vote(t, b, ballot(id, "ben", bridge.StateDenied), bridge.BallotCounted)
		stale := ballot(id, "cem", bridge.StateApproved)
		stale.Revision = r.Revision
		vote(t, b, stale, "raced")
		last := ballot(id, "ben", bridge.StateApproved) // replaces the denial
		if r = vote(t, b, last, bridge.BallotDecided); r.State != bridge.StateApproved || len(r.Votes) != 2 {
			t.Errorf("it is %s with %d votes", r.State, len(r.Votes))
		}
		vote(t, b, last, bridge.BallotDecided) // a repeat of the winner
		vote(t, b, ballot(id, "cem", bridge.StateDenied), "late")
	})
}

// TestOneDenialEnds checks that a denial ends an approval at once unless denials
// are counted.
func TestOneDenialEnds(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "n")
		id := open(t, b, func(i *bridge.Interaction) { i.Quorum = 3 }).Interaction.ID
		if r := vote(t, b, ballot(id, "ana", bridge.StateDenied), bridge.BallotDecided); r.State != bridge.StateDenied {
			t.Errorf("it is %s", r.State)
		}
		if _, _, err := b.Vote(t.Context(), ballot("01a2004b-9f48-71c4-81b1-1b37eb744b0e", "ana", bridge.StateDenied)); bridge.ErrorCode(err) != bridge.CodeNotFound {
			t.Errorf("a vote on an unknown interaction: %v", err)
		}
	})
}

// TestAmendmentLeavesStep checks that an amendment without a next step, such as a
// snooze, changes neither the step nor its time.
func TestAmendmentLeavesStep(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "n")
		rec := open(t, b, func(i *bridge.Interaction) {
			i.Steps = []bridge.Step{{After: bridge.Duration(time.Hour), Remind: true}}
		})
		amend := func(expect int, then *bridge.NextStep) bridge.Record {
			a := bridge.Amendment{Expect: expect, Interaction: rec.Interaction, Then: then}
			got, err := b.Mark(t.Context(), rec.Interaction.ID, bridge.Mark{Amended: &a})
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		due := func() (n int) {
			jobs, err := b.Claim(t.Context(), 10, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range jobs {
				if j.Kind == bridge.JobStep {
					n++
				}
			}
			return n
		}
		if got := amend(0, nil); got.Step != 0 || due() != 0 {
			t.Errorf("step %d is due", got.Step)
		}
		if got := amend(1, &bridge.NextStep{Index: 1}); got.Step != 1 || due() != 0 {
			t.Errorf("after the last step: step %d is due", got.Step)
		}
		if got := amend(2, &bridge.NextStep{}); got.Step != 0 || due() != 1 {
			t.Errorf("step %d is not due", got.Step)
		}
	})
}

// TestAmendment checks that an amendment asks more people, reminds them and
// takes approvals back, and that one based on an older state is refused.
func TestAmendment(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "n")
		rec := open(t, b, func(i *bridge.Interaction) { i.Quorum = 2 })
		id := rec.Interaction.ID
		vote(t, b, ballot(id, "ana", bridge.StateApproved), bridge.BallotCounted)
		next := rec.Interaction
		next.Destinations = append(next.Destinations, bridge.Destination{Platform: "discord", Channel: "3"})
		next.Terms = 1
		a := bridge.Amendment{
			Interaction: next, Wider: true, Then: &bridge.NextStep{Index: 1, In: time.Minute},
			Reminders: []bridge.Reminder{{Destination: 1, Users: []string{"U2"}, Text: "Still pending."}}, Void: []string{"ana"},
		}
		got, err := b.Mark(t.Context(), id, bridge.Mark{Amended: &a})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Interaction.Destinations) != 3 || got.Interaction.Terms != 1 || got.Amended != 1 || got.Step != 1 || len(got.Votes) != 0 {
			t.Errorf("it is %+v", got)
		}
		if len(got.Reminders) != 1 || got.Reminders[0].Text != "Still pending." {
			t.Errorf("the reminders are %+v", got.Reminders)
		}
		if _, err := b.Mark(t.Context(), id, bridge.Mark{Amended: &a}); bridge.ErrorCode(err) != bridge.CodeConflict {
			t.Errorf("an amendment of an older state: %v", err)
		}
		checkedUnder := 0
		s := yes(id, "U1")
		s.Expect = &checkedUnder
		if _, _, err := b.Settle(t.Context(), s); bridge.ErrorCode(err) != bridge.CodeConflict {
			t.Errorf("a decision on an older state: %v", err)
		}
		kinds := map[bridge.JobKind]int{}
		for _, j := range claimAll(t, b, 4) {
			kinds[j.Kind]++
		}
		if kinds[bridge.JobPost] != 3 || kinds[bridge.JobRemind] != 1 {
			t.Errorf("the jobs are %v", kinds)
		}
	})
}

// TestLateMark checks that a destination can be late, and that an empty mark is
// refused.
func TestLateMark(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "n")
		id := open(t, b, nil).Interaction.ID
		late := bridge.Mark{Late: &bridge.Late{Destination: 1, Delay: time.Minute}}
		if got, err := b.Mark(t.Context(), id, late); err != nil || got.Late[1].IsZero() {
			t.Errorf("late: %v, %v", got.Late, err)
		}
		if _, err := b.Mark(t.Context(), id, bridge.Mark{}); bridge.ErrorCode(err) != bridge.CodeInternal {
			t.Errorf("an empty mark: %v", err)
		}
	})
}

// TestJoin checks that duplicates share one request.
func TestJoin(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "n")
		join := func(i *bridge.Interaction) { i.Session, i.Join = "s", true }
		first := open(t, b, join)
		again, created, err := b.Open(t.Context(), opening(t, b, "", join))
		if err != nil || created || again.Interaction.ID != first.Interaction.ID || again.Joined != 1 {
			t.Fatalf("the duplicate: created %v, %d joined, %v", created, again.Joined, err)
		}
		if _, _, err := b.Settle(t.Context(), yes(first.Interaction.ID, "U1")); err != nil {
			t.Fatal(err)
		}
		if _, created, err = b.Open(t.Context(), opening(t, b, "", join)); err != nil || !created {
			t.Errorf("a request after the end of its duplicate: created %v, %v", created, err)
		}
	})
}
