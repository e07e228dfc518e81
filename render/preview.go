package render

import (
	"strconv"

	"github.com/nodbridge/nod/bridge"
)

// previewed returns the text of a notification, of which the route may show
// nothing.
func previewed(r bridge.Record, full string) string {
	i := r.Interaction
	open := r.State == bridge.StatePending && r.Unverified == ""
	switch {
	case i.Preview == bridge.PreviewFull:
		return full
	case i.Kind == bridge.KindNotice:
		return "A notice for you."
	case open:
		return "A request is pending."
	}
	return "A request was closed."
}

// previewedBatch returns the text of the notification of a batch.
func previewedBatch(v bridge.View, full string) string {
	if v.Batch[0].Interaction.Preview == bridge.PreviewNone {
		if len(v.Pending()) == 0 {
			return strconv.Itoa(len(v.Batch)) + " requests were closed."
		}
		return strconv.Itoa(len(v.Batch)) + " requests are pending."
	}
	return full
}
