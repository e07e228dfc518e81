package grant_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/rooms/grant"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// roomOf returns the room on a store.
func roomOf(s *stored.Store) *grant.Room {
	o := engine.Options{Store: s, DB: s.DB}
	o.Default()
	return grant.New(engine.New(o), o)
}

// TestGrants checks that a grant applies to its agent and session until it expires or
// its session ends, that a request gives it once, and that a dropped one is gone.
func TestGrants(t *testing.T) {
	t.Parallel()
	stored.Bubble(t, func(t *testing.T, daemon stored.Opener) {
		ctx, b := t.Context(), daemon("n")
		s, room := grant.NewGrants(b.Documents()), roomOf(b)
		newGrant := func(agent, session, key string, ttl time.Duration) bridge.Grant {
			return bridge.Grant{Agent: agent, Session: session, Key: key, Origin: bridge.ID(uuid.NewString()), Expires: time.Now().Add(ttl)}
		}
		put := func(g bridge.Grant, want bool) {
			t.Helper()
			c := stored.Must[broker.Change](t)(s.Give(ctx, g))
			if given := !c.Empty(); given != want {
				t.Errorf("given is %v", given)
			} else if given {
				stored.Must[broker.Done](t)(b.DB.Do(ctx, c))
			}
		}
		has := func(agent, session, key string) bool {
			all := stored.Must[[]grant.Held](t)(s.Covering(ctx, agent, session, []string{"none", key}))
			return len(all) == 1 && all[0].Key == key
		}
		mine := newGrant("ci", "s1", "k", time.Hour)
		put(mine, true)
		put(mine, false)
		put(newGrant("ci", "", "always", 2*time.Hour), true)
		put(newGrant("ci", "s1", "old", -time.Second), false)
		put(newGrant("other", "", "k", time.Hour), true)
		for _, x := range []struct {
			agent, session, key string
			want                bool
		}{
			{"ci", "s1", "k", true}, {"ci", "s2", "k", false}, {"ci", "", "k", false}, {"other", "s1", "k", true}, {"third", "s1", "k", false},
			{"ci", "s2", "always", true}, {"ci", "", "always", true}, {"ci", "s1", "old", false},
		} {
			if got := has(x.agent, x.session, x.key); got != x.want {
				t.Errorf("grant %+v: %v", x, got)
			}
		}
		if own, all := stored.Must[bridge.Page[bridge.Grant]](t)(s.All(ctx, "ci")), stored.Must[bridge.Page[bridge.Grant]](t)(s.All(ctx, "")); len(own.Items) != 2 || len(all.Items) != 3 {
			t.Errorf("listed are %+v and %+v", own, all)
		}
		for _, want := range []bool{true, false} {
			if had := stored.Must[bool](t)(s.Revoke(ctx, mine)); had != want {
				t.Errorf("it existed: %v", had)
			}
		}
		if put(mine, false); has("ci", "s1", "k") { // a repeat does not bring back what was revoked
			t.Error("a dropped grant applies")
		}
		put(newGrant("ci", "s1", "k", time.Hour), true)
		stored.NoError(t, room.End(ctx, "ci", "s1"))
		if has("ci", "s1", "k") || !has("ci", "s1", "always") {
			t.Error("the end of a session ends its grants and no others")
		}
		if stored.Pass(t, time.Hour); has("other", "", "k") || !has("ci", "", "always") {
			t.Error("a grant holds until it expires")
		}
	})
}

// TestToolApprovals checks how long an approval that a tool remembers applies, and that
// it is not a grant.
func TestToolApprovals(t *testing.T) {
	t.Parallel()
	stored.Bubble(t, func(t *testing.T, daemon stored.Opener) {
		b := daemon("n")
		s := roomOf(b)
		recall := func(session, key string, want bridge.Scope) {
			t.Helper()
			if got := stored.Must[bridge.Scope](t)(s.Recall(t.Context(), "ci", key, session)); got != want {
				t.Errorf("%s in %s: %q, want %q", key, session, got, want)
			}
		}
		for key, scope := range map[string]bridge.Scope{"o": bridge.ScopeOnce, "s": bridge.ScopeSession, "a": bridge.ScopeAlways} {
			stored.NoError(t, s.Remember(t.Context(), "ci", key, scope, "s1"))
		}
		recall("s1", "o", bridge.ScopeOnce)
		recall("s1", "o", "")
		recall("s1", "s", bridge.ScopeSession)
		recall("s2", "s", "")
		recall("s2", "a", bridge.ScopeAlways)
		stored.NoError(t, s.End(t.Context(), "ci", "s1"))
		recall("s1", "s", "")
		recall("s1", "a", bridge.ScopeAlways)
		if all := stored.Must[[]grant.Held](t)(grant.NewGrants(b.Documents()).Covering(t.Context(), "ci", "s2", []string{"a"})); len(all) > 0 {
			t.Errorf("a tool granted itself: %v", all)
		}
		expired := broker.Member{Index: "memory", Name: "ci\x00s3\x00k", At: time.Now().Add(-time.Hour)}
		stored.Must[broker.Done](t)(b.DB.Do(t.Context(), broker.Change{Set: []broker.Member{expired}}))
		stored.NoError(t, s.End(t.Context(), "cd", "s1"))
		if n := stored.Must[int](t)(b.DB.Count(t.Context(), "memory", time.Time{})); n != 1 {
			t.Errorf("with one that has expired, the index has %d members; want 1 after the end of a session", n)
		}
		stored.NoError(t, s.Remember(t.Context(), "ci", "raced", bridge.ScopeOnce, "s1"))
		var once atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if got, err := s.Recall(t.Context(), "ci", "raced", "s1"); err != nil || got != "" {
					once.Add(1)
				}
			})
		}
		if all.Wait(); once.Load() != 1 {
			t.Errorf("one approval was used %d times", once.Load())
		}
	})
}
