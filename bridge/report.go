package bridge

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// SessionState is the state of a session, as its agent reports it.
type SessionState string

// The states of a session.
const (
	SessionWorking  SessionState = "working"
	SessionWaiting  SessionState = "waiting" // waits for its user, at the agent's own terminal
	SessionFinished SessionState = "finished"
)

// Limits of reported sessions.
const (
	// ReportedTTL is the time for which nod keeps the status of a session
	// after its last report.
	ReportedTTL = 7 * 24 * time.Hour
	// MaxReported is the maximum number of reported sessions. A new session
	// then replaces the session whose last report is the oldest.
	MaxReported = 1000
	// MaxReportText limits each text of a report, in characters, and
	// MaxLastMessage its last message.
	MaxReportText  = 200
	MaxLastMessage = 1500
)

// SessionReport holds the report of an agent about a session. An empty field keeps
// its earlier value.
type SessionReport struct {
	State SessionState `json:"state,omitempty"`
	Title string       `json:"title,omitempty"`
	// Prompt is the text that started the session. It is the title if the
	// session has none.
	Prompt string `json:"prompt,omitempty"`
	Host   string `json:"host,omitempty"`
	Folder string `json:"folder,omitempty"`
	Branch string `json:"branch,omitempty"`
	// Step is the last step of the agent, such as a tool call. Each report
	// with a step counts as one.
	Step string `json:"step,omitempty"`
	// Waits names the input that a waiting session needs.
	Waits string `json:"waits_for,omitempty"`
	// Last is the last message from the agent.
	Last  string `json:"last_message,omitempty"`
	Route string `json:"route,omitempty"` // empty means the route named default
	// Subagent is the name of a subagent, and SubagentID the value of
	// Interaction.Turn that its requests have.
	Subagent   string `json:"subagent,omitempty"`
	SubagentID string `json:"subagent_id,omitempty"`
	// At is the time of the event. A report that is older than the state of
	// the session does not change the state. Zero means now.
	At time.Time `json:"at,omitzero"`
	// Update means that the report adds to a session that was reported before.
	// It does not start a session.
	Update bool `json:"update,omitempty"`
}

// Normalize checks the report, and removes content that chat platforms cannot
// show. It returns CodeInvalid for an unknown state.
func (r *SessionReport) Normalize() error {
	switch r.State {
	case "", SessionWorking, SessionWaiting, SessionFinished:
	default:
		return Errorf(CodeInvalid, "state: unknown state %q", r.State).WithHint("use working, waiting or finished")
	}
	for t := range r.Texts() {
		if !t.Use.Has(TextShown) {
			continue
		}
		if t.Value != &r.Last {
			*t.Value = OneLine(*t.Value)
		}
		*t.Value = reported(*t.Value, t.Most)
	}
	return CheckTexts(r.Texts())
}

// reported returns a text of a report without control characters, cut to a
// number of characters.
func reported(s string, limit int) string {
	s = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' || c == utf8.RuneError {
			return -1
		}
		return c
	}, s)
	s = strings.TrimSpace(s)
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}

// SessionStatus is the merged result of the reports about a session.
type SessionStatus struct {
	Agent  string       `json:"agent"`
	ID     string       `json:"id"`
	State  SessionState `json:"state,omitempty"`
	Title  string       `json:"title,omitempty"`
	Host   string       `json:"host,omitempty"`
	Folder string       `json:"folder,omitempty"`
	Branch string       `json:"branch,omitempty"`
	Step   string       `json:"step,omitempty"`
	Steps  int          `json:"steps,omitempty"` // number of steps
	Waits  string       `json:"waits_for,omitempty"`
	Last   string       `json:"last_message,omitempty"`
	Route  string       `json:"route,omitempty"`
	// Subagents holds the names of subagents by Interaction.Turn.
	Subagents map[string]string `json:"-"`
	Started   time.Time         `json:"started"`
	Since     time.Time         `json:"since"`            // time of State
	Stepped   time.Time         `json:"stepped,omitzero"` // time of Step
	Updated   time.Time         `json:"updated"`
	// Message is the interaction whose messages show the session. It is empty
	// if the session has no message.
	Message ID `json:"message,omitempty"`
}

// SessionView is the part of a message about the session of its interaction.
type SessionView struct {
	Status SessionStatus
	// The other fields are set only for the message of the session. Pending lists
	// its pending requests, oldest first.
	Stopped *Stop
	Pending []Record
	// Links holds URLs of cards of Pending by index. It is shorter than Pending if
	// the message names only some of them, and a card without a URL has "".
	Links   []string
	Decided Tally
}

// Tally counts the closed requests that people decided, by their decision.
type Tally struct {
	Approved, Denied, Answered int
	// Of is the number of newest requests that were examined, if the session
	// has more. Zero means that all were examined.
	Of int
}

// Add counts a record if a person decided it.
func (t *Tally) Add(r Record) {
	if r.Response == nil || r.Response.Actor == nil || r.Interaction.Kind == KindNotice {
		return
	}
	switch r.State {
	case StateApproved:
		t.Approved++
	case StateDenied:
		t.Denied++
	case StateAnswered:
		t.Answered++
	}
}

// words describes the state of a session.
func (s SessionStatus) words() string {
	switch {
	case s.State == SessionWaiting && s.Waits != "":
		return "waiting for " + OneLine(s.Waits)
	case s.State == "":
		return "working"
	}
	return string(s.State)
}
