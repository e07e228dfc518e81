package platforms

import (
	"math"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// TestHoldIsBounded checks that one response with an absurd time does not stop a
// channel for all daemons for years: holds outlive a restart.
func TestHoldIsBounded(t *testing.T) {
	t.Parallel()
	for given, want := range map[time.Duration]string{
		math.MaxInt64: `post C "k" 1h0m0s`, 2 * time.Hour: `post C "k" 1h0m0s`, 59 * time.Minute: `post C "k" 59m0s`, 0: `post C "k" 1s`,
	} {
		store := &turns{}
		p := paced(store, false)
		err := p.Do(t.Context(), "C", Turn{Key: "k"}, func() error {
			e := bridge.Errorf(bridge.CodeRateLimited, "later")
			e.RetryAfter = given
			return e
		})
		if bridge.ErrorCode(err) != bridge.CodeRateLimited || len(store.holds) != 1 || store.holds[0] != want {
			t.Errorf("%s: %v, %v", given, store.holds, err)
		}
	}
}
