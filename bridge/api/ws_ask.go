package api

import (
	"encoding/json"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect/askwidget"
)

// frameID returns the ID of a request for front ends: the ID that its agent
// sent in a frame, or nod's ID for any other request.
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
		return nil, err // this dialect cannot express the event
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
