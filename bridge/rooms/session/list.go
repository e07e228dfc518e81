package session

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/nodbridge/nod/bridge"
)

// The maximum number of newest requests to examine, for a session and for the
// list of sessions.
const (
	sessionLooked  = 20
	sessionsListed = 200
)

// List returns the sessions with recent requests, and the stopped sessions, of
// an agent, or of all agents if agent is empty. The newest is first.
func (se *Room) List(ctx context.Context, agent string) (bridge.Page[bridge.Session], error) {
	return se.list(ctx, agent, func([]bridge.Interaction) bool { return true })
}

// ListFor returns the sessions of List that have a request that the person may
// read.
func (se *Room) ListFor(ctx context.Context, who bridge.Actor) (bridge.Page[bridge.Session], error) {
	who = se.identify(ctx, who)
	return se.list(ctx, "", func(requests []bridge.Interaction) bool { return se.sees(ctx, who, requests) })
}

func (se *Room) list(ctx context.Context, agent string, may func([]bridge.Interaction) bool) (out bridge.Page[bridge.Session], err error) {
	recent, err := se.recent(ctx, bridge.ListFilter{Agent: agent, Limit: sessionsListed})
	if err != nil {
		return out, err
	}
	found := sessionsOf(recent, may)
	stops, err := se.stops.All(ctx, agent)
	if err != nil {
		return out, err
	}
	for _, s := range stops.Items {
		n, err := se.listed(ctx, &found, s.Agent, s.Session, may)
		if err != nil {
			return out, err
		}
		if n >= 0 {
			found[n].Stopped = &s
		}
	}
	reported, err := se.statuses.reports.ListReported(ctx, agent)
	if err != nil {
		return out, err
	}
	for _, s := range reported.Items[:min(len(reported.Items), sessionsListed)] {
		n, err := se.listed(ctx, &found, s.Agent, s.ID, may)
		if err != nil {
			return out, err
		}
		if n >= 0 {
			found[n].Status = &s
		}
	}
	slices.SortStableFunc(found, func(a, b bridge.Session) int {
		return cmp.Or(b.Newest().Compare(a.Newest()), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.ID, b.ID))
	})
	return bridge.Page[bridge.Session]{Items: found, Unreadable: stops.Unreadable + reported.Unreadable}, nil
}

// listed returns the index of a session in the list. It adds a missing session.
// It returns -1 for a session that the caller may not see.
func (se *Room) listed(
	ctx context.Context, found *[]bridge.Session, agent, session string, may func([]bridge.Interaction) bool,
) (int, error) {
	n := slices.IndexFunc(*found, func(f bridge.Session) bool { return f.Agent == agent && f.ID == session })
	if n >= 0 {
		return n, nil
	}
	requests, err := se.requests(ctx, agent, session)
	if err != nil {
		return -1, err
	}
	if !may(requests) {
		return -1, nil
	}
	*found = append(*found, bridge.Session{Agent: agent, ID: session})
	return len(*found) - 1, nil
}

// sessionsOf returns the sessions of records that the caller may see.
func sessionsOf(records []bridge.Record, may func([]bridge.Interaction) bool) []bridge.Session {
	var out []bridge.Session
	for _, r := range records {
		i := r.Interaction
		if i.Session == "" {
			continue
		}
		if !may([]bridge.Interaction{i}) {
			continue
		}
		n := slices.IndexFunc(out, func(s bridge.Session) bool { return s.Agent == i.Agent && s.ID == i.Session })
		if n < 0 {
			n, out = len(out), append(out, bridge.Session{Agent: i.Agent, ID: i.Session})
		}
		if i.IsSession() {
			continue
		}
		if out[n].Last.IsZero() { // the newest request comes first
			out[n].Last = i.Created
		}
		if !r.State.Final() {
			out[n].Pending++
		}
	}
	return out
}

func (se *Room) recent(ctx context.Context, f bridge.ListFilter) ([]bridge.Record, error) {
	if se.history == nil {
		return nil, nil
	}
	page, err := se.history.List(ctx, f)
	if err != nil {
		return nil, err
	}
	return page.Items, nil
}

// requests returns the newest requests of a session. For a reported session
// without requests, it returns a request that represents its route.
func (se *Room) requests(ctx context.Context, agent, session string) ([]bridge.Interaction, error) {
	records, err := se.recent(ctx, bridge.ListFilter{Agent: agent, Session: session, Limit: sessionLooked})
	out := make([]bridge.Interaction, len(records))
	for n, r := range records {
		out[n] = r.Interaction
	}
	if err != nil || len(out) > 0 {
		return out, err
	}
	s, known, err := se.statuses.reports.Reported(ctx, agent, session)
	if err != nil || !known {
		return nil, err
	}
	// The people of its route may see a session that has sent no requests.
	route := se.engine.Routes()[cmp.Or(s.Route, bridge.DefaultRoute)]
	return []bridge.Interaction{{
		Agent: agent, Ask: bridge.Ask{Session: session, Route: s.Route},
		Placement: bridge.Placement{Responders: route.Responders, Groups: route.Groups},
	}}, nil
}

// each calls f with the newest requests of a session of an agent. If agent is
// empty, it does so for each configured agent with such a session. An error with
// one agent does not keep it from the others.
func (se *Room) each(ctx context.Context, agent, session string, f func([]bridge.Interaction) error) error {
	if session == "" {
		return bridge.Errorf(bridge.CodeInvalid, "session: required")
	}
	agents := []string{agent}
	if agent == "" {
		agents = nil
		for name := range se.agents {
			agents = append(agents, name)
		}
		slices.Sort(agents)
	}
	var failed []error
	for _, name := range agents {
		requests, err := se.requests(ctx, name, session)
		if err == nil && len(requests) > 0 {
			err = f(requests)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}
