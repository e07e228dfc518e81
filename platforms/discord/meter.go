package discord

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// meter holds what the headers of a response say about rate limits.
type meter struct {
	empty bool          // no call is left until reset
	reset time.Duration // from the response
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

// longestReset bounds what a response can make nod wait.
const longestReset = time.Minute

// read takes the headers of a response.
func (m *meter) read(h http.Header) {
	seconds, err := strconv.ParseFloat(h.Get("X-RateLimit-Reset-After"), 64)
	if err == nil && seconds > 0 && h.Get("X-RateLimit-Remaining") == "0" {
		m.empty, m.reset = true, min(time.Duration(seconds*float64(time.Second)), longestReset)
	}
}
