package bridge

import (
	"context"
	"time"
)

// Observer receives the activities of an engine. Its method is called from many
// goroutines and must not block.
type Observer interface {
	Observe(Activity)
}

// Activity is one operation of an engine.
type Activity struct {
	Name string // a JobKind, "form" or "click"
	// Place is the name of the platform or webhook.
	Place string
	ID    ID     // of the interaction; empty if unknown
	Trace string // of the interaction; see [WithTrace]
	Began time.Time
	// Result is the kind of the verdict on a click. It is empty for other
	// activities and if the click failed with Err.
	Result VerdictKind
	Err    error
}

// Stats describes the workload of the complete deployment.
type Stats struct {
	// Ages holds the ages of the pending requests. If there are too many, it is
	// a sample, and each age represents Weight requests.
	Ages    []time.Duration
	Weight  float64
	Pending int64 // number of pending requests
	// Overdue is the time since the earliest deadline that has passed.
	Overdue time.Duration
	Jobs    int64 // queued posts, updates, reminders and webhooks
	// Lag is the time that the oldest due job has been waiting.
	Lag  time.Duration
	Dead int64 // dead letters; the newest 1000 are kept
	// Waiting is the number of blocked callers of this daemon.
	Waiting int64
}

// TraceKey is the context key of [WithTrace].
type TraceKey struct{}

// WithTrace returns a context for opening a request that continues a trace,
// which has the form of a traceparent (W3C Trace Context).
func WithTrace(ctx context.Context, trace string) context.Context {
	return context.WithValue(ctx, TraceKey{}, trace)
}
