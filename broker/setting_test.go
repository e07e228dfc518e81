package broker_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// TestSetting checks that one reading returns the grants and whether a front end
// can answer.
func TestSetting(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "n")
		ctx := t.Context()
		for _, g := range []bridge.Grant{
			{Agent: "ci", Key: "always", Expires: time.Now().Add(time.Hour)},
			{Agent: "ci", Session: "s", Key: "mine", Expires: time.Now().Add(time.Hour)},
			{Agent: "ci", Session: "other", Key: "theirs", Expires: time.Now().Add(time.Hour)},
			{Agent: "ci", Session: "s", Key: "old", Expires: time.Now().Add(-time.Hour)},
		} {
			g.Origin = bridge.ID(uuid.NewString())
			if _, err := b.PutGrant(ctx, g); err != nil {
				t.Fatal(err)
			}
		}
		read := func(session string) ([]string, bool) {
			t.Helper()
			s, err := b.Setting(ctx, bridge.SettingQuery{
				Agent: "ci", Session: session, Grants: []string{"always", "mine", "theirs", "old", "none"},
			})
			if err != nil {
				t.Fatal(err)
			}
			var keys []string
			for _, g := range s.Grants {
				keys = append(keys, g.Key)
			}
			return keys, s.FrontEnds
		}
		if keys, front := read(""); !slices.Equal(keys, []string{"always"}) || front {
			t.Error(keys, front)
		}
		if keys, front := read("s"); !slices.Equal(keys, []string{"always", "mine"}) || front {
			t.Error(keys, front)
		}
		for _, able := range []bool{false, true} {
			if err := b.Join(ctx, "s", "client", able); err != nil {
				t.Fatal(err)
			}
			if _, front := read("s"); front != able {
				t.Errorf("a front end that can answer: %t, read %t", able, front)
			}
		}
		if err := b.Leave(ctx, "s", "client"); err != nil {
			t.Fatal(err)
		}
		if _, front := read("s"); front {
			t.Error("a front end that left can answer")
		}
	})
}
