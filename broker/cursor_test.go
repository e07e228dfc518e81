package broker_test

import (
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// TestCursor checks that a position holds the events after it, even one of the
// same millisecond, and none before it.
func TestCursor(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "n")
		session := func(i *bridge.Interaction) { i.Session = "s" }
		for range 50 {
			before := open(t, b, session).Interaction.ID
			at, err := b.Cursor(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			after := open(t, b, session).Interaction.ID
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

// TestFrontEndsOfEverySession checks that a front end without a session counts in
// every session, and with none.
func TestFrontEndsOfEverySession(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "n")
		for n, join := range []string{"s", "", "other"} {
			if err := b.Join(t.Context(), join, join+"page", n < 2); err != nil {
				t.Fatal(err)
			}
		}
		for session, want := range map[string][2]int{"s": {2, 2}, "": {1, 1}, "other": {2, 1}, "third": {1, 1}} {
			clients, enabled, err := b.Present(t.Context(), session)
			if err != nil || clients != want[0] || enabled != want[1] {
				t.Errorf("session %q: %d, %d, %v, want %v", session, clients, enabled, err, want)
			}
			if s, err := b.Setting(t.Context(), bridge.SettingQuery{Agent: "ci", Session: session}); err != nil || !s.FrontEnds {
				t.Errorf("session %q: %+v, %v", session, s, err)
			}
		}
		if err := b.Leave(t.Context(), "", "page"); err != nil {
			t.Fatal(err)
		}
		if s, err := b.Setting(t.Context(), bridge.SettingQuery{Agent: "ci", Session: "third"}); err != nil || s.FrontEnds {
			t.Errorf("after it has left: %+v, %v", s, err)
		}
	})
}
