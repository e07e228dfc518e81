package engine

import (
	"context"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// watcher reports activities to the observer, if there is one.
type watcher struct{ observer bridge.Observer }

func (w watcher) observe(a bridge.Activity) {
	if w.observer != nil {
		w.observer.Observe(a)
	}
}

// did reports the platform call of a job.
func (w watcher) did(j bridge.Job, place string, r bridge.Record, began time.Time, err error) {
	w.observe(bridge.Activity{Name: string(j.Kind), Place: place, ID: r.Interaction.ID, Trace: r.Interaction.Trace, Began: began, Err: err})
}

func traceOf(ctx context.Context) string {
	s, _ := ctx.Value(bridge.TraceKey{}).(string)
	return s
}
