package client

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// retry repeats a call that failed because the daemon was unreachable.
func (c *Client) retry(ctx context.Context, call func(context.Context) error) error {
	out := outage{pause: retryFirst, began: time.Now()}
	for {
		start := time.Now()
		err := call(ctx)
		if own, ok := errors.AsType[callbackError](err); ok {
			return own.error
		}
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if code := bridge.ErrorCode(err); err == nil || code != bridge.CodeUnavailable && code != bridge.CodeRateLimited {
			return err
		}
		out.failed(start, errors.Is(err, context.DeadlineExceeded))
		past := time.Since(out.began)
		pause := max(out.pause*time.Duration(80+rand.IntN(21))/100, retryAfter(err)) // not all callers at once
		if past > c.patience(err) || pause > out.pause && past+pause > c.patience(err) {
			return err
		}
		if past+out.pause > tellAfter && !out.told && c.Retrying != nil {
			out.told = true
			c.Retrying(err)
		}
		if !bridge.Pause(ctx, pause) {
			return ctx.Err()
		}
		out.pause = min(2*out.pause, retryMost)
	}
}

// retryAfter returns the pause that an error asks for.
func retryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*bridge.Error](err); ok {
		return e.RetryAfter
	}
	return 0
}

// patience returns how long calls may fail with err.
func (c *Client) patience(err error) time.Duration {
	patience := cmp.Or(c.Patience, giveUp)
	if c.FirstPatience != 0 && !c.reached.Load() && misdirected(err) {
		return min(patience, c.FirstPatience)
	}
	return patience
}

// outage is a period in which the daemon does not respond.
type outage struct {
	began time.Time
	pause time.Duration // before the next call
	hung  bool          // a call timed out
	told  bool          // Retrying was called
}

// failed records a failed call that began at start. If the daemon was reachable
// in between, a new outage begins.
func (o *outage) failed(start time.Time, late bool) {
	switch {
	case late && !o.hung:
		*o = outage{time.Now().Add(-pollGrace), retryFirst, true, o.told} // the response was due by then
	case !late && time.Since(start) > retryMost:
		*o = outage{time.Now(), retryFirst, false, false} // the daemon was reachable for a while
	}
}
