package bridge

import (
	"context"
	"time"
)

// Store combines all ports of one database. Only a complete engine takes a
// Store. Each part of the engine takes the ports that it uses. Every method of
// a port is atomic, safe for concurrent use and safe to repeat. A method
// returns CodeUnavailable if the database is unreachable. Returned records may
// share memory, so callers must not change the values that they point to.
type Store interface {
	Openings
	Records
	Outcomes
	Outbox
	Deadlines
	Drafts
	Notes
	Leases
	Grants
	Stops
	Reports
	Memory
	Mailbox
	Steerings
	Presence
	AuditLog
	Links
	Limits
}

// Openings stores new interactions.
type Openings interface {
	// Open stores a new interaction with its posting jobs. If the ID exists, or
	// if the call repeats an earlier call (see [Identity.Repeat]), it returns
	// the first record and false. If the caller chose the key and the digest
	// differs, it returns CodeConflict. If the answer is spent, it returns a
	// RepeatedError. If a duplicate joins a pending request, it returns the
	// record of that request and false. If a stop applies to the request (see
	// [Opening.Stoppable]), it returns a StoppedError. If too many requests of
	// the agent are pending, it returns CodeRateLimited.
	Open(context.Context, Opening) (Record, bool, error)
	// Known reports whether Open would return the record of an earlier call.
	Known(context.Context, Opening) (bool, error)
	// Setting returns the state that an opening depends on, in one round trip.
	Setting(context.Context, SettingQuery) (Setting, error)
}

// SettingQuery selects the state that a Setting holds.
type SettingQuery struct {
	Agent, Session string   // the session may be empty
	Grants         []string // keys
}

// Setting holds the state on which an opening depends.
type Setting struct {
	// Grants holds the unexpired grants under any of the keys, for the session
	// and for every session.
	Grants []Grant
	// FrontEnds means that a connected front end of the session, or of every
	// session, can answer.
	FrontEnds bool
}

// Awaited passes the result of Await to a caller of AwaitThen, which calls it
// at most once.
type Awaited func() (*Record, error)

// Records stores interactions and the events that happened to them.
type Records interface {
	// Load returns a record. It returns CodeNotFound if the record does not
	// exist. A record that does not verify is returned as closed without a
	// decision; see [Record.Distrusted].
	Load(context.Context, ID) (Record, error)
	// Inspect returns a record in its stored form.
	Inspect(context.Context, ID) (Record, error)
	// Mark stores an event of an interaction that does not close it.
	Mark(context.Context, ID, Mark) (Record, error)
	// Abandon stores that a caller no longer waits for a pending interaction.
	// If no other caller waits, it closes the interaction with a response. The
	// name is the [CallerName] of the caller, or [Anyone]. If only a connection
	// was lost, the caller may be waiting on another connection.
	Abandon(ctx context.Context, id ID, name string, cut bool, end Response) (Record, error)
	// Sending stores that the response of a closed record is about to be sent. If
	// only one caller may get the response, the first one does; any other caller gets
	// a RepeatedError.
	Sending(ctx context.Context, r Record, caller string) error
	// Delivered stores that the agent has received the response of a closed
	// record.
	Delivered(context.Context, Record) error
	// Await returns once the interaction is over; see Record.Over. If ctx
	// ends first, it returns ctx's error. Callers share the record and must
	// not change it.
	Await(context.Context, ID) (*Record, error)
	// AwaitThen is Await for a caller that has no goroutine for waiting. It
	// returns immediately. It calls then exactly once, on a separate goroutine.
	AwaitThen(ctx context.Context, id ID, then func(Awaited))
	// Pending returns the pending interactions of a session, newest first. If
	// both arguments are empty, it returns all pending interactions, beginning
	// with the next deadline.
	Pending(ctx context.Context, agent, session string) ([]ID, error)
}

// Outcomes closes interactions. It signs decisions. It returns CodeForbidden
// for an approval without the assurance that the request requires.
type Outcomes interface {
	// Settle closes a pending interaction. It returns the new record, and
	// reports whether this settlement closed it. A repeat with the nonce of the
	// settlement that closed it also reports true.
	Settle(context.Context, Settlement) (Record, bool, error)
	// Vote records a decision on an interaction that requires several. The
	// last required decision closes it.
	Vote(context.Context, Ballot) (Record, BallotResult, error)
}

// Opening holds the arguments of Openings.Open.
type Opening struct {
	Interaction Interaction
	Identity    Identity
	// Timeout is the response of the interaction at its deadline.
	Timeout Response
	// Failures holds, by index of the destination, the reasons that nod cannot
	// reach it.
	Failures map[int]string
	// Response is set if nod does not have to ask anyone.
	Response *Response
	// AfterHold is the response of a deferred interaction at the end of its
	// hold time.
	AfterHold Response
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
	// Stoppable means that nothing is stored if the session is stopped.
	Stoppable bool
	// Superseded is the response of Interaction.Previous if that interaction is
	// still pending.
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
	// counts after it.
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
	// Caller is another caller that waits for the interaction; see
	// Records.Abandon. It can be set together with Joined.
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

// Drafts stores unfinished answers. It keeps them for a time after the
// deadline.
type Drafts interface {
	// Draft returns the draft of the actor, and the draft that the card of
	// the destination shows. Each is nil if there is none.
	Draft(ctx context.Context, id ID, destination int, actor Actor) (mine, shown *Draft, err error)
	// SaveDraft stores d as the draft of its actor, and as the draft that
	// the card shows.
	SaveDraft(ctx context.Context, id ID, destination int, d Draft) error
}

// Notes stores small values for a limited time.
type Notes interface {
	// PutNote stores value unless the key exists, and returns the stored
	// value.
	PutNote(ctx context.Context, key, value string, ttl time.Duration) (string, error)
	// SetNote stores value under the key, and replaces an existing value.
	SetNote(ctx context.Context, key, value string, ttl time.Duration) error
	// Note returns a value. It returns "" if there is none.
	Note(ctx context.Context, key string) (string, error)
	// DropNote deletes a value.
	DropNote(ctx context.Context, key string) error
}

// Leases provides mutual exclusion between processes.
type Leases interface {
	// Hold acquires or extends a lease. It reports whether holder has the
	// lease.
	Hold(ctx context.Context, name, holder string, ttl time.Duration) (bool, error)
	// Release ends a lease if holder has it.
	Release(ctx context.Context, name, holder string) error
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

// Outbox hands out jobs.
type Outbox interface {
	// Claim leases up to n jobs that are due.
	Claim(ctx context.Context, n int, lease time.Duration) ([]Job, error)
	// Finish removes a job, unless it was requested again in the meantime.
	Finish(context.Context, Job) error
	// Retry makes a job due again after d. If the reason is empty, the
	// attempt does not count.
	Retry(ctx context.Context, j Job, d time.Duration, reason string) error
	// Bury moves a job that cannot be completed to the dead letters.
	Bury(ctx context.Context, j Job, reason string) error
	// Wait blocks until jobs may be due, for at most d.
	Wait(ctx context.Context, d time.Duration)
	// Extend extends the lease of a job to d from now. It returns false if
	// the lease was lost.
	Extend(ctx context.Context, j Job, d time.Duration) (bool, error)
}

// Deadlines closes interactions that no one answered in time.
type Deadlines interface {
	// Expire applies the timeout rule to interactions whose deadline has
	// passed, up to n in one step. It returns the interactions that are over as
	// a result. It reports whether more interactions may be due.
	Expire(ctx context.Context, n int) (over []Expiry, more bool, err error)
}

// Expiry is an interaction whose deadline passed, and its new state: the state
// that the timeout rule sets, or StatePending if it waits for a late answer.
type Expiry struct {
	ID    ID
	State State
}

// Mailbox stores the late answers of sessions until their agents acknowledge
// them. Delivery is at least once and in order.
type Mailbox interface {
	// Messages returns up to limit late answers, oldest first.
	Messages(ctx context.Context, agent, session string, limit int) ([]Message, error)
	// Acknowledge deletes all messages through the given one, and returns
	// the interactions that they answered.
	Acknowledge(ctx context.Context, agent, session, through string) ([]ID, error)
}

// PresenceTTL is the time for which a front end counts as connected after its
// last Join.
const PresenceTTL = 30 * time.Second

// Presence tracks the front ends of sessions. Front ends of the empty session
// see every session, and count in each.
type Presence interface {
	// Join records that a front end is connected, and whether it can answer.
	Join(ctx context.Context, session, client string, enabled bool) error
	// Leave removes a front end.
	Leave(ctx context.Context, session, client string) error
	// Present returns the number of connected front ends, and the number of
	// those that can answer.
	Present(ctx context.Context, session string) (clients, enabled int, err error)
}

// Grant is a standing approval. It covers an identical request, or all requests
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
	// Routes, Confirm and Risk are those of the approved request. The grant
	// does not cover a request whose routes, confirmation or risk level differ.
	Routes  []string `json:"routes,omitempty"`
	Confirm string   `json:"confirm,omitempty"`
	Risk    string   `json:"risk,omitempty"`
	// Assurance is the assurance of all approvals of the grant. It is empty if
	// they differed.
	Assurance Assurance `json:"assurance,omitempty"`
}

// Grants stores grants.
type Grants interface {
	// Covering returns the unexpired grants under any of the keys, both of
	// the session and of every session.
	Covering(ctx context.Context, agent, session string, keys []string) ([]Grant, error)
	// PutGrant stores a grant and reports whether it did. An Origin can create
	// at most one grant for each key, and only once.
	PutGrant(context.Context, Grant) (bool, error)
	// Grants returns the unexpired grants of an agent, or of all agents if
	// agent is empty.
	Grants(ctx context.Context, agent string) ([]Grant, error)
	// DropGrant removes a grant and reports whether it existed.
	DropGrant(context.Context, Grant) (bool, error)
}

// Memory stores the approvals that tools remember.
type Memory interface {
	// ClearSession ends every grant of the session and deletes the approvals
	// that tools remember for it.
	ClearSession(ctx context.Context, agent, session string) error
	// Recall returns the scope that a tool remembers under its own key. It
	// returns "" if the tool remembers none. It returns the scope once only one
	// time.
	Recall(ctx context.Context, agent, session, key string) (Scope, error)
	// Remember stores a scope for Recall.
	Remember(ctx context.Context, agent, session, key string, s Scope) error
}
