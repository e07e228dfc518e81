package bridge

import (
	"context"
	"time"
)

// Limits counts what agents do.
type Limits interface {
	// Count counts one more request of an agent in the minute of at, and
	// returns how many there are.
	Count(ctx context.Context, agent string, at time.Time) (int, error)
	// PendingOf is how many requests of an agent are pending, of those that
	// were opened while it was limited.
	PendingOf(ctx context.Context, agent string) (int, error)
}
