package engine

import (
	"context"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
)

// Watcher reports activities to the observer, if any.
type Watcher struct{ Observer bridge.Observer }

// Observe reports an activity.
func (w Watcher) Observe(a bridge.Activity) {
	if w.Observer != nil {
		w.Observer.Observe(a)
	}
}

// Did reports the platform call of a job.
func (w Watcher) Did(j core.Job, place string, r bridge.Record, began time.Time, err error) {
	w.Observe(bridge.Activity{Name: string(j.Kind), Place: place, ID: r.Interaction.ID, Trace: r.Interaction.Trace, Began: began, Err: err})
}

func traceOf(ctx context.Context) string {
	s, _ := ctx.Value(bridge.TraceKey{}).(string)
	return s
}
