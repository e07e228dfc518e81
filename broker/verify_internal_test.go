package broker

import (
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// TestVerifierDropsLostRecords checks that the verifier stops checking a
// settlement whose record no longer exists.
func TestVerifierDropsLostRecords(t *testing.T) {
	t.Parallel()
	c := redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr()})
	t.Cleanup(func() { c.Close() })
	b, err := New(t.Context(), Options{Client: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	id, err := bridge.NewID()
	if err != nil {
		t.Fatal(err)
	}
	v := &verifier{core: b.core, settle: b.Settle} // the one of the broker runs on its own
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
		t.Error("the settlement is still checked")
	}
}
