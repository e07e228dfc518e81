package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// TestPresence checks the count of the front ends of a session. A front end without a
// session counts in every session, and a silent front end does not count.
func TestPresence(t *testing.T) {
	t.Parallel()
	stored.Bubble(t, func(t *testing.T, daemon stored.Opener) {
		ctx, s := t.Context(), engine.NewPresence(daemon("n").Documents())
		count := func(session string, clients, enabled int) {
			t.Helper()
			x, y, err := s.Present(ctx, session)
			if err != nil || x != clients || y != enabled {
				t.Errorf("present %d, enabled %d, %v; want %d, %d", x, y, err, clients, enabled)
			}
		}
		join := func(session, client string, enabled bool) {
			t.Helper()
			stored.NoError(t, s.Join(ctx, session, client, enabled))
		}
		count("s", 0, 0)
		join("s", "a", true)
		join("s", "b", false)
		join("s", "a", true)
		count("s", 2, 1)
		join("s", "a", false)
		join("s", "b", true)
		count("s", 2, 1)
		stored.NoError(t, s.Leave(ctx, "s", "b"))
		count("s", 1, 0)
		join("", "page", true)
		join("other", "c", false)
		for session, want := range map[string][2]int{"s": {2, 1}, "": {1, 1}, "other": {2, 1}, "third": {1, 1}} {
			count(session, want[0], want[1])
		}
		stored.Pass(t, engine.PresenceTTL-time.Second)
		join("s", "a", true)
		stored.Pass(t, 2*time.Second)
		count("s", 1, 1)
		count("other", 0, 0)
	})
}

// TestLinks checks that linked accounts are found, listed and dropped.
func TestLinks(t *testing.T) {
	t.Parallel()
	stored.Bubble(t, func(t *testing.T, daemon stored.Opener) {
		ctx, s := t.Context(), engine.NewLinked(daemon("n").Documents())
		link := bridge.Link{Platform: "slack", User: "U1", Person: "ana"}
		stored.NoError(t, s.PutLink(ctx, link))
		if got := stored.Must[bridge.Link](t)(s.Linked(ctx, "slack", "U1")); got != link {
			t.Errorf("the link is %+v", got)
		}
		if got := stored.Must[bridge.Link](t)(s.Linked(ctx, "slack", "U2")); got.Person != "" {
			t.Errorf("an account without a link has %+v", got)
		}
		if all := stored.Must[bridge.Page[bridge.Link]](t)(s.Links(ctx)); !slices.Equal(all.Items, []bridge.Link{link}) {
			t.Errorf("the links are %+v", all)
		}
		for _, want := range []bool{true, false} {
			if had := stored.Must[bool](t)(s.DropLink(ctx, "slack", "U1")); had != want {
				t.Errorf("it existed: %v", had)
			}
		}
	})
}
