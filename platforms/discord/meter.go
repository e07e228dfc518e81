package discord

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// meter holds the rate limit headers of a response.
type meter struct {
	empty bool          // no call is left until reset
	reset time.Duration // time to wait, from the response
}

type meterKey struct{}

// withMeter returns a context whose calls set m.
func withMeter(ctx context.Context, m *meter) context.Context {
	return context.WithValue(ctx, meterKey{}, m)
}

// meterOf returns the meter of a context, or an empty one.
func meterOf(ctx context.Context) *meter {
	if m, ok := ctx.Value(meterKey{}).(*meter); ok {
		return m
	}
	return &meter{}
}

// longestReset is the longest wait that a response can cause.
const longestReset = time.Minute

// read reads the headers of a response.
func (m *meter) read(h http.Header) {
	seconds, err := strconv.ParseFloat(h.Get("X-RateLimit-Reset-After"), 64)
	if err == nil && seconds > 0 && h.Get("X-RateLimit-Remaining") == "0" {
		m.empty, m.reset = true, min(time.Duration(seconds*float64(time.Second)), longestReset)
	}
}
