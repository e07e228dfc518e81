package bridge

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
)

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
