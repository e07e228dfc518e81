package api

import (
	"context"
	"slices"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
)

// verifiedReader is a Reader that returns only records and events that the
// engine has verified.
type verifiedReader struct {
	Reader
	engine *engine.Engine
}

// List implements Reader.
func (v verifiedReader) List(ctx context.Context, f bridge.ListFilter) (bridge.List, error) {
	l, err := v.Reader.List(ctx, f)
	l = v.engine.Evidence.CheckList(l, f.AsStored)
	if !f.AsStored { // the message of a session is not a request
		l.Items = slices.DeleteFunc(l.Items, func(r bridge.Record) bool {
			return r.Interaction.Presentation == bridge.PresentSession
		})
	}
	return l, err
}

// Events implements Reader.
func (v verifiedReader) Events(ctx context.Context, cursor string, f bridge.EventFilter) ([]bridge.Event, string, error) {
	for {
		events, next, err := v.Reader.Events(ctx, cursor, f)
		if err != nil || len(events) == 0 {
			return events, next, err
		}
		good, err := v.engine.Evidence.CheckEvents(ctx, events)
		if err != nil || len(good) > 0 {
			return good, next, err
		}
		// An empty batch would mean the end of the events.
		cursor = next
	}
}
