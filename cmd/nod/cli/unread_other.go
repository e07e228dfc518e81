//go:build !unix

package cli

import (
	"context"
	"io"
)

// UntilUnread returns a context that ends with its parent. On this system, nod
// learns only from a failed write that no one reads its output.
func UntilUnread(parent context.Context, _ io.Writer) (context.Context, context.CancelFunc) {
	return context.WithCancel(parent)
}
