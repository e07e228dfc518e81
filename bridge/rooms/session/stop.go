package session

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/journal"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/people"
	"github.com/nodbridge/nod/bridge/words"
	"github.com/nodbridge/nod/broker"
)

// stopper stops sessions.
type stopper struct {
	stops    *Stops
	records  core.Interactions
	journal  *journal.Journal
	statuses *statuses
	log      *slog.Logger
}

// stopOf returns the stop of the session of a request by an actor.
func stopOf(i bridge.Interaction, by bridge.Actor) bridge.Stop {
	return bridge.Stop{
		Agent: i.Agent, Session: i.Session, By: by, At: time.Now().UTC().Truncate(time.Millisecond), Route: i.Route,
	}
}

// stop stops a session and cancels its pending requests. The stop is stored
// first, so that every request is either denied when it is opened or cancelled
// here. After an error, a repeat completes the stop.
func (st *stopper) stop(ctx context.Context, s bridge.Stop) (bridge.Stop, error) {
	entry, err := st.entry(bridge.AuditStop, s, bridge.SessionChange{By: s.By})
	if err != nil {
		return bridge.Stop{}, err
	}
	got, err := st.stops.Put(ctx, s, entry)
	if err != nil {
		return bridge.Stop{}, err
	}
	st.log.Info("session stopped", "agent", s.Agent, "session", s.Session, "by", got.By.Display())
	return got, st.stopped(ctx, got)
}

// stopped cancels the pending requests of a stopped session, and shows the
// stop.
func (st *stopper) stopped(ctx context.Context, s bridge.Stop) error {
	err := st.cancelPending(ctx, s)
	st.statuses.refresh(ctx, s.Agent, s.Session, 0)
	return err
}

// entry returns the entry of the audit log about a change of a session.
func (st *stopper) entry(t bridge.AuditType, s bridge.Stop, c bridge.SessionChange) (broker.Entry, error) {
	return st.journal.Entry(t, bridge.Interaction{Agent: s.Agent, Ask: bridge.Ask{Session: s.Session}}, c)
}

// cancelPending cancels the pending requests of a stopped session. An error with
// one of them does not keep it from the others.
func (st *stopper) cancelPending(ctx context.Context, s bridge.Stop) error {
	ids, err := st.records.Pending(ctx, s.Agent, s.Session)
	if err != nil {
		return err
	}
	var failed []error
	for _, id := range ids {
		r, err := st.records.Load(ctx, id)
		if err == nil && r.State.Final() {
			continue
		}
		if err == nil {
			_, _, err = st.records.Resolve(ctx, life.Resolution{ID: id, Nonce: "stopped", Response: bridge.Response{
				State: bridge.StateCancelled, Stop: true, Reason: s.Words(), WithdrawnBy: &s.By, Annotations: map[string]bridge.Annotation{},
				At: time.Now().UTC().Truncate(time.Millisecond), Digest: r.Interaction.Digest,
			}})
		}
		if bridge.ErrorCode(err) != bridge.CodeNotFound {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// Open refuses a request of a stopped session, unless it is denied anyway.
// Almost no session is stopped, so Open first makes this a condition of the
// opening. If the condition does not hold, it reads the stop.
func (se *Room) Open(ctx context.Context, d *engine.Draft) error {
	i := d.Interaction
	if i.Session == "" || i.Kind == bridge.KindNotice || d.Response != nil && d.Response.State == bridge.StateDenied {
		return nil
	}
	if d.Again {
		stop, stopped, err := se.stops.Stopped(ctx, i.Agent, i.Session)
		if err != nil {
			return err
		}
		if stopped {
			refusal := stop.Refusal(i)
			d.Response, d.Queued = &refusal, false
			return nil
		}
	}
	d.If = append(d.If, broker.Version{Key: stopDocs.Key(life.Owner(i.Agent, i.Session))})
	return nil
}

// denies reports whether a record was denied with a stop of its session.
func denies(r bridge.Record) bool {
	return r.State == bridge.StateDenied && r.Response.Stop && r.Response.Actor != nil && r.Interaction.Session != ""
}

// Decide cancels the pending requests of a stopped session instead of approving or
// answering one of them. A stop normally cancels them, but the daemon may have ended
// before that. The checks then start again, and find the request closed.
func (se *Room) Decide(ctx context.Context, d *engine.Decision) (*bridge.Verdict, error) {
	if !d.Decides() {
		return nil, nil //nolint:nilnil // no objection
	}
	s, stopped, err := se.stops.Stopped(ctx, d.Record.Interaction.Agent, d.Record.Interaction.Session)
	if err != nil || !stopped {
		return nil, err
	}
	if err := se.stopper.stopped(ctx, s); err != nil {
		return nil, err
	}
	return nil, isStopped(s)
}

// Also adds the stop of a session to the change that stores a denial with a
// stop. The limit of stopped sessions does not apply, because a denial always
// counts. For an approval or an answer, Also returns CodeConflict if the session is
// stopped. Otherwise, it adds the condition that the session is still not stopped.
func (se *Room) Also(ctx context.Context, r bridge.Record) (broker.Change, error) {
	if i := r.Interaction; i.Session != "" && (r.State == bridge.StateApproved || r.State == bridge.StateAnswered) {
		unstopped, err := se.stops.unstopped(ctx, i.Agent, i.Session)
		return broker.Change{If: []broker.Version{unstopped}}, err
	}
	if !denies(r) {
		return broker.Change{}, nil
	}
	s := stopOf(r.Interaction, *r.Response.Actor)
	entry, err := se.stopper.entry(bridge.AuditStop, s, bridge.SessionChange{By: s.By, Origin: r.Interaction.ID})
	if err != nil {
		return broker.Change{}, err
	}
	c, _, err := se.stops.stopping(ctx, s, []broker.Entry{entry})
	return c, documents.Public(err)
}

// Resolve cancels the pending requests of a session that a denial stopped. It is safe to
// repeat, and has no effect once the session is resumed.
func (se *Room) Resolve(ctx context.Context, r bridge.Record) error {
	if !denies(r) {
		return nil
	}
	s, stopped, err := se.stops.Stopped(ctx, r.Interaction.Agent, r.Interaction.Session)
	if err != nil || !stopped {
		return err
	}
	return se.stopper.stopped(ctx, s)
}

// Send returns CodeForbidden for an approval or an answer that was given before its
// session was stopped, and that has not reached the agent.
func (se *Room) Send(ctx context.Context, r bridge.Record) error {
	i := r.Interaction
	lets := r.State == bridge.StateApproved || r.State == bridge.StateAnswered && i.Kind != bridge.KindNotice
	if !lets || !r.Delivered.IsZero() {
		return nil
	}
	stop, stopped, err := se.stops.Stopped(ctx, i.Agent, i.Session)
	if err == nil && stopped {
		err = bridge.Errorf(bridge.CodeForbidden, "the session is %s", stop.Words())
	}
	return err
}

// Stopped returns the stop of a session. It returns false if the session is not
// stopped.
func (se *Room) Stopped(ctx context.Context, agent, session string) (bridge.Stop, bool, error) {
	return se.stops.Stopped(ctx, agent, session)
}

// Stop stops a session on behalf of a person who may read one of its requests:
// nod denies its requests from now on, and cancels those that are pending. An
// empty agent means every agent with such a session. Stop returns CodeNotFound
// if the person may read none. With an error, it returns the sessions that it
// stopped.
func (se *Room) Stop(ctx context.Context, by bridge.Actor, agent, session string) ([]bridge.Stop, error) {
	by = se.identify(ctx, by)
	var out []bridge.Stop
	err := se.each(ctx, agent, session, func(requests []bridge.Interaction) error {
		if !se.sees(ctx, by, requests) {
			return nil
		}
		s, err := se.stopper.stop(ctx, stopOf(requests[0], by))
		if !s.At.IsZero() {
			out = append(out, s)
		}
		return err
	})
	if err == nil && len(out) == 0 {
		err = noSession(session)
	}
	return out, err
}

// StopAll stops every session of ListFor that is not stopped, and returns those
// that it stopped. An error with one of them does not keep it from the others.
func (se *Room) StopAll(ctx context.Context, by bridge.Actor) ([]bridge.Stop, error) {
	all, err := se.ListFor(ctx, by)
	if err != nil {
		return nil, err
	}
	var out []bridge.Stop
	var failed []error
	for _, s := range all.Items {
		if s.Stopped != nil {
			continue
		}
		stopped, err := se.Stop(ctx, by, s.Agent, s.ID)
		out = append(out, stopped...)
		if bridge.ErrorCode(err) != bridge.CodeNotFound { // the session has no requests anymore
			failed = append(failed, err)
		}
	}
	return out, errors.Join(failed...)
}

// StopOwn stops a session on behalf of its agent. Only a person can resume it.
func (se *Room) StopOwn(ctx context.Context, agent, session string) ([]bridge.Stop, error) {
	by := bridge.Actor{Platform: bridge.PlatformAPI, User: agent, Name: "agent " + agent}
	requests, err := se.requests(ctx, agent, session)
	if err != nil {
		return nil, err
	}
	i := bridge.Interaction{Agent: agent, Ask: bridge.Ask{Session: session}}
	if len(requests) > 0 {
		i.Route = requests[0].Route
	}
	s, err := se.stopper.stop(ctx, stopOf(i, by))
	if s.At.IsZero() {
		return nil, err
	}
	return []bridge.Stop{s}, err
}

// Resume lets a stopped session ask again, on behalf of a person who may answer
// one of its requests. An empty agent means every agent. Resume returns
// CodeForbidden for people who may only read them, and CodeNotFound if there is
// no such stopped session.
func (se *Room) Resume(ctx context.Context, by bridge.Actor, agent, session string) ([]bridge.Stop, error) {
	by = se.identify(ctx, by)
	all, err := se.stops.All(ctx, agent)
	if err != nil {
		return nil, err
	}
	var out []bridge.Stop
	refused := false
	for _, s := range all.Items {
		if s.Session != session {
			continue
		}
		done, sees, err := se.resume(ctx, by, s)
		if err != nil {
			return out, err
		}
		if done {
			out = append(out, s)
		}
		refused = refused || sees && !done
	}
	switch {
	case len(out) > 0:
		return out, nil
	case refused:
		return nil, bridge.Errorf(bridge.CodeForbidden, "you may not resume this session: %s", people.WhyNobody).WithHint("ask a responder of its requests")
	}
	return nil, bridge.Errorf(bridge.CodeNotFound, "stopped session %q not found", session).WithHint("list the sessions with nod sessions list")
}

// StoppedAfter reports whether a session of this name was stopped after a text
// was written.
func (se *Room) StoppedAfter(ctx context.Context, session string, at time.Time) (bool, error) {
	all, err := se.stops.All(ctx, "")
	return slices.ContainsFunc(all.Items, func(s bridge.Stop) bool { return s.Session == session && words.Before(at, s.At) }), err
}

// resume ends a stop if the actor may answer a request of the session. It
// reports whether it ended the stop, and whether the actor may read a request
// of the session.
func (se *Room) resume(ctx context.Context, by bridge.Actor, s bridge.Stop) (done, sees bool, err error) {
	requests, err := se.requests(ctx, s.Agent, s.Session)
	if err != nil {
		return false, false, err
	}
	if !se.answers(ctx, by, s, requests) {
		se.engine.Journal.Refuse(ctx, bridge.Interaction{Agent: s.Agent, Ask: bridge.Ask{Session: s.Session}}, by, "resume: "+people.WhyNobody)
		return false, se.sees(ctx, by, requests), nil
	}
	entry, err := se.stopper.entry(bridge.AuditResume, s, bridge.SessionChange{By: by})
	if err != nil {
		return false, false, err
	}
	if done, err = se.stops.Drop(ctx, s.Agent, s.Session, by, entry); done {
		se.stopper.log.Info("session resumed", "agent", s.Agent, "session", s.Session, "by", by.Display())
		se.statuses.refresh(ctx, s.Agent, s.Session, 0)
	}
	return done, false, err
}

func noSession(session string) error {
	return bridge.Errorf(bridge.CodeNotFound, "session %q not found", session).WithHint("list the sessions with nod sessions list")
}

func (se *Room) identify(ctx context.Context, who bridge.Actor) bridge.Actor {
	who, _ = se.engine.People.Identify(ctx, who)
	return who
}

// sees reports whether an actor may read one of the requests.
func (se *Room) sees(ctx context.Context, who bridge.Actor, requests []bridge.Interaction) bool {
	return slices.ContainsFunc(requests, func(i bridge.Interaction) bool { return se.engine.People.MayRead(ctx, i, who) })
}

// answers reports whether an actor may answer one of the requests of a stopped
// session. If nod has none of its requests, the responders of its route may.
func (se *Room) answers(ctx context.Context, who bridge.Actor, s bridge.Stop, requests []bridge.Interaction) bool {
	if len(requests) == 0 {
		route := se.engine.Routes()[cmp.Or(s.Route, bridge.DefaultRoute)] // empty if the route no longer exists
		in, _ := se.engine.People.Among(ctx, route.Responders, route.Groups, who)
		return in
	}
	return slices.ContainsFunc(requests, func(i bridge.Interaction) bool {
		return (i.Kind != bridge.KindNotice || i.IsSession()) && se.engine.People.MayAnswer(ctx, i, who)
	})
}
