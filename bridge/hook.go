package bridge

import (
	"context"
)

// Webhook tells another system how requests ended.
type Webhook interface {
	Name() string
	// Wants reports whether it is told about an agent's requests.
	Wants(agent string) bool
	// Send delivers one body, whose id is the same for every try.
	// CodeNotFound: the receiver wants no more.
	Send(ctx context.Context, id string, body []byte) error
}
