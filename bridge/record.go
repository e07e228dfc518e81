package bridge

import (
	"encoding/json"
	"time"
)

// Completion is the result of an agent's tool after a response.
type Completion struct {
	// Result is shown below the answer, as text.
	Result string `json:"result,omitempty"`
	// Error is the reason that the tool failed. It is shown as an error.
	Error string `json:"error,omitempty"`
	// Ran is set if the agent reported that the call ran. It states who allowed
	// the call: RanApproved, ReasonAnswered (set only by nod), or
	// ReasonAllowed.
	Ran string `json:"ran,omitempty"`
}

// RanApproved is the value of Completion.Ran for a call that ran after the agent
// had received its approval.
const RanApproved = "approved"

// Overruled reports whether a call ran because the agent's user had decided at
// the agent's own terminal before the response in chat.
func (r Record) Overruled() bool {
	return r.Completion != nil && (r.Completion.Ran == ReasonAllowed || r.Completion.Ran == ReasonAnswered)
}

// MessageRef identifies a posted message.
type MessageRef struct {
	Channel string `json:"channel"` // ID that the platform returned; may differ from Destination.Channel
	Message string `json:"message"`
	Thread  string `json:"thread,omitempty"`
}

// Record holds everything that the store knows about an interaction.
type Record struct {
	Interaction Interaction `json:"interaction"`
	State       State       `json:"state"`
	Response    *Response   `json:"response,omitempty"` // nil while pending
	// Messages holds the posted messages by index into
	// Interaction.Destinations.
	Messages map[int]MessageRef `json:"messages,omitempty"`
	// Failures holds the reason why nod could not reach a destination, by the
	// index of the destination.
	Failures map[int]string `json:"failures,omitempty"`
	// Late holds the time of the next attempt by index of the destination, for
	// cards that are delayed because the platform limits the rate, is
	// unreachable or is down.
	Late map[int]time.Time `json:"late,omitempty"`
	// SentParts holds, by destination, the sent parts of a text that is too long
	// for its card. Shown holds, by destination, the content that the card
	// shows in full.
	SentParts map[int]SentParts `json:"-"`
	Shown     map[int]string    `json:"-"`
	// Delivered is the time when the agent received the response. It is
	// zero before that.
	Delivered time.Time `json:"delivered,omitzero"`
	// Sent is the time when nod first sent the response to a caller. It is zero
	// before that, and if no other caller can repeat the call.
	Sent time.Time `json:"-"`
	// Unawaited means that no caller was waiting when the response came.
	Unawaited bool `json:"unawaited,omitempty"`
	// Queued is the time when the interaction was deferred. It stays
	// pending. Queued is zero if it was not deferred.
	Queued time.Time `json:"queued,omitzero"`
	// Acknowledged means that the agent has acknowledged the late answer.
	Acknowledged bool `json:"-"`
	// Step is the index of the next step, Amended is the number of amendments,
	// and Reminders are the reminders that nod has sent or will send.
	Step      int        `json:"step,omitempty"`
	Amended   int        `json:"amended,omitempty"`
	Reminders []Reminder `json:"reminders,omitempty"`
	// Joined is the number of identical requests that share the answer.
	Joined int `json:"joined,omitempty"`
	// Next is the follow-up that took over the messages. It is empty if there
	// is none.
	Next ID `json:"next,omitempty"`
	// Head is the newest follow-up. It is set only in the first interaction.
	Head ID `json:"head,omitempty"`
	// Completion is the agent's report about the response. It is nil before
	// the report.
	Completion *Completion `json:"completion,omitempty"`
	// Votes lists the decisions so far on an interaction that needs
	// several, oldest first.
	Votes []Vote `json:"votes,omitempty"`
	// Audit is the entry in the audit log that was written with the
	// response.
	Audit *AuditRef `json:"audit,omitempty"`
	// Receipt is the signed [Receipt] of the decision. It is empty while the
	// interaction is pending, and if it closed without a decision.
	Receipt string `json:"receipt,omitempty"`
	// Unverified is the reason that the record does not verify. Agents do not
	// get a decision from such a record. It is empty for a record that
	// verifies.
	Unverified string `json:"unverified,omitempty"`
	// Repeated means that an earlier call with the same key or ID opened the
	// request. It is set only in the response to the call, and not stored.
	Repeated bool `json:"repeated,omitempty"`
	// Revision is the number of changes that affect messages.
	Revision int64 `json:"revision"`
}

// Over reports whether callers stop waiting, because the interaction is closed
// or deferred.
func (r Record) Over() bool { return r.State.Final() || !r.Queued.IsZero() }

// Text returns the reference as JSON.
func (r MessageRef) Text() string {
	b, _ := json.Marshal(r) // three strings always marshal
	return string(b)
}
