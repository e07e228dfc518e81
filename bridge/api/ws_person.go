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

func (c *wsConn) handlePerson(ctx context.Context, f frame, b []byte) error {
	switch f.Type {
	case toolinteraction.TypeHello:
		return c.hello(ctx, b)
	case toolinteraction.TypeSetMode:
		return c.setMode(ctx, b)
	}
	if _, enabled := c.state(); !enabled {
		return bridge.Errorf(bridge.CodeForbidden, "interactive mode is disabled").WithHint("send hello with interaction enabled, or send set_interaction_mode")
	}
	switch f.Type {
	case toolinteraction.TypeToolResponse:
		return c.toolResponse(ctx, b)
	case askwidget.AskResponse, askwidget.ApprovalResponse:
		return c.askResponse(ctx, f)
	case widgetblock.EventSubmit:
		return c.widgetSubmit(ctx, f)
	case askuserquestion.LateType:
		return c.questionsAnswered(ctx, b)
	}
	return bridge.Errorf(bridge.CodeInvalid, "type: unknown frame %q for a front end", f.Type).WithHint("see docs/websocket.md")
}

func (c *wsConn) hello(ctx context.Context, b []byte) error {
	var h toolinteraction.Hello
	if err := dialect.Decode("hello", b, &h); err != nil {
		return err
	}
	if h.SessionID == "" {
		return bridge.Errorf(bridge.CodeInvalid, "sessionId: required")
	}
	show, ok := shows[h.Frames]
	if !ok {
		return bridge.Errorf(bridge.CodeInvalid, "frames: unknown format %q", h.Frames).WithHint("use interaction, ask, widget or question")
	}
	after := h.After
	switch after {
	case "":
		after = "0"
	case "now":
		after = ""
	}
	cursor, err := c.s.position(ctx, after)
	if err != nil {
		return err
	}
	if _, _, err := c.s.reader.Events(ctx, cursor, bridge.EventFilter{Session: h.SessionID}); err != nil {
		return err // invalid cursor
	}
	enabled := h.Interaction != nil && h.Interaction.Supported && h.Interaction.Enabled
	if enabled && !c.s.engine.People.Responds(c.p.Person) {
		return errNoResponder
	}
	c.enter(ctx, h.SessionID, enabled, func(ctx context.Context) { c.followEvents(ctx, h.SessionID, cursor, show) })
	return c.join(ctx)
}

// errNoResponder keeps people who may not answer any request from being counted
// as responders.
var errNoResponder = bridge.Errorf(bridge.CodeForbidden, "you are not a responder on any route").WithHint("to watch, send hello without interaction")

func (c *wsConn) setMode(ctx context.Context, b []byte) error {
	var m toolinteraction.SetMode
	if err := dialect.Decode("set_interaction_mode", b, &m); err != nil {
		return err
	}
	if m.Enabled && !c.s.engine.People.Responds(c.p.Person) {
		return errNoResponder
	}
	c.mu.Lock()
	said := c.session != ""
	c.enabled = said && m.Enabled
	c.mu.Unlock()
	if !said {
		return bridge.Errorf(bridge.CodeInvalid, "type: the first frame must be hello")
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

// showWidget returns the frame for an event of a request that came as a widget.
func showWidget(rec bridge.Record, e bridge.Event) (any, error) {
	p, ok := widgetblock.FromRecord(rec)
	if !ok {
		return nil, nil
	}
	if e.Type == bridge.EventResponse {
		s, err := p.Submit(rec)
		if err != nil {
			return failure{Type: "error", ID: p.WidgetID, Error: bridge.PublicError(ended(err))}, nil
		}
		p = p.Answered(s)
	}
	return struct {
		Type    string              `json:"type"`
		Payload widgetblock.Payload `json:"payload"`
	}{widgetblock.EventRequest, p}, nil
}

// followEvents sends the events of a session that follow a cursor.
func (c *wsConn) followEvents(ctx context.Context, session, cursor string, f show) {
	for ctx.Err() == nil {
		batch, next, err := c.s.reader.Events(ctx, cursor, bridge.EventFilter{Session: session})
		if err != nil {
			if ctx.Err() == nil {
				c.s.log.Warn("events not readable; retrying", "error", err)
			}
			bridge.Pause(ctx, eventPoll)
			continue // keep the cursor
		}
		for _, e := range batch {
			if e.Type == bridge.EventRequest || e.Type == bridge.EventResponse {
				c.showEvent(ctx, e, f)
			}
		}
		cursor = next
		if len(batch) == 0 {
			bridge.Pause(ctx, eventPoll)
		}
	}
}

func (c *wsConn) showEvent(ctx context.Context, e bridge.Event, f show) {
	rec, err := c.s.engine.Get(ctx, e.InteractionID)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return // the request was deleted after its retention
	}
	may := false
	if err == nil {
		may, err = c.s.mayRead(ctx, c.p, rec.Interaction)
	}
	var v any
	if may && err == nil {
		v, err = f(rec, e)
	}
	if err != nil {
		c.s.log.Error("event not shown", "id", e.InteractionID, "error", err)
		return
	}
	if v != nil {
		c.send(ctx, v)
	}
}

// reply answers a request as the person. The names are those of the frame.
func (c *wsConn) reply(
	ctx context.Context, id string, names func(bridge.Interaction) dialect.Names, f func(bridge.Interaction) (bridge.Reply, error),
) error {
	parsed, err := bridge.ParseID(id)
	if err != nil {
		return err
	}
	rec, err := c.s.engine.Get(ctx, parsed)
	if err != nil {
		c.s.log.Warn("answer to an unknown request", "id", parsed, "person", c.p.Person)
		return err
	}
	if err := c.s.readable(ctx, c.p, rec); err != nil {
		return err
	}
	r, err := f(rec.Interaction)
	if err == nil {
		_, err = c.s.engine.Answer(ctx, parsed, c.p.actor(), r)
	}
	return dialect.Named(err, names(rec.Interaction))
}

func (c *wsConn) toolResponse(ctx context.Context, b []byte) error {
	var t toolinteraction.ToolResponse
	if err := dialect.Decode("tool_interaction_response", b, &t); err != nil {
		return err
	}
	return c.reply(ctx, string(t.InteractionID), toolinteraction.AnswerNames, func(i bridge.Interaction) (bridge.Reply, error) {
		if t.SessionID != "" && t.SessionID != i.Session || t.CallID != "" && t.CallID != i.ToolCall {
			return bridge.Reply{}, bridge.Errorf(bridge.CodeInvalid, "interactionId: belongs to another session or call")
		}
		return t.Reply(i)
	})
}

func (c *wsConn) widgetSubmit(ctx context.Context, f frame) error {
	var s widgetblock.Submission
	if err := dialect.Decode("payload", f.Payload, &s); err != nil {
		return err
	}
	session, _ := c.state()
	rec, err := c.s.pendingOne(ctx, c.p, session, func(rec bridge.Record) bool {
		p, ok := widgetblock.FromRecord(rec)
		return ok && p.WidgetID == s.WidgetID
	})
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return bridge.Errorf(bridge.CodeNotFound, "widgetId: no widget %q is pending in the session", s.WidgetID)
	}
	if err != nil {
		return err
	}
	names := func(bridge.Interaction) dialect.Names { return widgetblock.AnswerNames }
	return c.reply(ctx, string(rec.Interaction.ID), names, func(i bridge.Interaction) (bridge.Reply, error) {
		return widgetblock.DecodeSubmission(i, s)
	})
}

func (c *wsConn) questionsAnswered(ctx context.Context, b []byte) error {
	var l askuserquestion.Late
	if err := dialect.Decode(askuserquestion.LateType, b, &l); err != nil {
		return err
	}
	if l.ConversationID == "" {
		return bridge.Errorf(bridge.CodeInvalid, "conversation_id: required")
	}
	rec, err := c.s.pendingOne(ctx, c.p, l.ConversationID, func(rec bridge.Record) bool {
		i := rec.Interaction
		return i.Kind == bridge.KindAsk && (i.ToolCall == l.ToolCallID || l.ToolCallID == "" && !rec.State.Final())
	})
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		c.s.log.Warn("answer to no pending question", "session", l.ConversationID, "person", c.p.Person)
		return bridge.Errorf(bridge.CodeNotFound, "tool_call_id: no question %q is pending in the conversation", l.ToolCallID)
	}
	if err != nil {
		return err
	}
	return c.reply(ctx, string(rec.Interaction.ID), askuserquestion.AnswerNames, func(i bridge.Interaction) (bridge.Reply, error) {
		return askuserquestion.DecodeAnswers(i, l.Answers)
	})
}

// pendingOne returns the pending request of a session that an answer refers to,
// of any agent, if the caller may read it. If there is none, it returns the only
// closed one, so that the person learns who answered. Agents choose the names of
// widgets and calls. It returns CodeConflict if several requests match, even of
// different agents, because the person read only one of them.
func (s shared) pendingOne(ctx context.Context, p Principal, session string, means func(bridge.Record) bool) (bridge.Record, error) {
	if session == "" {
		return bridge.Record{}, bridge.Errorf(bridge.CodeInvalid, "session: required")
	}
	page, err := s.listReadable(ctx, p, bridge.ListFilter{Session: session, Limit: 200})
	if err != nil {
		return bridge.Record{}, err
	}
	var found, closed []bridge.Record
	agents := map[string]bool{}
	for _, rec := range page.Items {
		if !means(rec) {
			continue
		}
		agents[rec.Interaction.Agent] = true
		if rec.State.Final() {
			closed = append(closed, rec)
		} else {
			found = append(found, rec)
		}
	}
	switch {
	case len(found) == 0 && len(closed) == 1:
		return closed[0], nil
	case len(found) == 0:
		return bridge.Record{}, bridge.Errorf(bridge.CodeNotFound, "no pending request of the session has this ID")
	case len(found) > 1 || len(agents) > 1:
		return bridge.Record{}, bridge.Errorf(bridge.CodeConflict, "several requests of the session have this ID").WithHint("respond on the card instead")
	}
	return found[0], nil
}
