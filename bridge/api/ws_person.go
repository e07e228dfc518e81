package api

import (
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/askuserquestion"
	"github.com/nodbridge/nod/bridge/dialect/askwidget"
	"github.com/nodbridge/nod/bridge/dialect/toolinteraction"
	"github.com/nodbridge/nod/bridge/dialect/widgetblock"
)

// answerFrames maps the types of frames that answer a request to their handlers.
var answerFrames = map[string]func(c *wsConn, ctx context.Context, f frame, b []byte) error{
	toolinteraction.TypeToolResponse: (*wsConn).toolResponse,
	askwidget.AskResponse:            (*wsConn).askResponse,
	askwidget.ApprovalResponse:       (*wsConn).approvalResponse,
	widgetblock.EventSubmit:          (*wsConn).widgetSubmit,
	askuserquestion.LateType:         (*wsConn).questionsAnswered,
}

func (c *wsConn) handlePerson(ctx context.Context, f frame, b []byte) error {
	switch f.Type {
	case toolinteraction.TypeHello:
		return c.hello(ctx, b)
	case toolinteraction.TypeSetMode:
		return c.setMode(ctx, b)
	}
	answer, known := answerFrames[f.Type]
	if !known {
		return bridge.Errorf(bridge.CodeInvalid, "type: unknown frame %q for a front end", f.Type).WithHint("see docs/websocket.md")
	}
	switch greeted, enabled := c.mode(); {
	case !greeted:
		return errNoHello
	case !enabled:
		return bridge.Errorf(bridge.CodeForbidden, "interactive mode is disabled").WithHint("send hello with interaction enabled, or send set_interaction_mode")
	}
	return answer(c, ctx, f, b)
}

var errNoHello = bridge.Errorf(bridge.CodeInvalid, "type: the first frame must be hello")

func (c *wsConn) hello(ctx context.Context, b []byte) error {
	var h toolinteraction.Hello
	if err := dialect.Decode("hello", b, &h); err != nil {
		return err
	}
	show, ok := shows[h.Frames]
	if !ok {
		return bridge.Errorf(bridge.CodeInvalid, "frames: unknown format %q", h.Frames).WithHint("use interaction, ask, widget or question")
	}
	follows := follower{c: c, session: h.SessionID, show: show}
	after := h.After
	switch {
	case after == "now":
		after = ""
	case after == "" && h.SessionID != "":
		after = "0"
	case after == "":
		follows.pending = true // the history of all sessions may be long
	}
	var err error
	if follows.cursor, err = c.s.position(ctx, after); err != nil {
		return err
	}
	if _, _, err := c.s.reader.Events(ctx, follows.cursor, bridge.EventFilter{Session: h.SessionID}); err != nil {
		return err // invalid cursor
	}
	enabled := h.Interaction != nil && h.Interaction.Supported && h.Interaction.Enabled
	if enabled && !c.s.engine.People.Responds(c.p.Person) {
		return errNoResponder
	}
	return c.enter(ctx, h.SessionID, enabled, follows.run)
}

// errNoResponder keeps people who may not answer any request from being counted
// as responders.
var errNoResponder = bridge.Errorf(bridge.CodeForbidden, "you are not a responder on any route").WithHint("to watch without answering, omit the field interaction from hello")

func (c *wsConn) setMode(ctx context.Context, b []byte) error {
	var m toolinteraction.SetMode
	if err := dialect.Decode("set_interaction_mode", b, &m); err != nil {
		return err
	}
	if m.Enabled && !c.s.engine.People.Responds(c.p.Person) {
		return errNoResponder
	}
	c.mu.Lock()
	said := c.greeted
	c.enabled = said && m.Enabled
	c.mu.Unlock()
	if !said {
		return errNoHello
	}
	if err := c.join(ctx); err != nil {
		return err
	}
	session, _ := c.state()
	c.s.releaseUnattended(ctx, session)
	return nil
}

// show returns the frame for an event, or nil if the front end does not show
// the event.
type show func(rec bridge.Record, e bridge.Event) (any, error)

var shows = map[string]show{
	"": showInteraction, "interaction": showInteraction, "ask": showAsk, "widget": showWidget, "question": showQuestion,
}

func showQuestion(rec bridge.Record, e bridge.Event) (any, error) {
	if rec.Interaction.ToolName != askuserquestion.Tool {
		return nil, nil
	}
	if e.Type == bridge.EventRequest {
		return askuserquestion.Calling(rec.Interaction), nil
	}
	return askuserquestion.Finished(rec), nil
}

func showInteraction(rec bridge.Record, e bridge.Event) (any, error) {
	if e.Type == bridge.EventRequest {
		return toolinteraction.EncodeRequest(rec.Interaction, e.Timestamp), nil
	}
	var resp bridge.Response
	if err := dialect.Decode("event", e.Data, &resp); err != nil {
		return nil, err
	}
	return toolinteraction.EncodeResponse(rec.Interaction, resp), nil
}

// showWidget returns the frame for an event of a request that an agent sent as
// a widget.
func showWidget(rec bridge.Record, e bridge.Event) (any, error) {
	p, ok := widgetblock.FromRecord(rec)
	if !ok {
		return nil, nil
	}
	if e.Type == bridge.EventResponse {
		s, err := p.Submit(rec)
		if err != nil {
			return failure{Type: "error", ID: p.WidgetID, InteractionID: rec.Interaction.ID, Error: bridge.PublicError(ended(err))}, nil
		}
		p = p.Answered(s)
	}
	return shownWidget{widgetblock.EventRequest, p, rec.Interaction.ID}, nil
}

// shownWidget is a widget for front ends with nod's ID, because agents reuse
// the IDs of widgets.
type shownWidget struct {
	Type          string              `json:"type"`
	Payload       widgetblock.Payload `json:"payload"`
	InteractionID bridge.ID           `json:"interactionId"`
}
