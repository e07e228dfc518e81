package desk_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

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

// TestMissingIsTold checks that a list whose requests depend on a group that nod cannot
// read says so, even when it has other requests.
func TestMissingIsTold(t *testing.T) {
	t.Parallel()
	keys, err := bridge.NewKeyring(make([]byte, bridge.MinKey))
	if err != nil {
		t.Fatal(err)
	}
	bo := bridge.Actor{Platform: "chat", User: "U-bo", Person: "bo"}
	for _, other := range []bool{false, true} {
		for _, word := range []string{"mine", "pending"} {
			all, store := fake.NewStaff(), fake.New()
			routes := map[string]bridge.Route{"default": {Destinations: []bridge.Destination{{Platform: "chat", Channel: "C"}}, Responders: []bridge.Responder{{Person: "bo", Platform: "chat", User: "U-bo"}}}}
			o := rooms.New(rooms.Options{Options: engine.Options{Store: store, DB: store.DB, Keys: keys, Directory: flaky{all}, Routes: routes}})
			i := fake.Question("Ship it?")
			i.Responders, i.Groups = nil, []string{"crew"}
			store.Put(t, i)
			if other {
				store.Put(t, fake.Question("Or that?"))
			}
			said, err := o.Command(t.Context(), bridge.Command{Actor: bo, Channels: []string{"C"}, Text: word})
			if err != nil || !strings.Contains(said, "nod cannot read @crew") || strings.Contains(said, "Or that?") != other || strings.Contains(said, "Ship it?") {
				t.Errorf("%s, with another request %v: %q, %v", word, other, said, err)
			}
		}
	}
}

// flaky is a directory whose groups cannot be read.
type flaky struct{ *fake.Staff }

func (flaky) Member(context.Context, string, bridge.Actor, time.Time) (bool, error) {
	return false, errors.New("unreachable")
}
