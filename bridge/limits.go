package bridge

import (
	"context"
	"time"
)

// Limits counts the requests of agents.
type Limits interface {
	// Count adds one request of an agent in the minute of at, and returns
	// the total for that minute.
	Count(ctx context.Context, agent string, at time.Time) (int, error)
}
