package session

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/render"
)

// Delays of the updates of a session's message. Reports in quick succession
// become one update.
const (
	statusDelay = 300 * time.Millisecond // for a change that people wait for
	stepDelay   = 5 * time.Second        // for a further step
)

// maxListed is the maximum number of pending requests that a session's message
// counts. It names only a few of them.
const maxListed = 20

// maxTallied is the maximum number of requests whose decisions a session's
// message counts.
const maxTallied = 100

// statuses reads the reports of agents about their sessions, and updates the
// messages that show them.
type statuses struct {
	reports *Reports
	stops   *Stops
	records core.Interactions
	history bridge.Histories // may be nil
	log     *slog.Logger
}

// Show adds the agent's report about the session of a record.
func (se *Room) Show(ctx context.Context, r bridge.Record, destination int, v *bridge.View) error {
	if r.Interaction.Session == "" {
		return nil
	}
	sv, err := se.statuses.view(ctx, r)
	if sv == nil || err != nil {
		return err
	}
	d := r.Interaction.Destinations[destination]
	for n := range sv.Pending {
		sv.Pending[n] = se.engine.Redactor.Record(sv.Pending[n])
		if n >= render.MaxNamed {
			continue
		}
		at, err := se.engine.Link(ctx, sv.Pending[n], d.Platform, []string{d.Channel})
		if err != nil { // the message is more important than the link
			se.statuses.log.Warn("pending request not linked", "id", sv.Pending[n].Interaction.ID, "error", err)
		}
		sv.Links = append(sv.Links, at)
	}
	v.Session = sv
	return nil
}

// Shown updates the message of a session after the card of one of its requests
// was drawn.
func (se *Room) Shown(ctx context.Context, i bridge.Interaction) { se.statuses.changed(ctx, i) }

// view returns the data of a session that the messages of a record show. It
// returns nil if the agent has not reported the session.
func (st *statuses) view(ctx context.Context, r bridge.Record) (*bridge.SessionView, error) {
	i := r.Interaction
	s, known, err := st.reports.Reported(ctx, i.Agent, i.Session)
	if err != nil || !known {
		return nil, err
	}
	v := &bridge.SessionView{Status: s}
	if !i.IsSession() {
		return v, nil
	}
	stop, stopped, err := st.stops.Stopped(ctx, i.Agent, i.Session)
	if err != nil {
		return nil, err
	}
	if stopped {
		v.Stopped = &stop
	}
	if v.Decided, err = st.decided(ctx, i.Agent, i.Session); err != nil {
		return nil, err
	}
	v.Pending, err = st.pending(ctx, i.Agent, i.Session)
	return v, err
}

// decided counts the decisions on the newest requests of a session.
func (st *statuses) decided(ctx context.Context, agent, session string) (bridge.Tally, error) {
	var t bridge.Tally
	if st.history == nil {
		return t, nil
	}
	page, err := st.history.List(ctx, bridge.ListFilter{Agent: agent, Session: session, Limit: maxTallied})
	if err != nil {
		return t, err
	}
	if page.Next != "" {
		t.Of = len(page.Items)
	}
	for _, r := range page.Items {
		t.Add(r)
	}
	return t, nil
}

// pending returns the pending requests of a session, oldest first.
func (st *statuses) pending(ctx context.Context, agent, session string) ([]bridge.Record, error) {
	ids, err := st.records.Pending(ctx, agent, session)
	if err != nil {
		return nil, err
	}
	var out []bridge.Record
	for _, id := range ids[:min(len(ids), maxListed)] {
		r, err := st.records.Load(ctx, id)
		switch {
		case bridge.ErrorCode(err) == bridge.CodeNotFound || err == nil && r.State.Final():
		case err != nil:
			return nil, err
		default:
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b bridge.Record) int {
		return cmp.Or(a.Interaction.Created.Compare(b.Interaction.Created), cmp.Compare(a.Interaction.ID, b.Interaction.ID))
	})
	return out, nil
}

// refresh requests an update of the message of a session, if it has one. The
// message is only a report, so a failure is logged and changes nothing.
func (st *statuses) refresh(ctx context.Context, agent, session string, delay time.Duration) {
	s, known, err := st.reports.Reported(ctx, agent, session)
	if err == nil && known && s.Message != "" {
		_, err = st.records.Mark(ctx, s.Message, life.Refresh{Delay: delay})
	}
	if err != nil && bridge.ErrorCode(err) != bridge.CodeNotFound {
		st.log.Warn("message of the session not updated", "agent", agent, "session", session, "error", err)
	}
}

// changed requests an update of the message of the session of a request.
func (st *statuses) changed(ctx context.Context, i bridge.Interaction) {
	if i.Session != "" && i.Kind != bridge.KindNotice {
		st.refresh(ctx, i.Agent, i.Session, statusDelay)
	}
}
