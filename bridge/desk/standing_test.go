package desk_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/rooms"
	"github.com/nodbridge/nod/platforms/platformtest/fake"
)

// TestStandingIsTold checks that someone whose email address does not count reads
// the reason after a click, and in the reply to the command who.
func TestStandingIsTold(t *testing.T) {
	t.Parallel()
	for standing, right := range bridge.Rights {
		all := fake.NewStaff()
		all.Unknown = standing
		keys, err := bridge.NewKeyring(make([]byte, bridge.MinKey))
		if err != nil {
			t.Fatal(err)
		}
		store := fake.New()
		o := rooms.New(rooms.Options{Options: engine.Options{Store: store, DB: store.DB, Keys: keys, Directory: all}})
		r := store.Put(t, fake.Question("Ship it?"))
		v := bridge.NewView(r, 0, nil, keys.Sign)
		stranger := bridge.Actor{Platform: "chat", User: "U-stranger"}
		got, err := o.Click(t.Context(), bridge.Click{Token: v.Token(bridge.ActionChoose, 0, 0), Actor: stranger})
		if err != nil || got.Kind != bridge.VerdictForbidden || !strings.Contains(got.Note, right.Why) || !strings.Contains(got.Note, "Nothing was recorded") {
			t.Errorf("%q: after a click %+v, %v", standing, got, err)
		}
		said, err := o.Command(t.Context(), bridge.Command{Actor: stranger, Text: "who"})
		if err != nil || !strings.Contains(said, right.Why) {
			t.Errorf("%q: who says %q, %v", standing, said, err)
		}
	}
}
