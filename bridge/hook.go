package bridge

import (
	"context"
)

// Webhook sends the outcomes of requests to another system.
type Webhook interface {
	// Name returns the configured name.
	Name() string
	// Wants reports whether the webhook receives the outcomes of an agent's
	// requests.
	Wants(agent string) bool
	// Send delivers one body. The ID is the same for every attempt. It
	// returns CodeNotFound if the receiver no longer accepts messages.
	Send(ctx context.Context, id string, body []byte) error
}
