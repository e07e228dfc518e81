package api

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/toolinteraction"
)

// frameDialects maps the types of frames that open requests to their dialects.
var frameDialects = map[string]string{
	"ask_request": "ask_widget", "approval_request": "ask_widget", "widget:request": "widget", "assistant_message": "widget_block",
	"can_use_tool": "ask_user_question", "interaction_request": "tool_interaction",
}

// agentFrame holds the fields of an agent's other frames.
type agentFrame struct {
	InteractionID string          `json:"interactionId"`
	Through       string          `json:"through"`
	Result        string          `json:"result"`
	Error         string          `json:"error"`
	Message       string          `json:"message"`
	Hold          bridge.Duration `json:"hold"`
	Request       json.RawMessage `json:"request"`
}

func (c *wsConn) handleAgent(ctx context.Context, f frame, b []byte) error {
	if name, ok := frameDialects[f.Type]; ok {
		return c.ask(ctx, f, name, b)
	}
	var a agentFrame
	if err := dialect.Decode("frame", b, &a); err != nil {
		return err
	}
	session, _ := c.state()
	session = f.sessionOr(session)
	switch f.Type {
	case toolinteraction.TypeHello:
		if session = f.sessionOr(""); session == "" {
			return bridge.Errorf(bridge.CodeInvalid, "sessionId: required")
		}
		return c.enter(ctx, session, false, func(ctx context.Context) { c.deliverMessages(ctx, session) })
	case "message_ack":
		return c.s.engine.Sessions.Acknowledge(ctx, c.p.Agent.Name, session, a.Through)
	case "interaction_complete":
		rec, err := c.own(ctx, a.InteractionID)
		if err == nil {
			_, err = c.s.engine.Complete(ctx, rec.Interaction.ID, bridge.Completion{Result: a.Result, Error: a.Error})
		}
		return dialect.Named(err, toolinteraction.Names)
	case "interaction_pending":
		rec, err := c.own(ctx, a.InteractionID)
		if err == nil {
			_, err = c.s.engine.Queue(ctx, *c.p.Agent, rec.Interaction.ID, a.Hold, a.Message)
		}
		return dialect.Named(err, toolinteraction.Names)
	case "interaction_reprompt":
		return c.reprompt(ctx, f, a)
	}
	return bridge.Errorf(bridge.CodeInvalid, "type: unknown frame %q for an agent", f.Type).WithHint("see docs/websocket.md")
}

// own returns a request that belongs to the agent.
func (c *wsConn) own(ctx context.Context, id string) (bridge.Record, error) {
	parsed, err := parsedID("interactionId", id)
	if err != nil {
		return bridge.Record{}, err
	}
	rec, err := c.s.engine.Get(ctx, parsed)
	if err == nil && rec.Interaction.Agent != c.p.Agent.Name {
		return bridge.Record{}, bridge.NotFound(parsed)
	}
	return rec, err
}

// ask opens the requests of a frame and responds when they are resolved.
func (c *wsConn) ask(ctx context.Context, f frame, name string, b []byte) error {
	body := b
	if name == "widget" {
		body = f.Payload
	}
	t, err := dialects[name](body)
	if err != nil {
		return err
	}
	if len(t.Exchanges) == 0 {
		if name == "ask_user_question" {
			c.answer(ctx, f, t.Answer)
		}
		return nil // a text without widgets contains no requests
	}
	session, _ := c.state()
	opts := options{
		session: f.sessionOr(session), route: f.Route, timeout: f.Timeout, grace: f.Grace, onTimeout: f.OnTimeout,
		cancelOnDisconnect: f.CancelOnDisconnect, oneAtATime: f.OneAtATime,
	}
	if len(c.slots)+len(t.Exchanges) > wsAtOnce { // safe because only this goroutine fills slots
		return bridge.Errorf(bridge.CodeRateLimited, "too many pending requests on this connection (at most %d)", wsAtOnce).WithHint("open another connection, or wait for a response")
	}
	if t.Partly != nil {
		c.fail(ctx, failure{ID: f.own}, t.Partly)
	}
	t.Identify(bridge.CallID{ID: frameCall(f.ID), Caller: f.Caller})
	for _, x := range t.Exchanges {
		opts.apply(&x.Request)
		if x.Request.Session == "" { // the ID is unique only in this connection
			x.Request.CallID.Connection = c.id
		}
		x.Request.Awaited = true
		rec, err := c.s.engine.Open(ctx, *c.p.Agent, x.Request, "")
		if err != nil {
			return dialect.Named(err, x.Names)
		}
		c.await(ctx, f, rec, x.Answer)
	}
	return nil
}

// await responds to a frame when its request is resolved, without delaying the
// frames that follow. The caller makes sure that a slot is free.
func (c *wsConn) await(ctx context.Context, f frame, rec bridge.Record, encode func(bridge.Record) (any, error)) {
	c.slots <- struct{}{}
	named := failure{ID: f.own}
	if f.Type == "assistant_message" {
		named.WidgetID = rec.Interaction.ToolCall
	}
	a := &wsAwaited{
		c: c, id: rec.Interaction.ID, session: rec.Interaction.Session, cancels: rec.Interaction.CancelOnDisconnect,
		frame: frame{Type: f.Type, ID: f.ID, Caller: f.Caller}, named: named, encode: encode,
	}
	a.run(ctx)
}

// wsAwaited is a frame that waits. It holds neither the frame nor the record.
type wsAwaited struct {
	c       *wsConn
	id      bridge.ID
	session string
	cancels bool  // CancelOnDisconnect
	frame   frame // only its type, ID and caller are set
	named   failure
	encode  func(bridge.Record) (any, error)
}

// run waits without a goroutine, and then responds.
func (a *wsAwaited) run(ctx context.Context) {
	leave := func() {}
	if a.cancels {
		leave = a.c.s.attended.enter(a.session)
	}
	a.c.work.Add(1)
	a.c.s.engine.AwaitThen(ctx, a.id, func(result core.Awaited) {
		defer a.c.work.Done()
		defer a.c.contain()
		defer func() { <-a.c.slots }()
		defer leave()
		final, err := result()
		a.respond(ctx, final, err)
	})
}

// respond responds with the result of the wait.
func (a *wsAwaited) respond(ctx context.Context, final *bridge.Record, err error) {
	switch {
	case ctx.Err() != nil:
		a.c.s.abandoned(a.id, a.cancels, a.frame.Caller)
		return
	case err != nil:
		a.c.fail(ctx, a.named, err)
		return
	case !final.State.Final():
		a.c.send(ctx, queued{"interaction_pending", a.frame.ID, final.Interaction.ID, true})
		a.c.expectLate(ctx, a.session, a.id)
		return
	}
	v, err := a.encode(*final)
	if err != nil {
		a.c.fail(ctx, a.named, ended(err))
	} else if err := a.c.s.engine.Sending(ctx, *final, bridge.CallerName(a.frame.Caller)); err != nil {
		a.c.fail(ctx, a.named, err)
	} else if a.c.answer(ctx, a.frame, v) {
		a.c.s.noteDelivered(ctx, *final)
	}
}

// queued notifies the agent that the answer follows later in a user_message.
type queued struct {
	Type          string    `json:"type"`
	ID            string    `json:"id,omitempty"`
	InteractionID bridge.ID `json:"interactionId"`
	Queued        bool      `json:"queued"`
}

// answer sends a dialect's response in a frame with its type and the ID of the
// request.
func (c *wsConn) answer(ctx context.Context, f frame, v any) bool {
	switch f.Type {
	case "widget:request":
		return c.send(ctx, struct {
			Type    string `json:"type"`
			Payload any    `json:"payload"`
		}{"widget:submit", v})
	case "can_use_tool":
		return c.send(ctx, struct {
			Type   string `json:"type"`
			ID     string `json:"id,omitempty"`
			Result any    `json:"result"`
		}{"can_use_tool_result", f.ID, v})
	}
	return c.send(ctx, v)
}

func (c *wsConn) reprompt(ctx context.Context, f frame, a agentFrame) error {
	if len(c.slots) == wsAtOnce {
		return bridge.Errorf(bridge.CodeRateLimited, "too many pending requests on this connection (at most %d)", wsAtOnce)
	}
	rec, err := c.own(ctx, a.InteractionID)
	if err != nil {
		return err
	}
	r, err := toolinteraction.DecodeRequest(a.Request)
	if err != nil {
		return err
	}
	r.Now = true // as for the first round
	r.CallID = bridge.CallID{ID: cmp.Or(frameCall(f.ID), dialect.CallID("reprompt", a.InteractionID)), Caller: f.Caller}
	next, err := c.s.engine.Reprompt(ctx, *c.p.Agent, rec.Interaction.ID, r, "")
	if err != nil {
		return dialect.Named(err, toolinteraction.Names)
	}
	c.await(ctx, f, next, func(rec bridge.Record) (any, error) {
		rec = dialect.AsSent(rec, r.Ask)
		return toolinteraction.EncodeResponse(rec.Interaction, *rec.Response), nil
	})
	return nil
}
