package api

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
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
		return failure{Type: "error", ID: id, Error: bridge.PublicError(ended(err))}, nil
	}
	return json.RawMessage(b), nil
}

// askResponse answers an ask or an approval as the person.
func (c *wsConn) askResponse(ctx context.Context, f frame) error {
	if f.Type == askwidget.ApprovalResponse {
		var d askwidget.Decision
		if err := dialect.Decode("payload", f.Payload, &d); err != nil {
			return err
		}
		id, err := c.shownAs(ctx, d.RequestID)
		if err != nil {
			return err
		}
		return c.reply(ctx, id, askwidget.AnswerNames, func(i bridge.Interaction) (bridge.Reply, error) { return askwidget.DecodeDecision(i, d) })
	}
	var a askwidget.Answer
	if err := dialect.Decode("payload", f.Payload, &a); err != nil {
		return err
	}
	id, err := c.shownAs(ctx, a.RequestID)
	if err != nil {
		return err
	}
	return c.reply(ctx, id, askwidget.AnswerNames, func(i bridge.Interaction) (bridge.Reply, error) { return askwidget.DecodeAnswer(i, a) })
}

// shownAs returns the ID of the request that a front end was shown under an ID.
// Agents choose these IDs, so it returns CodeConflict if the ID also stands for
// another request: the person read only one of them.
func (c *wsConn) shownAs(ctx context.Context, id string) (string, error) {
	session, _ := c.state()
	page, err := c.s.listReadable(ctx, c.p, bridge.ListFilter{Session: session, Limit: 200})
	if err != nil {
		return "", err
	}
	var found []string
	for _, rec := range page.Items {
		if frameID(rec.Interaction) == id {
			found = append(found, string(rec.Interaction.ID))
		}
	}
	if parsed, err := bridge.ParseID(id); err == nil && !slices.Contains(found, string(parsed)) {
		if _, err := c.s.engine.Get(ctx, parsed); err == nil || len(found) == 0 {
			found = append(found, string(parsed))
		}
	}
	switch len(found) {
	case 0:
		return "", bridge.Errorf(bridge.CodeNotFound, "request_id: unknown request %q", id).
			WithHint("use the id or the interactionId of the frame")
	case 1:
		return found[0], nil
	}
	return "", bridge.Errorf(bridge.CodeConflict, "request_id: several requests have the ID %q", id).
		WithHint("use the interactionId of the frame")
}
