package engine

import (
	"context"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// observe tells the observer, if there is one.
func (e *Engine) observe(a bridge.Activity) {
	if e.observer != nil {
		e.observer.Observe(a)
	}
}

// did tells the observer of a job's call.
func (e *Engine) did(j bridge.Job, place string, r bridge.Record, began time.Time, err error) {
	e.observe(bridge.Activity{Name: string(j.Kind), Place: place, ID: r.Interaction.ID, Trace: r.Interaction.Trace, Began: began, Err: err})
}

func traceOf(ctx context.Context) string {
	s, _ := ctx.Value(bridge.TraceKey{}).(string)
	return s
}
