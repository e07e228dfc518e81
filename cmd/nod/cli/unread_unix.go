//go:build unix

package cli

import (
	"context"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nodbridge/nod/bridge/relay"
	"github.com/nodbridge/nod/cmd/nod/terminal"
)

// unreadCheck is the interval of checks for a reader. nod notices within this
// time that an agent has died.
const unreadCheck = time.Second

// UntilUnread returns a context that ends when out has no reader. In that case,
// the agent that started a hook has died without a signal to the hook.
func UntilUnread(parent context.Context, out io.Writer) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	f, ok := terminal.File(out)
	if !ok {
		return ctx, func() { cancel(context.Canceled) }
	}
	go func() {
		for ctx.Err() == nil {
			fds := []unix.PollFd{{Fd: int32(f.Fd())}} // poll always reports errors and hang-ups
			if n, err := unix.Poll(fds, int(unreadCheck.Milliseconds())); err == nil && n > 0 {
				cancel(relay.Withdrawal("the agent has ended"))
			}
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}
