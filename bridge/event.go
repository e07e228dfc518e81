package bridge

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// EventType names a change of an interaction.
type EventType string

// The events.
const (
	EventRequest   EventType = "interaction_request"  // opened; Data is the Interaction
	EventResponse  EventType = "interaction_response" // closed; Data is the Response
	EventPosted    EventType = "posted"               // shown at a destination; Data is a Delivery
	EventFailed    EventType = "failed"               // nod gave up on a destination; Data is a Delivery
	EventDelivered EventType = "delivered"            // an agent received the response; Data is empty

	EventWidened    EventType = "widened"    // more people are asked before the deadline; Data is the Interaction
	EventReminded   EventType = "reminded"   // people were mentioned; Data is empty
	EventQueued     EventType = "queued"     // deferred: the agent continues and gets a late answer; Data is empty
	EventReprompted EventType = "reprompted" // asked again; Data is the ID of the follow-up
	EventJoined     EventType = "joined"     // an identical request shares the answer; Data is empty
	EventVoted      EventType = "voted"      // one of several required decisions; Data is a Vote
	EventCompleted  EventType = "completed"  // the agent's tool reported its result; Data is a Completion

	// These events belong to a session and have no InteractionID.
	EventStopped EventType = "session_stopped" // requests of the session are denied from now on; Data is the Actor
	EventResumed EventType = "session_resumed" // requests of the session are no longer denied; Data is the Actor
)

// Event reports one change. It is stored atomically with that change. The
// events of a session are totally ordered.
type Event struct {
	// Cursor is an opaque position after this event.
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

// EventFilter selects events. A field with its zero value matches every event.
type EventFilter struct {
	Session string
	Agent   string
}

// ListFilter selects records. A field with its zero value matches every record.
type ListFilter struct {
	State   State
	Session string
	Agent   string
	// Text is matched against the prompt, the tool, the location, the names and
	// the ID, ignoring case.
	Text string
	// Since and Until limit the time at which a request was opened. The range
	// includes Since and excludes Until.
	Since, Until time.Time
	Cursor       string // end of the previous page
	Limit        int    // at most 200; zero means 50
	// May reports whether the caller may read a record. If it is nil, the
	// caller may read all records.
	May func(Record) bool `json:"-"`
	// AsStored returns records that fail verification in their stored form, for
	// inspection. Otherwise, such a record is returned as closed without a
	// decision.
	AsStored bool
}

// Match reports whether the filter selects a record.
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
		texts = append(texts, i.Approval.Tool, i.Approval.Where, string(i.Approval.Input))
	}
	if r.Response != nil && r.Response.Actor != nil {
		texts = append(texts, r.Response.Actor.Display())
	}
	want := strings.ToLower(f.Text)
	return slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(strings.ToLower(s), want) })
}

// Page is a list, or a page of it.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"` // cursor of the next page; empty on the last page
	// Unreadable is the number of stored items that the page lacks because they do
	// not verify, or because a newer version of nod wrote them. nod may not know
	// whose they are, so every reader gets their number.
	Unreadable int `json:"unreadable,omitempty"`
}

// Lacks returns a sentence for a list that lacks a number of unreadable items, after a
// space. It returns "" for 0.
func Lacks(n int, noun string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return " 1 more " + noun + " cannot be read; an administrator finds it in the log of the daemon."
	}
	return " " + strconv.Itoa(n) + " more " + noun + "s cannot be read; an administrator finds them in the log of the daemon."
}

// List is a page of records, newest first.
type List = Page[Record]
