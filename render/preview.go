package render

import (
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// previewed returns the text of a notification, of which the route may show only
// a part.
func previewed(r bridge.Record, full string) string {
	i := r.Interaction
	open := r.State == bridge.StatePending && r.Unverified == ""
	switch {
	case i.Preview == bridge.PreviewAction && i.Kind == bridge.KindNotice:
		return strings.TrimPrefix(headText(noticeHead(i)), "ℹ️ ") + "."
	case i.Preview == bridge.PreviewAction && !open:
		return Cut(ending(r), 200, Runes)
	case i.Preview == bridge.PreviewAction && i.Approval != nil:
		return kindOf(i) + "? Asked by " + Line(i.Agent) + "."
	case i.Preview == bridge.PreviewAction:
		return Line(i.Agent) + " asks a question."
	case i.Preview == bridge.PreviewNone && i.Kind == bridge.KindNotice:
		return "A notice for you."
	case i.Preview == bridge.PreviewNone && open:
		return "A request is pending."
	case i.Preview == bridge.PreviewNone:
		return "A request was closed."
	}
	return full
}

// kindOf names the kind of an action without its object, such as "Run a command".
func kindOf(i bridge.Interaction) string {
	does, what, _ := strings.Cut(verb(i), " ")
	article := " a "
	switch {
	case what == "":
		what = "action"
		fallthrough
	case strings.ContainsAny(what[:1], "aeiou"):
		article = " an "
	}
	return does + article + what
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
