package bridge

import (
	"encoding/json"
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
	Cursor  string // where an earlier page ended
	Limit   int    // 0: 50; at most 200
}

// List is a page of records, newest first.
type List struct {
	Items []Record `json:"items"`
	Next  string   `json:"next,omitempty"` // cursor of the next page; empty: this was the last
}
