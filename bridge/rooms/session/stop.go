package session

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/journal"
	"github.com/nodbridge/nod/bridge/people"
	"github.com/nodbridge/nod/bridge/words"
)

// stopper stops sessions.
type stopper struct {
	stops    bridge.Stops
	records  bridge.Records
	outcomes bridge.Outcomes
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
func (st *stopper) stop(ctx context.Context, s bridge.Stop, origin bridge.ID) (bridge.Stop, error) {
	got, err := st.stops.PutStop(ctx, s)
	if err != nil {
		return got, err
	}
	if got.At.Equal(s.At) && got.By.Same(s.By) {
		st.record(ctx, bridge.AuditStop, s, bridge.SessionChange{By: s.By, Origin: origin})
	}
	err = st.cancelPending(ctx, got)
	st.statuses.refresh(ctx, s.Agent, s.Session, 0)
	return got, err
}

// record writes a change of a session to the audit log. The change itself is
// stored already, so a failure is only logged.
func (st *stopper) record(ctx context.Context, t bridge.AuditType, s bridge.Stop, c bridge.SessionChange) {
	i := bridge.Interaction{Agent: s.Agent, Ask: bridge.Ask{Session: s.Session}}
	if err := st.journal.Write(ctx, t, i, c); err != nil {
		st.log.Error("session change not written to the audit log", "change", t, "agent", s.Agent, "session", s.Session, "error", err)
	}
	st.log.Info("session changed", "change", t, "agent", s.Agent, "session", s.Session, "by", c.By.Display())
}

// cancelPending cancels the pending requests of a stopped session.
func (st *stopper) cancelPending(ctx context.Context, s bridge.Stop) error {
	ids, err := st.records.Pending(ctx, s.Agent, s.Session)
	if err != nil {
		return err
	}
	for _, id := range ids {
		r, err := st.records.Load(ctx, id)
		if bridge.ErrorCode(err) == bridge.CodeNotFound || err == nil && (r.State.Final() || r.Interaction.Kind == bridge.KindNotice) {
			continue
		}
		if err != nil {
			return err
		}
		_, _, err = st.outcomes.Settle(ctx, bridge.Settlement{ID: id, Nonce: "stopped", Response: bridge.Response{
			State: bridge.StateCancelled, Stop: true, Reason: s.Words(), WithdrawnBy: &s.By, Annotations: map[string]bridge.Annotation{},
			At: time.Now().UTC().Truncate(time.Millisecond), Digest: r.Interaction.Digest,
		}})
		if err != nil && bridge.ErrorCode(err) != bridge.CodeNotFound {
			return err
		}
	}
	return nil
}

// Resolve stops the session of a request that was denied with a stop.
func (se *Room) Resolve(ctx context.Context, r bridge.Record) error {
	i := r.Interaction
	if !r.StopsSession() {
		return nil
	}
	_, err := se.stopper.stop(ctx, stopOf(i, *r.Response.Actor), i.ID)
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
// if the person may read none.
func (se *Room) Stop(ctx context.Context, by bridge.Actor, agent, session string) ([]bridge.Stop, error) {
	by = se.identify(ctx, by)
	var out []bridge.Stop
	err := se.each(ctx, agent, session, func(requests []bridge.Interaction) error {
		if !se.sees(ctx, by, requests) {
			return nil
		}
		s, err := se.stopper.stop(ctx, stopOf(requests[0], by), "")
		out = append(out, s)
		return err
	})
	if err == nil && len(out) == 0 {
		err = noSession(session)
	}
	return out, err
}

// StopAll stops every session of ListFor that is not stopped, and returns those
// that it stopped.
func (se *Room) StopAll(ctx context.Context, by bridge.Actor) ([]bridge.Stop, error) {
	all, err := se.ListFor(ctx, by)
	if err != nil {
		return nil, err
	}
	var out []bridge.Stop
	for _, s := range all {
		if s.Stopped != nil {
			continue
		}
		stopped, err := se.Stop(ctx, by, s.Agent, s.ID)
		if err != nil {
			return out, err
		}
		out = append(out, stopped...)
	}
	return out, nil
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
	s, err := se.stopper.stop(ctx, stopOf(i, by), "")
	return []bridge.Stop{s}, err
}

// Resume lets a stopped session ask again, on behalf of a person who may answer
// one of its requests. An empty agent means every agent. Resume returns
// CodeForbidden for people who may only read them, and CodeNotFound if there is
// no such stopped session.
func (se *Room) Resume(ctx context.Context, by bridge.Actor, agent, session string) ([]bridge.Stop, error) {
	by = se.identify(ctx, by)
	all, err := se.stops.ListStops(ctx, agent)
	if err != nil {
		return nil, err
	}
	var out []bridge.Stop
	refused := false
	for _, s := range all {
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

// StoppedAfter reports whether a session of this name was stopped after something
// was written.
func (se *Room) StoppedAfter(ctx context.Context, session string, at time.Time) (bool, error) {
	all, err := se.stops.ListStops(ctx, "")
	return slices.ContainsFunc(all, func(s bridge.Stop) bool { return s.Session == session && words.Before(at, s.At) }), err
}

// resume ends a stop if the actor may answer a request of the session. It
// reports whether it did, and whether the actor may read one.
func (se *Room) resume(ctx context.Context, by bridge.Actor, s bridge.Stop) (done, sees bool, err error) {
	requests, err := se.requests(ctx, s.Agent, s.Session)
	if err != nil {
		return false, false, err
	}
	if !se.answers(ctx, by, s, requests) {
		se.engine.Journal.Refuse(ctx, bridge.Interaction{Agent: s.Agent, Ask: bridge.Ask{Session: s.Session}}, by, "resume: "+people.WhyNobody)
		return false, se.sees(ctx, by, requests), nil
	}
	if done, err = se.stops.DropStop(ctx, s.Agent, s.Session, by); done {
		se.stopper.record(ctx, bridge.AuditResume, s, bridge.SessionChange{By: by})
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
// session. If none is kept, the responders of its route may.
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
