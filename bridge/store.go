package bridge

import (
	"time"
)

// Awaited returns the result of Await to a caller of AwaitThen, which calls it
// at most once.
type Awaited func() (*Record, error)

// Opening is a new interaction with the facts that are known when it opens.
type Opening struct {
	Interaction Interaction
	Identity    Identity
	// Failures holds, by index of the destination, the reasons that nod cannot
	// reach it.
	Failures map[int]string
	// Response is set if nod does not have to ask anyone.
	Response *Response
	// Queued means that the interaction is deferred from the start.
	Queued bool
	// Awaited means that the caller calls Await next. This saves a round trip
	// to the store.
	Awaited bool
	// MaxPending is the maximum number of pending requests of the agent. Zero
	// means no limit.
	MaxPending int
	// FrontEnds means that front ends of the session can answer, so the
	// interaction stays open even if no destination can be reached.
	FrontEnds bool
	// Superseded is the response of Interaction.Previous if it is still
	// pending.
	Superseded Response
}

// Settlement closes an interaction with an answer or a cancellation. It has no
// effect after the deadline.
type Settlement struct {
	ID       ID
	Response Response
	Nonce    string // identifies repeats of this settlement
	// Expect is the value of Record.Amended when the response was checked. If
	// the stored value has changed, the settlement fails with CodeConflict. If
	// Expect is nil, there is no check.
	Expect *int
	// Receipt is the receipt of a decision that a failover lost and that is now
	// recorded again. It is empty for a new decision, which gets a new receipt.
	Receipt string
	// Recorded is the time when the decision was first recorded, if a failover
	// lost it. A decision that was first recorded before the deadline still
	// counts after the deadline.
	Recorded time.Time
}

// Mark is one event of an interaction. Exactly one field other than Caller is
// set.
type Mark struct {
	Posted    *Posted
	Failed    *Failed
	Queued    time.Duration // deferred: the time for which the interaction stays open; positive
	Completed *Completion
	Joined    bool // an identical request shares the answer
	// Caller waits for the interaction as well; see Abandon of package core. It can be set
	// together with Joined.
	Caller  string
	Amended *Amendment
	Late    *Late
	Redraw  *int // destination whose message must be updated
	// Refresh is the delay after which all messages must be updated. It does
	// not postpone an earlier update.
	Refresh *time.Duration
	Part    *Part
	Shown   *Shown
	Deleted *Deleted
}

// Posted records a posted message. If the message is already out of date, an
// edit job is stored in the same step.
type Posted struct {
	Destination int
	Ref         MessageRef
	Revision    int64 // revision of the record that was shown
	// Content identifies the text that the message shows in full; see
	// [View.Content]. It is empty if the message does not show everything.
	Content string
	// Look is the time after which nod updates the message again, even if it is
	// up to date, to find out whether it still exists. Zero means never.
	Look time.Duration
}

// Deleted records that a posted message no longer exists. It has no effect if
// the destination has another message in the meantime.
type Deleted struct {
	Destination int
	Ref         MessageRef
	Again       bool // post the card again while the interaction is pending
}

// Late records that a card cannot be posted yet: its platform limits the rate, is
// unreachable or is down.
type Late struct {
	Destination int
	Delay       time.Duration // from now
}

// Failed records that nod gave up on a destination. If no destination is left,
// the interaction becomes undeliverable in the same step. If Later is set, it
// will be shown elsewhere and stays open.
type Failed struct {
	Destination int
	Reason      string
	Later       bool
}

// JobKind is the kind of work of a job.
type JobKind string

// The jobs.
const (
	JobPost   JobKind = "post"   // show the interaction at a destination
	JobEdit   JobKind = "edit"   // update a posted message
	JobStep   JobKind = "step"   // take a step of the escalation policy; Destination is the index of the step
	JobRemind JobKind = "remind" // mention people; Destination is the index of the reminder
	JobHook   JobKind = "hook"   // send the outcome to a webhook or the requester; Destination is the index among Closings
)

// Job is leased work on one message.
type Job struct {
	ID          string // edits of one message share an ID
	Kind        JobKind
	Interaction ID
	Destination int
	Attempt     int       // 1 for the first attempt
	Fence       int64     // changes with each lease
	Generation  int64     // changes with each request for the job
	Began       time.Time // when a worker first claimed it
	// Stays means that a card keeps its place among the cards of its agent in
	// its channel while it is retried, so the next cards wait; see
	// Interaction.Line.
	Stays bool
}

// Expiry is an interaction that no one answered in time, and its new state: the
// state of its timeout rule, or StatePending if it waits for a late answer.
type Expiry struct {
	ID    ID
	State State
}

// PresenceTTL is the time that a front end counts as connected after its last
// Join.
const PresenceTTL = 30 * time.Second

// Grant is a standing approval. It covers the exact same request, or everything
// that one configured rule matches, for one agent in one location.
type Grant struct {
	Agent   string `json:"agent"`
	Session string `json:"session,omitempty"` // empty means every session
	// Key is derived by nod from the coverage of the grant. It never contains a
	// key that an agent sends.
	Key     string    `json:"key"`
	Actor   Actor     `json:"actor"`
	Origin  ID        `json:"origin"` // the interaction in which it was given
	Expires time.Time `json:"expires"`
	Tool    string    `json:"tool,omitempty"`
	// Covers states exactly what the grant covers. The card showed the same
	// words before the approval; see [Interaction.Coverage].
	Covers string `json:"covers,omitempty"`
	Where  string `json:"where,omitempty"`  // the only location that the grant covers
	Route  string `json:"route,omitempty"`  // route of the request in which it was given
	Quorum int    `json:"quorum,omitempty"` // required approvals when it was given

	At   time.Time `json:"at,omitzero"`    // when it was given
	Rule string    `json:"rule,omitempty"` // name of the rule; empty for a grant of the exact request
	// Givers lists the people who approved. A grant applies only while they
	// could approve the request that it covers.
	Givers []Actor `json:"givers,omitempty"`
	// Routes, Confirm and Risk belong to the approved request. The grant does
	// not cover a request whose routes, confirmation or risk level differ.
	Routes  []string `json:"routes,omitempty"`
	Confirm string   `json:"confirm,omitempty"`
	Risk    string   `json:"risk,omitempty"`
	// Assurance is the assurance of all approvals of the grant. It is empty if
	// they differed.
	Assurance Assurance `json:"assurance,omitempty"`
}
