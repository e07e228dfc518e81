package bridge

import "time"

// Completion is what an agent's tool made of a response.
type Completion struct {
	// Result is shown below the answer, as text.
	Result string `json:"result,omitempty"`
	// Error means that the tool failed; people see it as such.
	Error string `json:"error,omitempty"`
}

// MessageRef finds a posted message again.
type MessageRef struct {
	Channel string `json:"channel"` // as the platform returned it; may differ from Destination.Channel
	Message string `json:"message"`
	Thread  string `json:"thread,omitempty"`
}

// Record is everything the store knows of an interaction.
type Record struct {
	Interaction Interaction `json:"interaction"`
	State       State       `json:"state"`
	Response    *Response   `json:"response,omitempty"` // nil while pending
	// Messages by index into Interaction.Destinations.
	Messages map[int]MessageRef `json:"messages,omitempty"`
	// Failures says why a destination, by index, could not be reached.
	Failures map[int]string `json:"failures,omitempty"`
	// Late says when the turn of a destination, by index, is expected to come:
	// its channel has more to show than the service takes.
	Late map[int]time.Time `json:"late,omitempty"`
	// Sending is what was sent, by destination, of a text that is too long for
	// its card. Shown names the content that a destination shows whole.
	Sending map[int]Sending `json:"-"`
	Shown   map[int]string  `json:"-"`
	// Held shows until when a daemon was asked to keep it open.
	Held string `json:"-"`
	// Delivered is when an agent received the response; zero: not yet.
	Delivered time.Time `json:"delivered,omitzero"`
	// Unawaited means that nobody waited for the response when it came.
	Unawaited bool `json:"unawaited,omitempty"`
	// Queued is when the agent was told that the answer will come later; zero:
	// it was not. The interaction stays pending.
	Queued time.Time `json:"queued,omitzero"`
	// Escalated is when more people were asked; zero: they were not.
	Escalated time.Time `json:"escalated,omitzero"`
	// Step is the next of the interaction's steps, Amended counts changes of
	// who is asked, and Reminders are those that were sent or will be.
	Step      int        `json:"step,omitempty"`
	Amended   int        `json:"amended,omitempty"`
	Reminders []Reminder `json:"reminders,omitempty"`
	// Joined counts the identical requests that wait for the same answer.
	Joined int `json:"joined,omitempty"`
	// Batch is the interaction whose messages show this one too; empty: it has
	// its own. Members are all that the messages of this one show, itself
	// first; none where it is alone.
	Batch   ID   `json:"batch,omitempty"`
	Members []ID `json:"members,omitempty"`
	// Next took over the messages; empty: nothing did.
	Next ID `json:"next,omitempty"`
	// Head is the last of those that took over, on the first of them.
	Head ID `json:"head,omitempty"`
	// Completion is what the agent made of the response; nil: it has not said.
	Completion *Completion `json:"completion,omitempty"`
	// Votes are the decisions so far of one that needs several, oldest first.
	Votes []Vote `json:"votes,omitempty"`
	// Audit is the entry of the audit log that was written with the response.
	Audit *AuditRef `json:"audit,omitempty"`
	// Receipt is the signed [Receipt] that was made with the decision. It is
	// empty while the interaction is pending, and if it ended without a
	// decision.
	Receipt string `json:"receipt,omitempty"`
	// Unverified says why what is stored proves nothing. No agent gets a
	// decision from such a record. It is empty for a record that verifies.
	Unverified string `json:"unverified,omitempty"`
	// Revision counts changes that alter what the messages show.
	Revision int64 `json:"revision"`
}

// Over reports whether there is nothing left to wait for: the interaction has
// ended, or its agent was told that the answer comes later.
func (r Record) Over() bool { return r.State.Final() || !r.Queued.IsZero() }
