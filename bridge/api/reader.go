package api

import (
	"context"
	"slices"

	"github.com/nodbridge/nod/bridge"
)

// requestReader is a Reader whose lists contain only requests, unless they are
// for an inspection. The message of a session is not a request.
type requestReader struct{ Reader }

// List implements Reader.
func (v requestReader) List(ctx context.Context, f bridge.ListFilter) (bridge.List, error) {
	l, err := v.Reader.List(ctx, f)
	if !f.AsStored {
		l.Items = slices.DeleteFunc(l.Items, func(r bridge.Record) bool {
			return r.Interaction.Presentation == bridge.PresentSession
		})
	}
	return l, err
}
