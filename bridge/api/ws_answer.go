package api

import (
	"cmp"
	"context"
	"slices"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/askuserquestion"
	"github.com/nodbridge/nod/bridge/dialect/askwidget"
	"github.com/nodbridge/nod/bridge/dialect/toolinteraction"
	"github.com/nodbridge/nod/bridge/dialect/widgetblock"
)

// answering is the answer of a front end in one format.
type answering struct {
	names func(bridge.Interaction) dialect.Names
	reply func(bridge.Interaction) (bridge.Reply, error)
}

// reply answers a request as the person.
func (c *wsConn) reply(ctx context.Context, id bridge.ID, a answering) error {
	rec, err := c.s.engine.Get(ctx, id)
	if err != nil {
		c.s.log.Warn("answer to an unknown request", "id", id, "person", c.p.Person)
		return err
	}
	if err := c.s.readable(ctx, c.p, rec); err != nil {
		return err
	}
	r, err := a.reply(rec.Interaction)
	if err == nil {
		_, err = c.s.engine.Answer(ctx, id, c.p.actor(), r)
	}
	return dialect.Named(err, a.names(rec.Interaction))
}

// parsedID returns the ID of nod in a field.
func parsedID(field, id string) (bridge.ID, error) {
	if id == "" {
		return "", bridge.Errorf(bridge.CodeInvalid, "%s: required", field)
	}
	parsed, err := bridge.ParseID(id)
	return parsed, dialect.Named(err, func(f bridge.FieldError) bridge.FieldError {
		f.Field = field
		return f
	})
}

func (c *wsConn) toolResponse(ctx context.Context, _ frame, b []byte) error {
	var t toolinteraction.ToolResponse
	if err := dialect.Decode("tool_interaction_response", b, &t); err != nil {
		return err
	}
	id, err := parsedID("interactionId", string(t.InteractionID))
	if err != nil {
		return err
	}
	return c.reply(ctx, id, answering{toolinteraction.AnswerNames, func(i bridge.Interaction) (bridge.Reply, error) {
		if err := t.For(i); err != nil {
			return bridge.Reply{}, err
		}
		return t.Reply(i)
	}})
}

func (c *wsConn) askResponse(ctx context.Context, f frame, _ []byte) error {
	var a askwidget.Answer
	if err := dialect.Decode("payload", f.Payload, &a); err != nil {
		return err
	}
	return c.answerShown(ctx, f, a.RequestID, func(i bridge.Interaction) (bridge.Reply, error) { return askwidget.DecodeAnswer(i, a) })
}

func (c *wsConn) approvalResponse(ctx context.Context, f frame, _ []byte) error {
	var d askwidget.Decision
	if err := dialect.Decode("payload", f.Payload, &d); err != nil {
		return err
	}
	return c.answerShown(ctx, f, d.RequestID, func(i bridge.Interaction) (bridge.Reply, error) { return askwidget.DecodeDecision(i, d) })
}

// answerShown answers the request that the front end was shown under an ID.
func (c *wsConn) answerShown(ctx context.Context, f frame, shown string, reply func(bridge.Interaction) (bridge.Reply, error)) error {
	id, err := c.shownAs(ctx, cmp.Or(f.InteractionID, shown, f.ID))
	if err != nil {
		return err
	}
	return c.reply(ctx, id, answering{askwidget.AnswerNames, reply})
}

// shownAs returns the ID of the request that a front end was shown under an ID.
// Agents choose these IDs. If the ID also stands for another request, it
// returns CodeConflict, because the person read only one of the two.
func (c *wsConn) shownAs(ctx context.Context, id string) (bridge.ID, error) {
	if id == "" {
		return "", bridge.Errorf(bridge.CodeInvalid, "request_id: required")
	}
	session, _ := c.state()
	all, err := c.shown(ctx, session)
	if err != nil {
		return "", err
	}
	var found []bridge.ID
	for _, rec := range all {
		if frameID(rec.Interaction) == id {
			found = append(found, rec.Interaction.ID)
		}
	}
	if parsed, err := bridge.ParseID(id); err == nil && !slices.Contains(found, parsed) {
		if _, err := c.s.engine.Get(ctx, parsed); err == nil || len(found) == 0 {
			found = append(found, parsed)
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

// shown returns the requests that the front end may have shown: the newest
// requests of a session or of all sessions, and the pending requests of all
// sessions.
func (c *wsConn) shown(ctx context.Context, session string) ([]bridge.Record, error) {
	page, err := c.s.listReadable(ctx, c.p, bridge.ListFilter{Session: session, Limit: 200})
	if err != nil || session != "" {
		return page.Items, err
	}
	pending, _, err := c.s.engine.Pending(ctx, 0, func(rec bridge.Record) (bool, error) {
		if slices.ContainsFunc(page.Items, func(r bridge.Record) bool { return r.Interaction.ID == rec.Interaction.ID }) {
			return false, nil
		}
		return c.s.mayRead(ctx, c.p, rec.Interaction)
	})
	return append(page.Items, pending.Items...), err
}

func (c *wsConn) widgetSubmit(ctx context.Context, f frame, _ []byte) error {
	var s widgetblock.Submission
	if err := dialect.Decode("payload", f.Payload, &s); err != nil {
		return err
	}
	if s.WidgetID == "" {
		return bridge.Errorf(bridge.CodeInvalid, "widgetId: required")
	}
	is := func(rec bridge.Record) bool {
		p, ok := widgetblock.FromRecord(rec)
		return ok && p.WidgetID == s.WidgetID
	}
	session, _ := c.state()
	none := bridge.Errorf(bridge.CodeNotFound, "widgetId: no widget %q is pending in the session", s.WidgetID)
	id, err := c.meant(ctx, meaning{field: "widgetId", name: s.WidgetID, id: f.InteractionID, session: session, is: is, none: none})
	if err != nil {
		return err
	}
	names := func(bridge.Interaction) dialect.Names { return widgetblock.AnswerNames }
	return c.reply(ctx, id, answering{names, func(i bridge.Interaction) (bridge.Reply, error) { return widgetblock.DecodeSubmission(i, s) }})
}

func (c *wsConn) questionsAnswered(ctx context.Context, f frame, b []byte) error {
	var l askuserquestion.Late
	if err := dialect.Decode(askuserquestion.LateType, b, &l); err != nil {
		return err
	}
	followed, _ := c.state()
	if l.ConversationID == "" && (followed != "" || l.ToolCallID == "") {
		return bridge.Errorf(bridge.CodeInvalid, "conversation_id: required")
	}
	is := func(rec bridge.Record) bool {
		i := rec.Interaction
		return i.Kind == bridge.KindAsk && i.Session == l.ConversationID && (i.ToolCall == l.ToolCallID || l.ToolCallID == "" && !rec.State.Final())
	}
	none := bridge.Errorf(bridge.CodeNotFound, "tool_call_id: no question %q is pending in the conversation", l.ToolCallID)
	id, err := c.meant(ctx, meaning{field: "tool_call_id", name: l.ToolCallID, id: f.InteractionID, session: l.ConversationID, is: is, none: none})
	if err != nil {
		return err
	}
	return c.reply(ctx, id, answering{askuserquestion.AnswerNames, func(i bridge.Interaction) (bridge.Reply, error) {
		return askuserquestion.DecodeAnswers(i, l.Answers)
	}})
}

// meaning selects the request of an answer: the request with a name that its
// agent chose, or the request with nod's ID if the answer contains one.
type meaning struct {
	field, name, id string
	session         string // empty means all
	is              func(bridge.Record) bool
	none            error // no pending request has the name
}

// meant returns the ID of the pending request of an answer. If no pending
// request matches, it returns the only closed one, so that the person learns
// who answered. Agents choose the names of widgets and calls. If several
// requests match, even of different agents, it returns CodeConflict, because
// the person read only one of them.
func (c *wsConn) meant(ctx context.Context, m meaning) (bridge.ID, error) {
	if m.id != "" {
		return c.meantByID(ctx, m)
	}
	all, err := c.shown(ctx, m.session)
	if err != nil {
		return "", err
	}
	var found, closed []bridge.ID
	agents := map[string]bool{}
	for _, rec := range all {
		if !m.is(rec) {
			continue
		}
		agents[rec.Interaction.Agent] = true
		if rec.State.Final() {
			closed = append(closed, rec.Interaction.ID)
		} else {
			found = append(found, rec.Interaction.ID)
		}
	}
	switch {
	case len(found) == 0 && len(closed) == 1:
		return closed[0], nil
	case len(found) == 0:
		c.s.log.Warn("answer to no pending request", "session", m.session, "person", c.p.Person)
		return "", m.none
	case len(found) > 1 || len(agents) > 1:
		return "", bridge.Errorf(bridge.CodeConflict, "%s: several requests have the ID %q", m.field, m.name).WithHint("send the interactionId of the frame as well, or respond on the card")
	}
	return found[0], nil
}

// meantByID returns the request with nod's ID, if the agent's name matches.
func (c *wsConn) meantByID(ctx context.Context, m meaning) (bridge.ID, error) {
	id, err := parsedID("interactionId", m.id)
	if err != nil {
		return "", err
	}
	rec, err := c.s.engine.Get(ctx, id)
	if err == nil {
		err = c.s.readable(ctx, c.p, rec)
	}
	if err == nil && !m.is(rec) {
		err = bridge.Errorf(bridge.CodeInvalid, "interactionId: the interaction does not have the %s %q", m.field, m.name)
	}
	return id, err
}
