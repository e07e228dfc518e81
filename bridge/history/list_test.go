package history_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// TestEventsResumeWithoutGapOrRepeat checks that pages of events contain each
// event once.
func TestEventsResumeWithoutGapOrRepeat(t *testing.T) {
	t.Parallel()
	stored.Bubble(t, func(t *testing.T, daemon stored.Opener) {
		b := daemon("n")
		var want []bridge.ID
		for range 10 {
			r := stored.Open(t, b, func(i *bridge.Interaction) { i.Session = "s1" })
			stored.Open(t, b, func(i *bridge.Interaction) { i.Session = "s2" })
			want = append(want, r.Interaction.ID)
		}
		var got []bridge.ID
		cursor := ""
		for len(got) < 10 {
			events, _, err := b.Events(t.Context(), cursor, bridge.EventFilter{Session: "s1"})
			if err != nil || len(events) == 0 {
				t.Fatalf("%d events after %d, %v", len(events), len(got), err)
			}
			got = append(got, events[0].InteractionID) // resume after each event
			cursor = events[0].Cursor
		}
		if !slices.Equal(want, got) {
			t.Errorf("%v, want %v", got, want)
		}
		if _, _, err := b.Events(t.Context(), "nonsense", bridge.EventFilter{}); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("an invalid cursor: %v", err)
		}
	})
}

// TestForgedEvent checks that an entry which someone else added to the journal does not
// hold up the events after it.
func TestForgedEvent(t *testing.T) {
	t.Parallel()
	stored.Bubble(t, func(t *testing.T, daemon stored.Opener) {
		b := daemon("n")
		entry := broker.Entry{Fields: []string{"t", string(bridge.EventPosted), "i", "1", "x", "{"}}
		stored.Must[broker.Done](t)(b.DB.Do(t.Context(), broker.Change{Journal: []broker.Entry{entry}}))
		id := stored.Open(t, b, nil).Interaction.ID
		events, _, err := b.Events(t.Context(), "", bridge.EventFilter{})
		if err != nil || len(events) == 0 || events[0].InteractionID != id {
			t.Errorf("the events are %+v, %v", events, err)
		}
	})
}

// TestListPages checks that the pages of a list contain each request once.
func TestListPages(t *testing.T) {
	t.Parallel()
	stored.Bubble(t, func(t *testing.T, daemon stored.Opener) {
		b := daemon("n")
		all := map[bridge.ID]bool{}
		for n := range 23 {
			r := stored.Open(t, b, nil)
			all[r.Interaction.ID] = true
			if n%2 == 0 {
				if _, _, err := b.Resolve(t.Context(), stored.Yes(r.Interaction.ID, "U")); err != nil {
					t.Fatal(err)
				}
			}
		}
		for state, want := range map[bridge.State]int{"": 23, bridge.StatePending: 11, bridge.StateApproved: 12} {
			seen := map[bridge.ID]bool{}
			f := bridge.ListFilter{State: state, Limit: 4}
			for {
				page, err := b.List(t.Context(), f)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range page.Items {
					if seen[r.Interaction.ID] {
						t.Errorf("%s is listed twice", r.Interaction.ID)
					}
					seen[r.Interaction.ID] = true
				}
				if f.Cursor = page.Next; f.Cursor == "" {
					break
				}
			}
			if len(seen) != want {
				t.Errorf("state %q: %d listed, want %d", state, len(seen), want)
			}
		}
	})
}

// TestCursor checks that a position holds the events after it, even one of the
// same millisecond, and none before it.
func TestCursor(t *testing.T) {
	t.Parallel()
	stored.Bubble(t, func(t *testing.T, daemon stored.Opener) {
		b := daemon("n")
		session := func(i *bridge.Interaction) { i.Session = "s" }
		for range 50 {
			before := stored.Open(t, b, session).Interaction.ID
			at, err := b.Cursor(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			after := stored.Open(t, b, session).Interaction.ID
			events, _, err := b.Events(t.Context(), at, bridge.EventFilter{})
			if err != nil {
				t.Fatal(err)
			}
			var got []bridge.ID
			for _, e := range events {
				got = append(got, e.InteractionID)
			}
			if !slices.Equal(got, []bridge.ID{after}) {
				t.Fatalf("after %s: %v, want %s", before, got, after)
			}
		}
	})
}

// listed returns the IDs of all pages of a list.
func listed(t *testing.T, s *stored.Store, f bridge.ListFilter) (out []bridge.ID) {
	t.Helper()
	for {
		page := stored.Must[bridge.List](t)(s.List(t.Context(), f))
		for _, r := range page.Items {
			out = append(out, r.Interaction.ID)
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			return out
		}
	}
}

// TestHistory checks that all requests are listed once and in order: also many of one
// millisecond, between other events.
func TestHistory(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)
	s := stored.InMemory(t, nil, func() time.Time { return now })
	type place struct {
		ms int64
		id bridge.ID
	}
	var all []place
	for n := range 400 {
		if n < 200 && n%3 == 0 || n > 300 { // most of the others have the same millisecond
			now = now.Add(time.Millisecond)
		}
		o := stored.Opening(t, "", func(i *bridge.Interaction) { i.Created, i.Deadline, i.Destinations = now, now.Add(time.Hour), nil })
		if _, created, err := s.Open(t.Context(), o); err != nil || !created {
			t.Fatal(created, err)
		}
		all = append(all, place{now.UnixMilli(), o.Interaction.ID})
		if n%2 == 0 {
			stored.Must[bridge.Record](t)(s.Mark(t.Context(), o.Interaction.ID, life.Completed{}))
		}
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Or(cmp.Compare(b.ms, a.ms), cmp.Compare(b.id, a.id)) })
	want := make([]bridge.ID, len(all))
	for k, p := range all {
		want[k] = p.id
	}
	check := func(what string, want []bridge.ID, f bridge.ListFilter) {
		t.Helper()
		if got := listed(t, s, f); !slices.Equal(got, want) {
			t.Errorf("%s: %d are listed, want %d", what, len(got), len(want))
		}
	}
	check("7 at a time", want, bridge.ListFilter{Limit: 7})
	check("200 at a time", want, bridge.ListFilter{Limit: 200, Agent: "ci"})
	check("none", nil, bridge.ListFilter{Agent: "cd"})
	middle := now.Add(-20 * time.Millisecond)
	older := slices.IndexFunc(all, func(p place) bool { return p.ms < middle.UnixMilli() })
	check("from a time", want[:older], bridge.ListFilter{Limit: 7, Since: middle})
	check("up to a time", want[older:], bridge.ListFilter{Limit: 7, Until: middle})
}

// TestListOrder checks that pending requests are listed by deadline, and that a list
// can be limited to a period and to a session.
func TestListOrder(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Millisecond)
	s := stored.InMemory(t, nil, func() time.Time { return now })
	var ids []bridge.ID
	for n := range 5 {
		o := stored.Opening(t, "", func(i *bridge.Interaction) { i.Session = []string{"s", "r"}[n%2] })
		o.Interaction.Created = o.Interaction.ID.Time()
		o.Interaction.Deadline = o.Interaction.Created.Add(time.Duration(60-n) * time.Minute)
		now = o.Interaction.Created
		if _, _, err := s.Open(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, o.Interaction.ID)
		await.Until(t, "each has a millisecond of its own", func() bool { return time.Since(now) > 2*time.Millisecond })
	}
	got := stored.Must[[]bridge.ID](t)(s.Pending(t.Context(), "", ""))
	slices.Reverse(got)
	if !slices.Equal(got, ids) {
		t.Errorf("the pending requests by deadline are %v, want the reverse of %v", got, ids)
	}
	since, until := ids[1].Time(), ids[4].Time()
	for _, f := range []bridge.ListFilter{{Since: since, Until: until, Limit: 2}, {State: bridge.StatePending, Since: since, Until: until}} {
		if got := listed(t, s, f); !slices.Equal(got, []bridge.ID{ids[3], ids[2], ids[1]}) {
			t.Errorf("%+v: %v, want %v", f, got, ids[1:4])
		}
	}
	if got := stored.Must[[]bridge.ID](t)(s.Pending(t.Context(), "ci", "s")); !slices.Equal(got, []bridge.ID{ids[4], ids[2], ids[0]}) {
		t.Errorf("those of a session are %v", got)
	}
}
