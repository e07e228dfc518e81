package api

import (
	"encoding/json"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect/askwidget"
)

// frameID returns the ID under which front ends are shown a request: the one
// that its agent gave it in a frame, and the ID of nod for any other request.
func frameID(i bridge.Interaction) string {
	if i.ToolCall != "" && strings.HasPrefix(i.RequestKey, bridge.CallKey(i.Agent, frameCall(i.ToolCall))) {
		return i.ToolCall
	}
	return string(i.ID)
}

func showAsk(rec bridge.Record, e bridge.Event) (any, error) {
	id := frameID(rec.Interaction)
	request, ok, err := askwidget.EncodeRequest(id, rec)
	if !ok || err != nil {
		return nil, err // the event has no form in this dialect
	}
	if e.Type == bridge.EventRequest {
		return json.RawMessage(request), nil
	}
	b, err := askwidget.EncodeResponse(id, rec)
	if err != nil {
		return failure{Type: "error", ID: id, InteractionID: rec.Interaction.ID, Error: bridge.PublicError(ended(err))}, nil
	}
	return json.RawMessage(b), nil
}
