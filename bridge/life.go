package bridge

import (
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge/visible"
)

// Message is a late answer for a session.
type Message struct {
	ID      string    `json:"id"` // acknowledges it and all before it
	Session string    `json:"session"`
	At      time.Time `json:"at"`
	// Text is the answer in words, to be handed to the agent as a user's message.
	Text   string `json:"text"`
	Record Record `json:"record"`
}

// NewMessage makes the message of a record that was answered late.
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

func OneLine(s string) string { return visible.Line(s) }

// Reach is how a destination can be reached.
type Reach struct {
	Destination
	Reachable bool   `json:"reachable"`
	Reason    string `json:"reason,omitempty"` // why not
}

// Availability reports whether anybody could answer now.
type Availability struct {
	Available bool `json:"available"`
	// Clients are the front ends connected to the session, Enabled those of
	// them that can answer.
	Clients      int     `json:"clients"`
	Enabled      int     `json:"enabled"`
	Destinations []Reach `json:"destinations"`
}
