package bridge

import (
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge/visible"
)

// Message is a late answer for a session.
type Message struct {
	ID      string    `json:"id"` // acknowledges this message and all earlier ones
	Session string    `json:"session"`
	At      time.Time `json:"at"`
	// Text is the answer as plain text, to be passed to the agent as a
	// message of the user.
	Text   string `json:"text"`
	Record Record `json:"record"`
}

// NewMessage returns the message for a record that was answered late.
func NewMessage(id string, r Record) Message {
	m := Message{ID: id, Session: r.Interaction.Session, Record: r}
	var b strings.Builder
	b.WriteString("Late answer to: " + OneLine(r.Interaction.Prompt) + "\n")
	if r.Response == nil {
		m.Text = b.String()
		return m
	}
	m.At = r.Response.At
	switch r.State {
	case StateAnswered:
		for _, q := range r.Interaction.Questions {
			name := q.Text
			if name == "" {
				name = "Answer"
			}
			b.WriteString(OneLine(name) + ": " + q.Labels(r.Response.Answers[q.ID]) + "\n")
		}
	default:
		b.WriteString("Decision: " + r.Outcome() + "\n")
		if r.Response.Reason != "" {
			b.WriteString("Reason: " + r.Response.Reason + "\n")
		}
	}
	if a := r.Response.Actor; a != nil {
		b.WriteString("By: " + a.Display() + " on " + a.Platform + "\n")
	}
	m.Text = b.String()
	return m
}

// OneLine returns text on one line, as people see it; see [visible.Line].
func OneLine(s string) string { return visible.Line(s) }

// Reach describes whether a destination can be reached.
type Reach struct {
	Destination
	Reachable bool   `json:"reachable"`
	Reason    string `json:"reason,omitempty"` // why it cannot be reached
}

// Availability describes who could answer now.
type Availability struct {
	Available bool `json:"available"`
	// Clients is the number of front ends connected to the session, and
	// Enabled the number of those that can answer.
	Clients      int     `json:"clients"`
	Enabled      int     `json:"enabled"`
	Destinations []Reach `json:"destinations"`
}
