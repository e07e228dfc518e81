package broker

import (
	"fmt"
	"testing"

	"github.com/nodbridge/nod/broker/redistest"
)

// TestExpiryBehindNewer checks that requests expire although many of a newer
// version, which this one leaves alone, are due before them.
func TestExpiryBehindNewer(t *testing.T) {
	t.Parallel()
	w := newTwoWays(t, redistest.Start(t).Addr)
	for n := range 3 * expireMost {
		id := w.open(t, request{})
		if n > 0 {
			w.set(t, w.both.core.keys.record(id), "c", fmt.Sprint("9|", n))
		}
		if n > 0 {
			w.due(t, 1, id)
		} else {
			w.due(t, 2, id)
		}
	}
	over, _, err := w.both.Expire(t.Context(), 100)
	if err != nil || len(over) != 1 || over[0].ID != w.ids[0] {
		t.Fatalf("%v, %v", over, err)
	}
}
