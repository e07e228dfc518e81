package discord

import (
	"log/slog"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/platforms"
)

// TestReadyInTime checks that nod gives up a connection whose session does not become
// ready, and keeps one whose session is.
func TestReadyInTime(t *testing.T) {
	t.Parallel()
	for _, ready := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var work sync.WaitGroup
			defer work.Wait()
			c := &connection{
				g: &gateway{deaf: math.MaxInt64, health: &platforms.HealthBox{}, commands: &commands{registered: true}},
				s: &session{}, in: inbox{work: platforms.NewWork(&work)}, every: math.MaxInt64,
			}
			c.g.health.Log = slog.New(slog.DiscardHandler)
			c.acked.Store(time.Now().UnixNano())
			if ready {
				c.ready(t.Context())
			}
			ended := make(chan struct{})
			time.AfterFunc(2*openTimeout, func() { close(ended) })
			if gaveUp := c.beat(t.Context(), ended); gaveUp == ready {
				t.Errorf("ready: %v, and gave up: %v", ready, gaveUp)
			}
		})
	}
}
