package render

import "github.com/nodbridge/nod/bridge"

// previewed returns the text of a notification. Depending on the route, it
// hides the request.
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
