package bridge

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ErrPaced is wrapped by the error of a platform that queued a call behind its
// rate limit. Nothing was sent, and the call is possible after RetryAfter.
var ErrPaced = errors.New("queued behind the rate limit")

// ErrRefused is wrapped by the error of a call that a platform refused because
// of nod's account. The adapter checks whether the account is still valid.
// Until then, the call can be repeated, as after an outage.
var ErrRefused = errors.New("the account was refused")

// ErrDeleted is wrapped by the error of a call about a message that no longer
// exists.
var ErrDeleted = errors.New("the message was deleted")

// ErrClosed is wrapped by the error of a call about a channel in which no one can use
// a message: it was archived or deleted.
var ErrClosed = errors.New("the channel is closed")

// ErrFrozen is wrapped by the error of a call about a message that people see,
// but that nod can no longer change.
var ErrFrozen = errors.New("the message cannot be changed")

// ErrUnconfirmed is wrapped by the error of a change that was stored, but that
// too few replicas have confirmed. The change may be lost, and does not count
// until enough replicas confirm it.
var ErrUnconfirmed = errors.New("not confirmed by the replicas")

// NotRecorded returns the text for a person whose click ended in an error.
func NotRecorded(err error) string {
	if errors.Is(err, ErrUnconfirmed) {
		return NoteUnconfirmed
	}
	return NoteNotRecorded
}

// longestPause is the longest pause that RetryAfter returns. It prevents an
// overflow if a server sends a wrong time.
const longestPause = 365 * 24 * time.Hour

// RetryAfter returns the pause in the Retry-After header of a response. The
// header is a number of seconds, or a time by the clock of the sender. Without
// the header, the pause is zero. The caller must limit it.
func RetryAfter(h http.Header) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds > 0 {
		return time.Duration(min(seconds, longestPause.Seconds()) * float64(time.Second))
	}
	at, err := http.ParseTime(text)
	sent, also := http.ParseTime(h.Get("Date"))
	if err != nil || also != nil {
		return 0
	}
	return min(max(at.Sub(sent), 0), longestPause)
}

// Pause waits for d. It returns false if ctx ends first.
func Pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
