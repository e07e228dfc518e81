package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// stoppedSessions is the body of the calls that stop and resume sessions.
type stoppedSessions struct {
	Items []bridge.Stop `json:"items"`
}

// list returns the sessions that a caller may see: agents see their own
// sessions, auditors see all, and people see the sessions of requests that they
// may read. With a session, it reports to an agent only whether that session is
// stopped.
func (s sessions) list(w http.ResponseWriter, r *http.Request, p Principal) error {
	out := bridge.Page[bridge.Session]{Items: []bridge.Session{}}
	var err error
	id := r.URL.Query().Get("session")
	switch {
	case p.Agent != nil && id != "":
		stop, stopped, err := s.engine.Sessions.Stopped(r.Context(), p.Agent.Name, id)
		if err != nil {
			return err
		}
		if stopped {
			out.Items = append(out.Items, bridge.Session{Agent: stop.Agent, ID: stop.Session, Stopped: &stop})
		}
		return write(w, http.StatusOK, out)
	case p.Agent != nil:
		out, err = s.engine.Sessions.List(r.Context(), p.Agent.Name)
	case p.Auditor:
		out, err = s.engine.Sessions.List(r.Context(), "")
	default:
		out, err = s.engine.Sessions.ListFor(r.Context(), p.actor())
	}
	if err != nil {
		return err
	}
	if out.Items == nil {
		out.Items = []bridge.Session{}
	}
	return write(w, http.StatusOK, out)
}

// report records a report of an agent about a session.
func (s sessions) report(w http.ResponseWriter, r *http.Request, p Principal) error {
	var report bridge.SessionReport
	if err := read(r, &report); err != nil {
		return err
	}
	id := r.PathValue("id")
	status, err := s.engine.Sessions.Report(r.Context(), *p.Agent, id, report)
	if err != nil {
		return err
	}
	stop, stopped, err := s.engine.Sessions.Stopped(r.Context(), p.Agent.Name, id)
	if err != nil {
		return err
	}
	out := bridge.Session{Agent: p.Agent.Name, ID: id, Status: &status}
	if stopped {
		out.Stopped = &stop
	}
	return write(w, http.StatusOK, out)
}

// reportHook records the data of a hook about its session, and the data of its
// process about the machine. The hook works without this report.
func (s exchanges) reportHook(ctx context.Context, p Principal, r *dialect.Report, q url.Values) {
	if r == nil {
		return
	}
	report := r.SessionReport
	report.Host, report.Branch, report.Route = q.Get("host"), q.Get("branch"), q.Get("route")
	if folder := q.Get("folder"); folder != "" {
		report.Folder = folder
	}
	if at, err := strconv.ParseInt(q.Get("at"), 10, 64); err == nil {
		report.At = time.UnixMilli(at)
	}
	if _, err := s.engine.Sessions.Report(ctx, *p.Agent, r.Session, report); err != nil {
		s.log.Warn("session of a hook not reported", "agent", p.Agent.Name, "session", r.Session, "error", err)
	}
}

// ofAgent is the body of the calls that stop and resume a session.
type ofAgent struct {
	Agent string `json:"agent,omitempty"` // agent of the session; empty means every agent
}

func (s sessions) stop(w http.ResponseWriter, r *http.Request, p Principal) error {
	var a ofAgent
	if err := readOptional(r, &a); err != nil {
		return err
	}
	id := r.PathValue("id")
	if err := bridge.CheckText("session", id, 200); err != nil {
		return err
	}
	var done []bridge.Stop
	var err error
	if p.Agent != nil {
		done, err = s.engine.Sessions.StopOwn(r.Context(), p.Agent.Name, id)
	} else {
		done, err = s.engine.Sessions.Stop(r.Context(), p.actor(), a.Agent, id)
	}
	if err != nil && len(done) > 0 {
		e := bridge.PublicError(err)
		e.Cause = err
		for _, s := range done {
			e.Message += "; stopped: " + bridge.OneLine(s.Agent) + " " + bridge.OneLine(s.Session)
		}
		return e
	}
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, stoppedSessions{done})
}

func (s sessions) resume(w http.ResponseWriter, r *http.Request, p Principal) error {
	var a ofAgent
	if err := readOptional(r, &a); err != nil {
		return err
	}
	done, err := s.engine.Sessions.Resume(r.Context(), p.actor(), a.Agent, r.PathValue("id"))
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, stoppedSessions{done})
}
