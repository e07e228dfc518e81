package session

import (
	"cmp"
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/life"
)

// sessionPosting is the time in which a platform must show the message of a
// session.
const sessionPosting = 24 * time.Hour

// reporter records the reports of agents, and posts the messages that show
// them.
type reporter struct {
	engine   *engine.Engine
	statuses *statuses
	log      *slog.Logger
}

// Report records the report of an agent about a session, and shows it on the
// session's message if its route has Sessions. It returns CodeNotFound for an
// update of an unknown session.
func (se *Room) Report(
	ctx context.Context, agent bridge.Agent, session string, r bridge.SessionReport,
) (bridge.SessionStatus, error) {
	return se.reporter.report(ctx, agent, session, r)
}

// Noticed shows a notice as the last message of its session, if the session is
// reported. The notice has its own message, so a failure is only logged.
func (se *Room) Noticed(ctx context.Context, i bridge.Interaction) {
	r := bridge.SessionReport{Last: i.Prompt, Update: true}
	err := r.Normalize()
	if err == nil && i.Session != "" {
		_, _, err = se.statuses.reports.PutReport(ctx, i.Agent, i.Session, r)
	}
	switch {
	case err == nil:
		se.statuses.refresh(ctx, i.Agent, i.Session, statusDelay)
	case bridge.ErrorCode(err) != bridge.CodeNotFound:
		se.reporter.log.Warn("notice not shown as the last message of its session", "id", i.ID, "error", err)
	}
}

func (re *reporter) report(
	ctx context.Context, agent bridge.Agent, session string, r bridge.SessionReport,
) (bridge.SessionStatus, error) {
	var none bridge.SessionStatus
	if session == "" {
		return none, bridge.Errorf(bridge.CodeInvalid, "session: required")
	}
	if err := bridge.CheckText("session", session, 200); err != nil {
		return none, err
	}
	if err := re.engine.Redactor.Texts(r.Texts()); err != nil {
		return none, err
	}
	if err := r.Normalize(); err != nil {
		return none, err
	}
	if r.Route != "" {
		if err := re.engine.CheckRoute(r.Route); err != nil {
			return none, err
		}
	}
	s, urgent, err := re.statuses.reports.PutReport(ctx, agent.Name, session, r)
	if err != nil || !re.engine.Routes()[cmp.Or(s.Route, bridge.DefaultRoute)].Sessions {
		return s, err
	}
	if s.Message != "" {
		delay := stepDelay
		if urgent {
			delay = statusDelay
		}
		_, err = re.statuses.records.Mark(ctx, s.Message, life.Refresh{Delay: delay})
		if bridge.ErrorCode(err) != bridge.CodeNotFound { // otherwise, it has outlived its retention
			return s, err
		}
	}
	s.Message, err = re.post(ctx, agent, s)
	return s, err
}

// post opens the interaction whose messages show a session. If several daemons
// report a session concurrently, they open only one interaction.
func (re *reporter) post(ctx context.Context, agent bridge.Agent, s bridge.SessionStatus) (bridge.ID, error) {
	r := bridge.Request{Ask: bridge.Ask{
		Kind: bridge.KindNotice, Prompt: "Session " + s.ID, Session: s.ID, Route: s.Route, Timeout: bridge.Duration(sessionPosting),
	}}
	if err := r.Normalize(); err != nil {
		return "", err
	}
	r.Presentation = bridge.PresentSession
	name := "session message/" + s.ID + "/" + strconv.FormatInt(s.Started.UnixMilli(), 10)
	rec, err := re.engine.Openings.Post(ctx, agent, r, name)
	if err != nil {
		return "", err
	}
	_, err = re.statuses.reports.PutSessionMessage(ctx, s.Agent, s.ID, rec.Interaction.ID)
	return rec.Interaction.ID, err
}

// redacted returns a message to an agent in the form that people see.
func redacted(r *engine.Redactor, s bridge.Steering) bridge.Steering {
	s.Text = r.Text(s.Text)
	return s
}
