package client

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// window returns the longest wait of one call.
func (c *Client) window() time.Duration { return cmp.Or(c.Window, pollFor) }

// grace returns the time in which the daemon must answer after a wait.
func (c *Client) grace() time.Duration { return min(c.window(), pollGrace) }

// poll repeats a call that waits until it is done. The first call has its own
// wait time. After a failure, a call does not wait, because an immediate answer
// shows that the daemon is back.
func (c *Client) poll(ctx context.Context, wait time.Duration, call func(ctx context.Context, wait string) (done bool, err error)) error {
	for {
		began, done := time.Now(), false
		err := c.retry(ctx, func(ctx context.Context) (err error) {
			if done, err = call(ctx, wait.String()); err != nil {
				wait = atOnce
			}
			return err
		})
		if err != nil || done {
			return err
		}
		if wait != atOnce && time.Since(began) < shortPoll && !bridge.Pause(ctx, shortPoll) { // the daemon did not wait
			return context.Cause(ctx)
		}
		wait = c.window()
	}
}

// retry repeats a call that failed because the daemon was unreachable. The
// outage begins at the failure, or when the answer was due.
func (c *Client) retry(ctx context.Context, call func(context.Context) error) error {
	var began time.Time
	told := false
	for pause := retryFirst; ; pause = min(2*pause, retryMost) {
		err := call(ctx)
		if own, ok := errors.AsType[callbackError](err); ok {
			return own.error
		}
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if code := bridge.ErrorCode(err); err == nil || code != bridge.CodeUnavailable && code != bridge.CodeRateLimited {
			return err
		}
		if began.IsZero() {
			if began = time.Now(); errors.Is(err, context.DeadlineExceeded) {
				began = began.Add(-c.grace())
			}
		}
		past, after := time.Since(began), retryAfter(err)
		if past+after > c.patience(err) {
			return err
		}
		if past+pause > tellAfter && !told && c.Retrying != nil {
			told = true
			c.Retrying(err)
		}
		if !bridge.Pause(ctx, max(pause*time.Duration(80+rand.IntN(21))/100, after)) { // callers must not retry together
			return context.Cause(ctx)
		}
	}
}

// retryAfter returns the pause that an error requests.
func retryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*bridge.Error](err); ok {
		return e.RetryAfter
	}
	return 0
}

// patience returns the time for which calls may fail with err.
func (c *Client) patience(err error) time.Duration {
	patience := cmp.Or(c.Patience, giveUp)
	if c.FirstPatience != 0 && !c.reached.Load() && misdirected(err) {
		return min(patience, c.FirstPatience)
	}
	return patience
}
