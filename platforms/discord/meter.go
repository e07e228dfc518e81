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
	all   bool          // the limit of all calls of the bot is used up
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

// headers reads the headers of responses, which the SDK does not return.
type headers struct{ base http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	base := h.base
	if base == nil {
		base = http.DefaultTransport
	}
	resp, err := base.RoundTrip(r)
	if err != nil {
		return resp, err
	}
	m := meterOf(r.Context())
	seconds, err := strconv.ParseFloat(resp.Header.Get("X-RateLimit-Reset-After"), 64)
	if err == nil && seconds > 0 && resp.Header.Get("X-RateLimit-Remaining") == "0" {
		m.empty, m.reset = true, min(time.Duration(seconds*float64(time.Second)), longestReset)
	}
	m.all = resp.Header.Get("X-RateLimit-Global") == "true"
	return resp, nil
}
