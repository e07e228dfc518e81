package bridge

import (
	"strconv"
	"time"
)

// MaxStopped is the maximum number of stopped sessions.
const MaxStopped = 10_000

// Stop states that a session is stopped: nod denies its requests until a person
// resumes it.
type Stop struct {
	Agent   string    `json:"agent"`
	Session string    `json:"session"`
	By      Actor     `json:"by"`
	At      time.Time `json:"at"`
	// Route is the route of the session's newest request. Its responders may
	// resume the session after nod has removed the requests of the session.
	Route string `json:"route,omitempty"`
}

// Words returns the reason for agents and people. It explains how to resume the
// session.
func (s Stop) Words() string {
	return "stopped by " + OneLine(s.By.Display()) + " at " + stopTime(s.At) + "; " + CommandName + " resume " + OneLine(s.Session)
}

// Refusal is the response to a request of the stopped session. No client
// interprets it as an approval: an approval is denied, and any other request is
// cancelled.
func (s Stop) Refusal(i Interaction) Response {
	r := Response{
		State: StateCancelled, Stop: true, Reason: s.Words(), Annotations: map[string]Annotation{}, At: i.Created, Digest: i.Digest,
	}
	if i.Kind == KindApproval {
		r.State = StateDenied
	}
	return r
}

// StopsSession reports whether a person denied a request with a stop of its session.
func (r Record) StopsSession() bool {
	return r.State == StateDenied && r.Response.Stop && r.Response.Actor != nil && r.Interaction.Session != ""
}

// Stops reports whether the response closes a request because its session was
// stopped, not because someone denied it.
func (r *Response) Stops() bool { return r != nil && r.Stop && r.Actor == nil }

// Session is a session with requests, or a stopped one.
type Session struct {
	Agent   string `json:"agent"`
	ID      string `json:"id"`
	Pending int    `json:"pending"` // number of pending requests
	// Last is the creation time of the newest request. It is zero if nod has no
	// request of the session.
	Last time.Time `json:"last,omitzero"`
	// Stopped is nil if the session is not stopped.
	Stopped *Stop `json:"stopped,omitempty"`
	// Status is nil if the agent has not reported the session.
	Status *SessionStatus `json:"status,omitempty"`
}

// Newest returns the time of the newest request or report.
func (s Session) Newest() time.Time {
	if s.Status != nil && s.Status.Updated.After(s.Last) {
		return s.Status.Updated
	}
	return s.Last
}

// SessionChange is the Data of AuditStop and AuditResume.
type SessionChange struct {
	By Actor `json:"by"`
	// Origin is the request on whose card the person clicked, if any.
	Origin ID `json:"origin,omitempty"`
}

// Words describes the state of the session.
func (s Session) Words(now time.Time) string {
	var out string
	switch s.Pending {
	case 0:
		out = "no pending requests"
	case 1:
		out = "1 pending request"
	default:
		out = strconv.Itoa(s.Pending) + " pending requests"
	}
	if st := s.Status; st != nil {
		out = st.words() + ", " + out
	}
	if s.Stopped != nil {
		out = "stopped by " + OneLine(s.Stopped.By.Display()) + " at " + stopTime(s.Stopped.At)
	}
	if st := s.Status; st != nil && st.Title != "" {
		out += ", " + strconv.Quote(OneLine(st.Title))
	}
	if !s.Last.IsZero() {
		out += ", last request " + Brief(max(0, now.Sub(s.Last)).Round(time.Second)) + " ago"
	}
	return out
}

func stopTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
