package bridge

import (
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge/visible"
)

// Message is a message for a session: a late answer, or a text from a person.
type Message struct {
	ID      string    `json:"id"`
	Session string    `json:"session"`
	At      time.Time `json:"at"`
	// Text is the message as plain text, to be passed to the agent as a
	// message of the user.
	Text string `json:"text"`
	// Record is the answered request of a late answer.
	Record Record `json:"record,omitzero"`
	// Steering is the message from a person. It is nil for a late answer.
	Steering *Steering `json:"steering,omitempty"`
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
		b.WriteString("By: " + a.Display() + " on " + a.Platform + r.Response.Assurance.With() + "\n")
	}
	m.Text = b.String()
	return m
}

// SaidMessage returns the message for a text from a person.
func SaidMessage(s Steering) Message {
	return Message{ID: s.ID, Session: s.Session, At: s.At, Text: s.Words() + "\n", Steering: &s}
}

// OneLine returns text on one line, in the form that people see; see
// [visible.Line].
func OneLine(s string) string { return visible.Line(s) }

// Reach describes whether nod can reach a destination.
type Reach struct {
	Destination
	Reachable bool   `json:"reachable"`
	Reason    string `json:"reason,omitempty"` // why it cannot be reached
}

// Availability describes who could answer a request now.
type Availability struct {
	Available bool `json:"available"`
	// Clients is the number of front ends connected to the session, and Enabled
	// is the number of front ends that can answer.
	Clients      int     `json:"clients"`
	Enabled      int     `json:"enabled"`
	Destinations []Reach `json:"destinations"`
}
