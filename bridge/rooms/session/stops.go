package session

import (
	"context"
	"errors"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

// Stops stores the stopped sessions. It is safe for concurrent use.
type Stops struct{ db documents.DB }

// NewStops returns the stops in a database.
func NewStops(db documents.DB) *Stops { return &Stops{db} }

var stopDocs = life.Stops

// stopIndex is the index of the stopped sessions.
const stopIndex = "stops"

// sessionEvent is the entry of the journal about a change of a session.
func sessionEvent(kind bridge.EventType, agent, session string, by bridge.Actor) broker.Entry {
	raw, _ := bridge.EncodeJSON(&by) // a plain struct always marshals
	return life.Entry(kind, "", life.Life{Agent: agent, Session: session}, "", string(raw), "")
}

// stopping returns the change that stops a session, with an entry of the audit
// log, and the stop that is then in effect. If another caller has already
// stopped the session, the change is only the condition that it is still
// stopped, and the stop is that of the first caller.
func (ss *Stops) stopping(ctx context.Context, s bridge.Stop, entries []broker.Entry) (broker.Change, bridge.Stop, error) {
	name := life.Owner(s.Agent, s.Session)
	was, d, err := stopDocs.Get(ctx, ss.db, name)
	if err == nil && d.Exists() {
		return broker.Change{If: []broker.Version{d.At()}}, was, nil
	}
	if err != nil && !errors.As(err, new(*broker.ForgedError)) { // a stop that does not verify is replaced
		return broker.Change{}, was, err
	}
	d, err = stopDocs.Encode(broker.Doc{Key: stopDocs.Key(name), Version: d.Version}, &s)
	return broker.Change{
		Put: []broker.Doc{d}, Set: []broker.Member{{Index: stopIndex, Name: name}},
		Journal: append([]broker.Entry{sessionEvent(bridge.EventStopped, s.Agent, s.Session, s.By)}, entries...), Replicated: true, Urgent: true,
	}, s, err
}

// Put stops a session, with entries of the audit log, and returns the stop that now applies.
// It returns CodeRateLimited if bridge.MaxStopped sessions are stopped.
func (ss *Stops) Put(ctx context.Context, s bridge.Stop, entries ...broker.Entry) (now bridge.Stop, err error) {
	if err := documents.RequireSession(s.Session); err != nil {
		return bridge.Stop{}, err
	}
	err = broker.Retry(ctx, func() error {
		var c broker.Change
		if c, now, err = ss.stopping(ctx, s, entries); err != nil {
			return err
		}
		if c.Empty() { // the stop may not be on the replicas yet
			return ss.db.Confirm(ctx, c.If...)
		}
		c.Below = []broker.Bound{{Index: stopIndex, Max: bridge.MaxStopped}}
		_, err = ss.db.Do(ctx, c)
		return err
	})
	if errors.As(err, new(broker.Full)) {
		return bridge.Stop{}, bridge.Errorf(bridge.CodeRateLimited, "too many stopped sessions (at most %d)", bridge.MaxStopped).
			WithHint("resume the sessions that no longer exist: list them with nod sessions list")
	}
	return now, documents.Public(err)
}

// Drop resumes a session, with entries of the audit log, and reports whether it was stopped.
func (ss *Stops) Drop(ctx context.Context, agent, session string, by bridge.Actor, entries ...broker.Entry) (stopped bool, err error) {
	if err := documents.RequireSession(session); err != nil {
		return false, err
	}
	event := sessionEvent(bridge.EventResumed, agent, session, by)
	return ss.db.Drop(ctx, stopDocs.Key(life.Owner(agent, session)), stopIndex, broker.Change{Journal: append([]broker.Entry{event}, entries...)})
}

// Stopped returns the stop of a session. It returns false if the session is not stopped.
func (ss *Stops) Stopped(ctx context.Context, agent, session string) (bridge.Stop, bool, error) {
	if session == "" {
		return bridge.Stop{}, false, nil
	}
	s, d, err := stopDocs.Get(ctx, ss.db, life.Owner(agent, session))
	return s, d.Exists() && err == nil, documents.Public(err)
}

// isStopped returns the error of what a stopped session does not allow.
func isStopped(s bridge.Stop) error {
	return bridge.Errorf(bridge.CodeConflict, "the session is %s", s.Words())
}

// unstopped returns the condition that a session is still not stopped. It
// returns CodeConflict if the session is stopped.
func (ss *Stops) unstopped(ctx context.Context, agent, session string) (broker.Version, error) {
	s, stopped, err := ss.Stopped(ctx, agent, session)
	if err == nil && stopped {
		err = isStopped(s)
	}
	return broker.Version{Key: stopDocs.Key(life.Owner(agent, session))}, err
}

// All returns the stopped sessions of an agent, or of all agents if agent is empty.
func (ss *Stops) All(ctx context.Context, agent string) (bridge.Page[bridge.Stop], error) {
	all, err := ss.db.Range(ctx, broker.Query{Index: stopIndex})
	if err != nil {
		return bridge.Page[bridge.Stop]{}, documents.Public(err)
	}
	return documents.List(ctx, ss.db, stopDocs, documents.Owned(documents.Names(all), agent))
}
