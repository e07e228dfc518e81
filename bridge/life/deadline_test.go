package life_test

import (
	"slices"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

// opened returns the documents of an opening, as a store has them.
func opened(t *testing.T, o bridge.Opening, now time.Time) *life.Docs {
	t.Helper()
	out, err := life.Open(&life.Opening{Opening: o}, now, retention)
	if err != nil {
		t.Fatal(err)
	}
	c, err := out.Changes()
	if err != nil {
		t.Fatal(err)
	}
	done := broker.Done{At: now, Entries: make([]string, len(c.Journal))}
	for _, d := range c.Put {
		done.Versions = append(done.Versions, d.NextVersion())
	}
	out.Turn.Stored(c, done)
	return &out.Turn.Docs
}

// TestDeadlineComesFirst checks that whichever rule first sees that a deadline has
// passed applies it before anything else.
func TestDeadlineComesFirst(t *testing.T) {
	t.Parallel()
	actor := bridge.Actor{Platform: "chat", User: "U"}
	yes := bridge.Response{State: bridge.StateApproved, Actor: &actor, Annotations: map[string]bridge.Annotation{}}
	for name, rule := range map[string]func(*life.Turn){
		"the sweep": func(t *life.Turn) { t.Expire() },
		"an answer": func(t *life.Turn) { t.Resolve(bridge.Settlement{ID: t.ID, Nonce: "n", Response: yes}) },
		"a vote": func(t *life.Turn) {
			t.Vote(bridge.Ballot{ID: t.ID, Nonce: "n", Response: yes, Vote: bridge.Vote{Actor: actor, State: yes.State}})
		},
		"a deferral":                 func(t *life.Turn) { t.Mark(bridge.Mark{Queued: time.Hour}) },
		"an amendment":               func(t *life.Turn) { t.Mark(bridge.Mark{Amended: &bridge.Amendment{Interaction: t.Body}}) },
		"the last destination fails": func(t *life.Turn) { t.Mark(bridge.Mark{Failed: &bridge.Failed{Reason: "gone"}}) },
	} {
		for _, end := range []bridge.State{bridge.StateDenied, bridge.StateExpired, bridge.StatePending} {
			t.Run(name+", "+string(end), func(t *testing.T) {
				t.Parallel()
				now := time.UnixMilli(1_800_000_000_000).UTC()
				i := bridge.Interaction{
					ID: "01J0000000000000000000000", Agent: "ci", Digest: "d", Ask: bridge.Ask{Kind: bridge.KindApproval, Approval: &bridge.Approval{Tool: "bash"}},
					Placement: bridge.Placement{Destinations: []bridge.Destination{{Platform: "chat", Channel: "C"}}},
					Schedule:  bridge.Schedule{Created: now, Deadline: now.Add(time.Minute)},
				}
				i.Hold = bridge.Duration(time.Hour)
				timeout := expired()
				timeout.State = end
				d := opened(t, bridge.Opening{Interaction: i, Timeout: timeout, AfterHold: expired()}, now)
				turn := d.Begin(i.Deadline.Add(20*time.Millisecond), retention)
				rule(turn)
				if end == bridge.StatePending {
					if !turn.Life.Queued.Equal(i.Deadline) {
						t.Errorf("deferred at %s, and %q", turn.Life.Queued, turn.Life.State)
					}
				} else if turn.Life.State != end || !turn.Life.At.Equal(i.Deadline) || turn.Life.Response.Actor != nil {
					t.Errorf("it is %q at %s: %+v", turn.Life.State, turn.Life.At, turn.Life.Response)
				}
			})
		}
	}
}

// TestResolvedAt checks that a response has the time of its resolution, unless its own
// time is signed: by the passkey of a person, or by an earlier receipt.
func TestResolvedAt(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000).UTC()
	i := bridge.Interaction{
		ID: "01J0000000000000000000000", Agent: "ci", Digest: "d", Ask: bridge.Ask{Kind: bridge.KindApproval, Approval: &bridge.Approval{Tool: "bash"}},
		Placement: bridge.Placement{Destinations: []bridge.Destination{{Platform: "chat", Channel: "C"}}},
		Schedule:  bridge.Schedule{Created: now, Deadline: now.Add(time.Minute)},
	}
	signed, resolved := now.Add(time.Second), now.Add(2*time.Second)
	for name, c := range map[string]struct {
		receipt string
		by      *bridge.Assertion
		want    time.Time
	}{
		"nothing is signed":    {"", nil, resolved},
		"a passkey has signed": {"", &bridge.Assertion{}, signed},
		"a failover lost it":   {"receipt", nil, signed},
		"both have signed":     {"receipt", &bridge.Assertion{}, signed},
	} {
		turn := opened(t, bridge.Opening{Interaction: i, Timeout: expired()}, now).Begin(resolved, retention)
		yes := bridge.Response{State: bridge.StateApproved, Actor: &bridge.Actor{Platform: "chat", User: "U"}, At: signed, Assertion: c.by}
		turn.Resolve(bridge.Settlement{ID: i.ID, Nonce: "n", Response: yes, Receipt: c.receipt})
		if r := turn.Life.Response; r == nil || !r.At.Equal(c.want) {
			t.Errorf("%s: %+v, want the time %s", name, r, c.want)
		}
	}
}

// TestGuardedCards checks that a card that is posted while its request is resolved
// refuses the resolution, which then sees the card.
func TestGuardedCards(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000).UTC()
	i := bridge.Interaction{
		ID: "01J0000000000000000000000", Agent: "ci", Digest: "d", Ask: bridge.Ask{Kind: bridge.KindApproval, Approval: &bridge.Approval{Tool: "bash"}},
		Placement: bridge.Placement{Destinations: []bridge.Destination{{Platform: "chat", Channel: "C"}, {Platform: "chat", Channel: "D"}}},
		Schedule:  bridge.Schedule{Created: now, Deadline: now.Add(time.Minute)},
	}
	turn := opened(t, bridge.Opening{Interaction: i, Timeout: expired()}, now).Begin(now.Add(time.Second), retention)
	turn.Resolve(bridge.Settlement{ID: i.ID, Nonce: "n", Response: bridge.Response{State: bridge.StateApproved, Actor: &bridge.Actor{Platform: "chat", User: "U"}}})
	c, err := turn.Change()
	if err != nil {
		t.Fatal(err)
	}
	for n := range i.Destinations {
		if k := life.CardKey(i.ID, n); !slices.Contains(c.If, broker.Version{Key: k}) {
			t.Errorf("%v is not guarded by %v", k, c.If)
		}
	}
}
