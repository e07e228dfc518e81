// Package session is the room of agent sessions: the reports of agents, late
// answers, messages from people, and stops. The only request that it opens is
// the message that shows a session. Start with [Room.Messages], [Room.Stop] and
// [Room.Report].
package session

import (
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/engine"
)

// Room stops and resumes sessions, and shows them. It manages their late answers and front
// ends. It is safe for concurrent use.
type Room struct {
	engine   *engine.Engine
	inbox    *Inbox
	records  core.Interactions
	stops    *Stops
	stopper  *stopper
	steerer  *steerer
	noter    *noter
	reporter *reporter
	statuses *statuses
	history  bridge.Histories // may be nil
	agents   map[string]bridge.Agent
}

// New returns the room of an engine.
func New(e *engine.Engine, o engine.Options) *Room {
	db := documents.DB{Store: o.DB, Log: o.Log}
	stops, inbox := NewStops(db), NewInbox(db, o.Store)
	st := &statuses{reports: NewReports(db), stops: stops, records: o.Store, history: o.History, log: o.Log}
	n := &noter{inbox: inbox, platforms: engine.ByName(o.Platforms), redactor: e.Redactor, nudge: make(chan struct{}, 1), log: o.Log}
	return &Room{
		engine: e, inbox: inbox, records: o.Store, stops: stops,
		stopper:  &stopper{stops: stops, records: o.Store, journal: e.Journal, statuses: st, log: o.Log},
		steerer:  &steerer{inbox: inbox, redactor: e.Redactor, journal: e.Journal, noter: n, log: o.Log},
		noter:    n,
		reporter: &reporter{engine: e, statuses: st, log: o.Log},
		statuses: st, history: o.History, agents: o.Agents,
	}
}

// Run reports the outcome of messages to their authors until ctx ends.
func (se *Room) Run(ctx context.Context) { se.noter.run(ctx) }

// Messages returns the late answers and the messages from people that the agent of
// a session has not acknowledged, oldest first. It returns none for a stopped
// session.
func (se *Room) Messages(ctx context.Context, agent, session string) ([]bridge.Message, error) {
	return se.inbox.Messages(ctx, agent, session)
}

// Take returns the messages from people that wait for a session, oldest first, and
// reserves them for a named reader. It returns none for a stopped session.
func (se *Room) Take(ctx context.Context, t bridge.Taking) ([]bridge.Message, error) {
	return se.inbox.Take(ctx, t)
}

// Acknowledge ends the messages that a reader was given, up to and including the
// given one. It then tells cards and authors that the agent has them.
func (se *Room) Acknowledge(ctx context.Context, agent, session, through string) error {
	n, err := se.inbox.Acknowledge(ctx, agent, session, through)
	return se.ended(n, err)
}

// Ended tells the authors of waiting messages that the session has ended.
func (se *Room) Ended(ctx context.Context, agent, session string) error {
	n, err := se.inbox.Ended(ctx, agent, session)
	return se.ended(n, err)
}

// ended wakes the noter if messages have ended.
func (se *Room) ended(n int, err error) error {
	if n > 0 {
		se.noter.wake()
	}
	return err
}

// Waits reports whether a request of a session is pending.
func (se *Room) Waits(ctx context.Context, agent, session string) (bool, error) {
	ids, err := se.records.Pending(ctx, agent, session)
	return len(ids) > 0, err
}

// Join records a front end of a session for PresenceTTL.
func (se *Room) Join(ctx context.Context, session, client string, enabled bool) error {
	return se.engine.Presence.Join(ctx, session, client, enabled)
}

// Leave removes a front end of a session.
func (se *Room) Leave(ctx context.Context, session, client string) error {
	return se.engine.Presence.Leave(ctx, session, client)
}
