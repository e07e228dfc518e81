package session

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

// Reports stores the reports of agents about their sessions. It is safe for
// concurrent use.
type Reports struct{ db documents.DB }

// NewReports returns the reports in a database.
func NewReports(db documents.DB) *Reports { return &Reports{db} }

// reported is the stored status of a session.
type reported struct {
	bridge.SessionStatus
	Subagents map[string]string `json:"subagents,omitempty"`
	// Event is the time of the newest event that reported the state.
	Event time.Time `json:"event,omitzero"`
}

var reportDocs = broker.NewDocs[reported]("report", 1)

// reportIndex is the index of the reported sessions, by their last report.
const reportIndex = "reports"

// subagentsMost is the maximum number of subagents whose names are kept.
const subagentsMost = 40

// merge merges a report that arrived at the given time into the status. It
// reports whether people have to see the change immediately.
func (s *reported) merge(r bridge.SessionReport, now time.Time) (urgent bool) {
	at := r.At
	if at.IsZero() || at.After(now) {
		at = now
	}
	s.Updated = now
	if s.Started.IsZero() {
		s.Started, s.Since, urgent = now, now, true
	}
	if r.State != "" && !at.Before(s.Event) {
		s.Event = at
		if r.State != s.State {
			s.State, s.Since, s.Waits, urgent = r.State, now, "", true
		}
	}
	if r.Prompt != "" && s.Title == "" {
		s.Title, urgent = r.Prompt, true
	}
	if r.Step != "" {
		s.Step, s.Stepped, s.Steps = r.Step, now, s.Steps+1
	}
	urgent = urgent || r.Last != "" || r.Waits != "" || r.Title != "" && r.Title != s.Title
	for _, f := range []struct {
		of   *string
		text string
	}{
		{&s.Title, r.Title}, {&s.Host, r.Host}, {&s.Folder, r.Folder}, {&s.Branch, r.Branch}, {&s.Waits, r.Waits}, {&s.Last, r.Last}, {&s.Route, r.Route},
	} {
		*f.of = cmp.Or(f.text, *f.of)
	}
	if _, known := s.Subagents[r.SubagentID]; r.Subagent != "" && (known || len(s.Subagents) < subagentsMost) {
		s.Subagents = maps.Clone(s.Subagents)
		if s.Subagents == nil {
			s.Subagents = map[string]string{}
		}
		s.Subagents[r.SubagentID] = r.Subagent
	}
	return urgent
}

// status returns the status with the names of subagents.
func (s reported) status() bridge.SessionStatus {
	s.SessionStatus.Subagents = s.Subagents
	return s.SessionStatus
}

// PutReport merges a report into the status of a session, and returns the
// status. It reports whether people must see the change immediately. It returns
// CodeNotFound for an Update of an unknown session.
func (rs *Reports) PutReport(ctx context.Context, agent, session string, r bridge.SessionReport) (bridge.SessionStatus, bool, error) {
	var urgent bool
	s, err := rs.update(ctx, agent, session, r.Update, func(s *reported, now time.Time) { urgent = s.merge(r, now) })
	return s.status(), urgent, err
}

// update changes the status of a session. It returns CodeNotFound for an unknown
// session that must be known.
func (rs *Reports) update(ctx context.Context, agent, session string, must bool, change func(*reported, time.Time)) (reported, error) {
	if err := documents.RequireSession(session); err != nil {
		return reported{}, err
	}
	var out reported
	name := life.Owner(agent, session)
	_, err := reportDocs.Update(ctx, rs.db, name, func(s *reported, d *broker.Doc) (broker.Change, error) {
		if must && !d.Exists() {
			return broker.Change{}, bridge.Errorf(bridge.CodeNotFound, "session %q not found", session)
		}
		now := rs.db.Now()
		s.Agent, s.ID = agent, session
		change(s, now)
		out, d.Keep = *s, bridge.ReportedTTL
		return broker.Change{Set: []broker.Member{{Index: reportIndex, Name: name, At: now}}}, nil
	})
	if err == nil {
		rs.trim(ctx)
	}
	return out, documents.Public(err)
}

// trim removes the oldest sessions above the limit, and those that have
// expired. A failure leaves them to the next report.
func (rs *Reports) trim(ctx context.Context) {
	old, err := rs.db.Range(ctx, broker.Query{Index: reportIndex, To: rs.db.Now().Add(-bridge.ReportedTTL)})
	if err == nil && len(old) > 0 {
		_, err = rs.db.Do(ctx, broker.Change{Unset: old})
	}
	n, cerr := rs.db.Count(ctx, reportIndex, time.Time{})
	if over := n - bridge.MaxReported; cerr == nil && over > 0 {
		old, err = rs.db.Range(ctx, broker.Query{Index: reportIndex, N: over})
		for _, m := range old {
			if err == nil {
				_, err = rs.db.Drop(ctx, reportDocs.Key(m.Name), reportIndex)
			}
		}
	}
	if err := cmp.Or(err, cerr); err != nil {
		rs.db.Log.Warn("status of an old session not deleted", "error", err)
	}
}

// PutSessionMessage records the interaction whose messages show a session, and reports
// whether the session is known.
func (rs *Reports) PutSessionMessage(ctx context.Context, agent, session string, id bridge.ID) (bool, error) {
	_, err := rs.update(ctx, agent, session, true, func(s *reported, _ time.Time) { s.Message = id })
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return false, nil
	}
	return err == nil, err
}

// Reported returns the status of a session. It returns false if the session is
// unknown.
func (rs *Reports) Reported(ctx context.Context, agent, session string) (bridge.SessionStatus, bool, error) {
	if session == "" {
		return bridge.SessionStatus{}, false, nil
	}
	s, d, err := reportDocs.Get(ctx, rs.db, life.Owner(agent, session))
	return s.status(), d.Exists() && err == nil, documents.Public(err)
}

// unfinished returns the version of the status of a session that has not
// finished. It returns CodeConflict if the session has finished.
func (rs *Reports) unfinished(ctx context.Context, agent, session string) (broker.Version, error) {
	s, d, err := reportDocs.Get(ctx, rs.db, life.Owner(agent, session))
	if err == nil && d.Exists() && s.State == bridge.SessionFinished {
		err = bridge.Errorf(bridge.CodeConflict, "the session has finished")
	}
	return d.At(), documents.Public(err)
}

// ListReported returns up to bridge.MaxReported sessions of an agent, or of all agents if
// agent is empty. The newest report is first.
func (rs *Reports) ListReported(ctx context.Context, agent string) (out bridge.Page[bridge.SessionStatus], err error) {
	all, err := rs.db.Range(ctx, broker.Query{Index: reportIndex, Newest: true, N: bridge.MaxReported})
	if err != nil {
		return out, documents.Public(err)
	}
	stored, err := documents.List(ctx, rs.db, reportDocs, documents.Owned(documents.Names(all), agent))
	out.Unreadable = stored.Unreadable
	for _, s := range stored.Items {
		out.Items = append(out.Items, s.status())
	}
	slices.SortStableFunc(out.Items, func(a, b bridge.SessionStatus) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.ID, b.ID))
	})
	return out, err
}
