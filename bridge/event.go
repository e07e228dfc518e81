package bridge

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// EventType names a step in the life of an interaction.
type EventType string

// The events.
const (
	EventRequest   EventType = "interaction_request"  // opened; Data is the Interaction
	EventResponse  EventType = "interaction_response" // final; Data is the Response
	EventPosted    EventType = "posted"               // shown at a destination; Data is a Delivery
	EventFailed    EventType = "failed"               // a destination was given up; Data is a Delivery
	EventDelivered EventType = "delivered"            // an agent received the response; no Data

	EventEscalated  EventType = "escalated"  // more people are asked; Data is the Interaction
	EventWidened    EventType = "widened"    // others are asked as well, before the deadline; Data is the Interaction
	EventReminded   EventType = "reminded"   // people are mentioned; no Data
	EventQueued     EventType = "queued"     // the agent was told that the answer comes later; no Data
	EventReprompted EventType = "reprompted" // asked again; Data is the ID of the interaction that does
	EventJoined     EventType = "joined"     // an identical request waits for the same answer; no Data
	EventBatched    EventType = "batched"    // shown in the message of another; Data is that one's ID
	EventVoted      EventType = "voted"      // one of several decisions that are needed; Data is a Vote
	EventCompleted  EventType = "completed"  // the agent's tool is done; Data is a Completion
)

// Event is one step, written in the same atomic step as the change it reports.
// Events of one session are totally ordered.
type Event struct {
	// Cursor resumes after this event; opaque.
	Cursor        string          `json:"cursor"`
	Type          EventType       `json:"type"`
	Timestamp     time.Time       `json:"timestamp"`
	InteractionID ID              `json:"interactionId"`
	SessionID     string          `json:"sessionId,omitempty"`
	ToolCallID    string          `json:"toolCallId,omitempty"`
	TurnID        string          `json:"turnId,omitempty"`
	ResponseID    string          `json:"responseId,omitempty"`
	Agent         string          `json:"agent"`
	State         State           `json:"state,omitempty"`
	Data          json.RawMessage `json:"data,omitempty"`
}

// Delivery is the Data of EventPosted and EventFailed.
type Delivery struct {
	Destination int         `json:"destination"`
	Message     *MessageRef `json:"message,omitempty"`
	Reason      string      `json:"reason,omitempty"`
}

// EventFilter selects events; zero fields select all.
type EventFilter struct {
	Session string
	Agent   string
}

// ListFilter selects records; zero fields select all.
type ListFilter struct {
	State   State
	Session string
	Agent   string
	Text    string // somewhere in the prompt, the tool, the names or the id; capitals do not matter
	Cursor  string // where an earlier page ended
	Limit   int    // 0: 50; at most 200
	// May reports whether the caller may read a record; nil means all.
	May func(Record) bool `json:"-"`
	// AsStored keeps what does not verify as it is stored, for people to look
	// at. Otherwise such a record has ended without a decision.
	AsStored bool
}

// Match reports whether a record is one of those that are wanted.
func (f ListFilter) Match(r Record) bool {
	i := r.Interaction
	if f.State != "" && r.State != f.State || f.Agent != "" && i.Agent != f.Agent || f.Session != "" && i.Session != f.Session {
		return false
	}
	if f.May != nil && !f.May(r) {
		return false
	}
	if f.Text == "" {
		return true
	}
	texts := []string{i.Prompt, i.Agent, i.Session, i.Route, string(i.ID)}
	if i.Approval != nil {
		texts = append(texts, i.Approval.Tool, string(i.Approval.Input))
	}
	if r.Response != nil && r.Response.Actor != nil {
		texts = append(texts, r.Response.Actor.Display())
	}
	want := strings.ToLower(f.Text)
	return slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(strings.ToLower(s), want) })
}

// List is a page of records, newest first.
type List struct {
	Items []Record `json:"items"`
	Next  string   `json:"next,omitempty"` // cursor of the next page; empty: this was the last
}
