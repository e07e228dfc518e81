// Package session is the room of agent sessions: the reports of agents, late
// answers, messages from people, and stops. The only request that it opens is
// the message that shows a session. Start with [Room.Messages], [Room.Stop] and
// [Room.Report].
package session

import (
	"context"
	"slices"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/engine"
)

// Room stops and resumes sessions, and shows them. It manages their late answers and front
// ends. It is safe for concurrent use.
type Room struct {
	engine   *engine.Engine
	mailbox  *Mailbox
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
	stops, steerings := NewStops(db), NewSteerings(db)
	st := &statuses{reports: NewReports(db), stops: stops, records: o.Store, history: o.History, log: o.Log}
	n := &noter{store: steerings, platforms: engine.ByName(o.Platforms), redactor: e.Redactor, nudge: make(chan struct{}, 1), log: o.Log}
	return &Room{
		engine: e, mailbox: NewMailbox(db, o.Store), records: o.Store, stops: stops,
		stopper:  &stopper{stops: stops, records: o.Store, journal: e.Journal, statuses: st, log: o.Log},
		steerer:  &steerer{store: steerings, redactor: e.Redactor, journal: e.Journal, noter: n, log: o.Log},
		noter:    n,
		reporter: &reporter{engine: e, statuses: st, log: o.Log},
		statuses: st, history: o.History, agents: o.Agents,
	}
}

// Run reports the outcome of messages to their authors until ctx ends.
func (se *Room) Run(ctx context.Context) { se.noter.run(ctx) }

// messageBatch is the maximum number of messages per call.
const messageBatch = 100

// Messages returns the late answers and the messages from people that the agent of
// a session has not acknowledged, oldest first.
func (se *Room) Messages(ctx context.Context, agent, session string) ([]bridge.Message, error) {
	out, err := se.mailbox.Messages(ctx, agent, session, messageBatch)
	if err != nil {
		return nil, err
	}
	said, err := se.Take(ctx, bridge.Taking{Agent: agent, Session: session})
	for _, s := range said {
		out = append(out, bridge.SaidMessage(s))
	}
	slices.SortStableFunc(out, func(a, b bridge.Message) int { return bridge.CompareMessages(a.ID, b.ID) })
	return out[:min(len(out), messageBatch)], err
}

// Acknowledge deletes the messages of a session up to and including the given
// one. It then tells cards and authors that the agent has them.
func (se *Room) Acknowledge(ctx context.Context, agent, session, through string) error {
	ids, err := se.mailbox.Acknowledge(ctx, agent, session, through)
	if err == nil {
		err = se.Took(ctx, agent, session, through)
	}
	if err != nil {
		return err
	}
	for _, id := range ids {
		r, err := se.records.Load(ctx, id)
		if err == nil {
			err = se.records.Delivered(ctx, r)
		}
		if err != nil && bridge.ErrorCode(err) != bridge.CodeNotFound {
			return err
		}
	}
	return nil
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
