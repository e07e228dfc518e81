package broker

import (
	"slices"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// listed returns the IDs of all pages of a list.
func listed(t *testing.T, s *side, f bridge.ListFilter) []bridge.ID {
	t.Helper()
	var out []bridge.ID
	for {
		page, err := s.List(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Items {
			out = append(out, r.Interaction.ID)
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			return out
		}
	}
}

// TestHistory checks that all requests are listed once and in order: also many
// of one millisecond, between other events.
func TestHistory(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)
	s := newSide(t, now)
	var all []place
	for n := range 400 {
		if n < 200 && n%3 == 0 || n > 300 { // most of the others have the same millisecond
			now = now.Add(time.Millisecond)
			s.server.SetTime(now)
		}
		id, err := bridge.NewID()
		if err != nil {
			t.Fatal(err)
		}
		o := bridge.Opening{Interaction: bridge.Interaction{
			ID: id, Ask: bridge.Ask{Kind: bridge.KindNotice, Prompt: "?"}, Agent: "ci",
			Schedule: bridge.Schedule{Created: now, Deadline: now.Add(time.Hour)},
		}, Timeout: bridge.Response{State: bridge.StateUndeliverable}}
		if _, created, err := s.Open(t.Context(), o); err != nil || !created {
			t.Fatal(created, err)
		}
		all = append(all, place{now.UnixMilli(), string(id)})
		if n%2 == 0 {
			if _, err := s.Mark(t.Context(), id, bridge.Mark{Joined: true}); err != nil {
				t.Fatal(err)
			}
		}
	}
	slices.SortFunc(all, place.compare)
	want := make([]bridge.ID, len(all))
	for k, p := range all {
		want[k] = bridge.ID(p.id)
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
