package bridge

import (
	"context"
	"time"
)

// Observer is told what an engine has done with platforms and receivers. Its
// method is called from many goroutines, and must not block.
type Observer interface {
	Observe(Activity)
}

// Activity is one thing that an engine did.
type Activity struct {
	Name string // a JobKind, form or click
	// Place is the name of the platform or the webhook.
	Place string
	ID    ID     // of the interaction; empty: it is not known
	Trace string // of the interaction; see [WithTrace]
	Began time.Time
	// Result is the kind of the verdict on a click; empty: Err says it.
	Result VerdictKind
	Err    error
}

// Stats is how much there is to do, in all of the deployment.
type Stats struct {
	// Ages are those of what is pending, a sample where there is very much;
	// each stands for Weight of them.
	Ages    []time.Duration
	Weight  float64
	Pending int64 // requests that wait for an answer
	// Overdue is how long the oldest of them has been past its deadline.
	Overdue time.Duration
	Jobs    int64 // messages to be sent or redrawn, reminders and webhooks
	// Lag is how long the oldest due job has been waiting to be worked on.
	Lag  time.Duration
	Dead int64 // jobs given up; the newest 1000 of a partition are kept
	// Waiting are the callers of this daemon that are blocked.
	Waiting int64
}

type TraceKey struct{}

// WithTrace returns a context in which a request is opened: trace is what the
// request carries on, as W3C Trace Context writes a traceparent.
func WithTrace(ctx context.Context, trace string) context.Context {
	return context.WithValue(ctx, TraceKey{}, trace)
}
