package broker

import (
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// A settlement whose record is gone for good is not looked for without end.
func TestVerifierGivesUpOnWhatIsGone(t *testing.T) {
	t.Parallel()
	c := redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr()})
	t.Cleanup(func() { c.Close() })
	b, err := New(t.Context(), Options{Client: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	id, err := b.NewID("", "")
	if err != nil {
		t.Fatal(err)
	}
	v := &verifier{core: b.core, settle: b.Settle} // not the broker's own, which looks by its clock
	v.add(bridge.Settlement{ID: id, Nonce: "n"})
	for look := 1; look <= verifyTimes; look++ {
		due := v.recent
		v.recent = nil
		if len(due) != 1 {
			t.Fatalf("look %d has %d settlements", look, len(due))
		}
		v.look(t.Context(), due)
	}
	if len(v.recent) != 0 {
		t.Error("it is still looked for")
	}
}
