package engine

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/bridge/core"
)

// failing fails, and counts how often it is asked.
type failing struct {
	core.Interactions
	calls int
}

// Expire implements core.Interactions.
func (f *failing) Expire(context.Context, int) ([]core.Expiry, bool, error) {
	f.calls++
	return nil, true, errors.New("redis refuses")
}

// TestSweepBacksOff checks that a sweeper whose store refuses does not ask more
// and more.
func TestSweepBacksOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		store := &failing{}
		(&sweeper{store, slog.New(slog.DiscardHandler)}).run(ctx)
		if store.calls < 30 || store.calls > 70 {
			t.Errorf("%d calls in a minute, want about one a second", store.calls)
		}
	})
}
