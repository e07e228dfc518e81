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
func opened(t *testing.T, o life.Opening, now time.Time) *life.Docs {
	t.Helper()
	out, err := life.Open(&o, now, retention)
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
		"an answer": func(t *life.Turn) { t.Resolve(life.Resolution{ID: t.ID, Nonce: "n", Response: yes}) },
		"a vote": func(t *life.Turn) {
			t.Vote(life.Ballot{ID: t.ID, Nonce: "n", Response: yes, Vote: bridge.Vote{Actor: actor, State: yes.State}})
		},
		"a deferral":                 func(t *life.Turn) { t.Mark(life.Deferred{Hold: time.Hour}) },
		"an amendment":               func(t *life.Turn) { t.Mark(life.Amendment{Interaction: t.Body}) },
		"the last destination fails": func(t *life.Turn) { t.Mark(life.Failed{Reason: "gone"}) },
	} {
		for onTimeout, end := range map[bridge.OnTimeout]bridge.State{
			bridge.OnTimeoutDeny: bridge.StateDenied, bridge.OnTimeoutExpire: bridge.StateExpired, bridge.OnTimeoutPending: bridge.StatePending,
		} {
			t.Run(name+", "+string(end), func(t *testing.T) {
				t.Parallel()
				now := time.UnixMilli(1_800_000_000_000).UTC()
				i := bridge.Interaction{
					ID: "01J0000000000000000000000", Agent: "ci", Digest: "d", Ask: bridge.Ask{Kind: bridge.KindApproval, Approval: &bridge.Approval{Tool: "bash"}},
					Placement: bridge.Placement{Destinations: []bridge.Destination{{Platform: "chat", Channel: "C"}}},
					Schedule:  bridge.Schedule{Created: now, Deadline: now.Add(time.Minute)},
				}
				i.Hold, i.OnTimeout = bridge.Duration(time.Hour), onTimeout
				d := opened(t, life.Opening{Interaction: i}, now)
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

// TestTimeoutResponse checks the response of an interaction that no one answers.
func TestTimeoutResponse(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000).UTC()
	for name, c := range map[string]struct {
		ask      bridge.Ask
		deferred bool
		state    bridge.State
		reason   string
		answers  string
	}{
		"expires":  {ask: bridge.Ask{Kind: bridge.KindApproval}, state: bridge.StateExpired},
		"denies":   {ask: bridge.Ask{Kind: bridge.KindApproval, OnTimeout: bridge.OnTimeoutDeny}, state: bridge.StateDenied, reason: "no one answered in time"},
		"a notice": {ask: bridge.Ask{Kind: bridge.KindNotice, OnTimeout: bridge.OnTimeoutPending}, state: bridge.StateUndeliverable, reason: "the notice could not be shown in time"},
		"deferred": {
			ask: bridge.Ask{Kind: bridge.KindApproval, OnTimeout: bridge.OnTimeoutDeny}, deferred: true,
			state: bridge.StateExpired, reason: "no one answered while it was deferred",
		},
		"defaults, but no initial values": {
			ask: bridge.Ask{
				Kind: bridge.KindAsk, OnTimeout: bridge.OnTimeoutDefault, Initial: map[string]bridge.Answer{"q": bridge.TextAnswer("c")},
				Questions: []bridge.Question{{ID: "q", Widget: bridge.WidgetText, Default: new(bridge.TextAnswer("b"))}},
			},
			state: bridge.StateAnswered, reason: "no one answered in time, so the defaults apply", answers: "b",
		},
	} {
		i := bridge.Interaction{ID: "01J0000000000000000000000", Agent: "ci", Digest: "d", Ask: c.ask, Schedule: bridge.Schedule{Created: now, Deadline: now.Add(time.Minute)}}
		i.Hold = bridge.Duration(time.Hour)
		d := opened(t, life.Opening{Interaction: i, Queued: c.deferred}, now)
		turn := d.Begin(d.Life.Deadline, retention)
		turn.Expire()
		r := turn.Life.Response
		if r == nil || r.State != c.state || r.Reason != c.reason || !r.At.Equal(d.Life.Deadline) || r.Digest != "d" || r.Answers["q"].Text != c.answers {
			t.Errorf("%s: %+v", name, r)
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
		turn := opened(t, life.Opening{Interaction: i}, now).Begin(resolved, retention)
		yes := bridge.Response{State: bridge.StateApproved, Actor: &bridge.Actor{Platform: "chat", User: "U"}, At: signed, Assertion: c.by}
		turn.Resolve(life.Resolution{ID: i.ID, Nonce: "n", Response: yes, Receipt: c.receipt})
		if r := turn.Life.Response; r == nil || !r.At.Equal(c.want) {
			t.Errorf("%s: %+v, want the time %s", name, r, c.want)
		}
	}
}

// TestSessionKeepsLongest checks that a session names an interaction as long as any
// interaction can live: deferred at its deadline for the longest time, and then kept.
func TestSessionKeepsLongest(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000).UTC()
	i := bridge.Interaction{
		ID: "01J0000000000000000000000", Agent: "ci", Digest: "d", Ask: bridge.Ask{Kind: bridge.KindApproval, Approval: &bridge.Approval{Tool: "bash"}, Session: "s"},
		Schedule: bridge.Schedule{Created: now, Deadline: now.Add(time.Minute)},
	}
	i.OnTimeout, i.Hold = bridge.OnTimeoutPending, bridge.Duration(bridge.MaxTimeout)
	out, err := life.Open(&life.Opening{Interaction: i}, now, retention)
	if err != nil {
		t.Fatal(err)
	}
	c, err := out.Changes()
	if err != nil {
		t.Fatal(err)
	}
	turn := opened(t, life.Opening{Interaction: i}, now).Begin(i.Deadline, retention)
	turn.Expire()
	n := slices.IndexFunc(c.Set, func(m broker.Member) bool { return m.Index == life.SessionIndex("ci", "s") })
	if n < 0 || now.Add(c.Set[n].IndexTTL).Before(turn.Life.KeptUntil) {
		t.Errorf("the session names it with %+v, and it lives until %s", c.Set, turn.Life.KeptUntil)
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
	turn := opened(t, life.Opening{Interaction: i}, now).Begin(now.Add(time.Second), retention)
	turn.Resolve(life.Resolution{ID: i.ID, Nonce: "n", Response: bridge.Response{State: bridge.StateApproved, Actor: &bridge.Actor{Platform: "chat", User: "U"}}})
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

// TestVoteIsKept checks that a vote that does not decide is as safe as a decision.
func TestVoteIsKept(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000).UTC()
	i := bridge.Interaction{
		ID: "01J0000000000000000000000", Agent: "ci", Digest: "d", Ask: bridge.Ask{Kind: bridge.KindApproval, Approval: &bridge.Approval{Tool: "bash"}},
		Schedule: bridge.Schedule{Created: now, Deadline: now.Add(time.Minute)},
	}
	i.Quorum = 2
	turn := opened(t, life.Opening{Interaction: i}, now).Begin(now.Add(time.Second), retention)
	vote := bridge.Vote{Actor: bridge.Actor{Platform: "chat", User: "U"}, State: bridge.StateApproved}
	if v := turn.Vote(life.Ballot{ID: i.ID, Nonce: "n", Vote: vote, Response: bridge.Response{State: vote.State}}); v != life.Done {
		t.Fatalf("the verdict is %v", v)
	}
	if c, err := turn.Change(); err != nil || !c.Urgent || !c.Replicated {
		t.Errorf("urgent: %v, replicated: %v (%v)", c.Urgent, c.Replicated, err)
	}
}

// TestAwaited checks that a resolution with Awaited, which takes effect only while
// the agent waits, does not close a deferred interaction, not even one that is
// deferred in the same turn.
func TestAwaited(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000).UTC()
	for name, c := range map[string]struct {
		deferred bool
		at       time.Duration
		want     life.Verdict
	}{
		"waiting":                  {false, time.Second, life.Won},
		"deferred":                 {true, time.Second, life.Changed},
		"deferred by its deadline": {false, time.Minute, life.Changed},
	} {
		i := bridge.Interaction{ID: "01J0000000000000000000000", Agent: "ci", Ask: bridge.Ask{Kind: bridge.KindAsk, OnTimeout: bridge.OnTimeoutPending}}
		i.Schedule, i.Hold = bridge.Schedule{Created: now, Deadline: now.Add(time.Minute)}, bridge.Duration(time.Hour)
		turn := opened(t, life.Opening{Interaction: i, Queued: c.deferred}, now).Begin(now.Add(c.at), retention)
		got := turn.Resolve(life.Resolution{Response: expired(), Awaited: true})
		if got != c.want || turn.Life.Queued.IsZero() != (c.want == life.Won) || (turn.Life.State == "") != (c.want == life.Changed) {
			t.Errorf("%s: %s, %q", name, got, turn.Life.State)
		}
	}
}
