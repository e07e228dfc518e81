//go:build !unix

package cli

import (
	"context"
	"io"
)

// UntilUnread returns a context that ends with its parent: here the loss of the
// reader shows only when nod writes.
func UntilUnread(parent context.Context, _ io.Writer) (context.Context, context.CancelFunc) {
	return context.WithCancel(parent)
}
