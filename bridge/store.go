package bridge

import (
	"context"
	"time"
)

// Store is all ports of one database. Only an engine as a whole takes it: each
// of its parts takes the ports that it uses. Every method of a port is atomic,
// safe for concurrent use and safe to repeat; an unreachable database is
// CodeUnavailable. Records that are returned may share what they point to:
// nobody changes it.
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
	Memory
	Mailbox
	Presence
	AuditLog
	Links
	Limits
}

// Openings stores new interactions.
type Openings interface {
	// NewID returns an id in the partition where the session, else the key,
	// keeps its interactions.
	NewID(session, key string) (ID, error)
	// Open stores a new interaction with its posting jobs. The same agent and
	// idempotency key, or the same id, return the first record and false;
	// another digest under the same key is CodeConflict. One that joins an
	// identical request gets that one's record, and false.
	Open(context.Context, Opening) (Record, bool, error)
	// Known reports whether something was opened under an idempotency key.
	Known(ctx context.Context, agent, session, key string) (bool, error)
}

// Records keeps interactions and what happened to them.
type Records interface {
	// Load returns a record; CodeNotFound where there is none.
	Load(context.Context, ID) (Record, error)
	// Mark stores what happened to an interaction without ending it.
	Mark(context.Context, ID, Mark) (Record, error)
	// Await returns once the interaction is over, or ctx's error.
	Await(context.Context, ID) (Record, error)
	// Pending lists what is pending in the session, newest first; with both
	// empty, everything that is.
	Pending(ctx context.Context, agent, session string) ([]ID, error)
}

// Outcomes ends interactions.
type Outcomes interface {
	// Settle ends a pending interaction. It returns the record as it is then,
	// and whether this very settlement ended it; a repeated settlement with
	// the winner's nonce is the winner.
	Settle(context.Context, Settlement) (Record, bool, error)
	// Vote counts a decision of one that needs several, and ends it with the
	// last that is needed.
	Vote(context.Context, Ballot) (Record, BallotResult, error)
}

// Opening is what Records.Open stores.
type Opening struct {
	Interaction    Interaction
	IdempotencyKey string
	// RequestDigest is over what the agent sent; needed with IdempotencyKey.
	RequestDigest string
	// Timeout is the response that stands if nobody answers in time.
	Timeout Response
	// Failures says, by destination index, who cannot be reached from the start.
	Failures map[int]string
	// Response is set where no human needs to be asked.
	Response *Response
	// AfterHold is the response that stands if a queued interaction is not
	// answered either.
	AfterHold Response
	// Queued means that nobody waits from the start.
	Queued bool
	// Escalated is the interaction as it is once its deadline has passed
	// under OnTimeoutEscalate; nil: it does not escalate.
	Escalated *Interaction
	// Awaited means that whoever opens goes on to Await, which saves asking the
	// store a second time.
	Awaited bool
	// Limited means that the agent may have so many pending: they are counted.
	Limited bool
	// FrontEnds means that the session has front ends that can answer, so that
	// the interaction lives on when no destination can be reached.
	FrontEnds bool
	// Superseded is the response of Interaction.Previous if that is pending.
	Superseded Response
}

// Settlement ends an interaction: a human's answer, or its withdrawal. It loses
// to a deadline that has passed.
type Settlement struct {
	ID       ID
	Response Response
	Nonce    string // names this settlement for repeats
	// Expect is Record.Amended as it was when the response was checked; if
	// another amendment came first, the settlement is CodeConflict. Nil accepts
	// any.
	Expect *int
	// Interaction is the one that was decided, if it was read before: it saves
	// reading it again to sign the decision.
	Interaction Interaction
}

// Mark is one thing that happened to an interaction; exactly one field is set.
type Mark struct {
	Posted    *Posted
	Failed    *Failed
	Delivered bool
	Queued    time.Duration // how long it stays open now; above 0
	Held      string        // with Queued, the proof of how long that is
	Completed *Completion
	Joined    bool // an identical request waits for the same answer
	Amended   *Amendment
	Late      *Late
	Redraw    *int // destination whose message has to be drawn again
	Part      *Part
	Shown     *Shown
}

// Posted attaches a message. If what the message shows is out of date by now,
// an edit job is stored in the same step.
type Posted struct {
	Destination int
	Ref         MessageRef
	Revision    int64 // of the record that was shown
	// Content names what it shows, whole; see [View.Content]. Empty if it was
	// not shown.
	Content string
}

// Late means that a destination's card has to wait for its turn.
type Late struct {
	Destination int
	Delay       time.Duration // from now
}

// Failed gives a destination up. When none is left, the interaction becomes
// undeliverable in the same step.
type Failed struct {
	Destination int
	Reason      string
}

// Drafts keeps unfinished answers until a while after the deadline.
type Drafts interface {
	// Draft returns the draft of the actor, and whose draft the destination's
	// card shows; zero values where there is none.
	Draft(ctx context.Context, id ID, destination int, actor Actor) (mine, shown *Draft, err error)
	// SaveDraft stores d as its actor's, and as the one the card shows.
	SaveDraft(ctx context.Context, id ID, destination int, d Draft) error
}

// Notes keeps small values for a while.
type Notes interface {
	// PutNote stores value unless the key is taken, and returns what is
	// stored then.
	PutNote(ctx context.Context, key, value string, ttl time.Duration) (string, error)
	// Note returns a value; empty where there is none.
	Note(ctx context.Context, key string) (string, error)
	// DropNote forgets a value.
	DropNote(ctx context.Context, key string) error
}

// Leases lets one process at a time do something.
type Leases interface {
	// Hold takes or keeps a lease for holder and reports whether it has it.
	Hold(ctx context.Context, name, holder string, ttl time.Duration) (bool, error)
	// Release gives a lease back if holder has it.
	Release(ctx context.Context, name, holder string) error
}

// JobKind says what a job does.
type JobKind string

// The jobs.
const (
	JobPost   JobKind = "post"   // show the interaction at a destination
	JobEdit   JobKind = "edit"   // bring a posted message in line
	JobStep   JobKind = "step"   // the next step of an escalation; Destination is its index
	JobRemind JobKind = "remind" // mention people; Destination is the index of the reminder
	JobHook   JobKind = "hook"   // tell a webhook the outcome; Destination is its index
)

// Job is leased work on one message.
type Job struct {
	ID          string // unique within its partition; the same message's edits share one
	Kind        JobKind
	Interaction ID
	Destination int
	Attempt     int   // 1 for the first
	Fence       int64 // changes with each lease
	Generation  int64 // changes each time the job is asked for
	Created     time.Time
}

// Outbox hands out jobs.
type Outbox interface {
	// Claim leases up to n due jobs.
	Claim(ctx context.Context, n int, lease time.Duration) ([]Job, error)
	// Finish removes a job, unless it was asked for again in the meantime.
	Finish(context.Context, Job) error
	// Retry makes a job due again after d. An empty reason means that it was
	// not tried, and does not count.
	Retry(ctx context.Context, j Job, d time.Duration, reason string) error
	// Bury keeps a job that cannot be done among the dead letters.
	Bury(ctx context.Context, j Job, reason string) error
	// Wait returns when jobs may be due, after at most d.
	Wait(ctx context.Context, d time.Duration)
	// Extend keeps the lease of a job for d from now; false if it was lost.
	Extend(ctx context.Context, j Job, d time.Duration) (bool, error)
}

// Deadlines ends what nobody answered in time.
type Deadlines interface {
	// Expire applies what was agreed for their deadlines to interactions, n of a
	// partition in one step. It returns those that are over by that, and whether
	// there may be more.
	Expire(ctx context.Context, n int) (over []ID, more bool, err error)
}

// Mailbox keeps the late answers of sessions until their agents have taken
// them: at least once, in order.
type Mailbox interface {
	// Messages returns up to limit of them, oldest first.
	Messages(ctx context.Context, agent, session string, limit int) ([]Message, error)
	// Acknowledge forgets all up to the message of an id, and returns whose
	// answers they were.
	Acknowledge(ctx context.Context, agent, session, through string) ([]ID, error)
}

// PresenceTTL is how long a front end counts as connected after it last said
// so.
const PresenceTTL = 30 * time.Second

// Presence counts the front ends of sessions.
type Presence interface {
	Join(ctx context.Context, session, client string, enabled bool) error
	Leave(ctx context.Context, session, client string) error
	Present(ctx context.Context, session string) (clients, enabled int, err error)
}

// Grant is a standing approval. It covers the exact same request, or what one
// rule of the operator matches, for one agent in one location.
type Grant struct {
	Agent   string `json:"agent"`
	Session string `json:"session,omitempty"` // empty: every session
	// Key is made by nod of what the grant covers. A key that an agent sends is
	// never part of it. A grant of an earlier version has a key in another form
	// and covers nothing.
	Key     string    `json:"key"`
	Actor   Actor     `json:"actor"`
	Origin  ID        `json:"origin"` // the interaction in which it was given
	Expires time.Time `json:"expires"`
	Tool    string    `json:"tool,omitempty"`
	// Covers states exactly what the grant covers, in the words that the card
	// showed before it was given; see [Interaction.Coverage].
	Covers string `json:"covers,omitempty"`
	Where  string `json:"where,omitempty"`  // the only location that it covers
	Route  string `json:"route,omitempty"`  // on which it was given
	Quorum int    `json:"quorum,omitempty"` // required approvals when it was given

	At   time.Time `json:"at,omitzero"`    // when it was given
	Rule string    `json:"rule,omitempty"` // name of the rule; empty: the exact request
	// Givers are the people who approved. A grant counts only while they could
	// approve the request that it covers.
	Givers []Actor `json:"givers,omitempty"`
	// Routes, Confirm and Risk are what the request was approved under. A grant
	// covers nothing that requires another route, confirmation or risk level.
	Routes  []string `json:"routes,omitempty"`
	Confirm string   `json:"confirm,omitempty"`
	Risk    string   `json:"risk,omitempty"`
	// Proof shows that a daemon stored the grant as it is.
	Proof string `json:"proof,omitempty"`
}

// Grants keeps standing approvals.
type Grants interface {
	// Covering returns the grants that have not expired under any of the keys,
	// of the session and of every session.
	Covering(ctx context.Context, agent, session string, keys []string) ([]Grant, error)
	// PutGrant stores a grant, and reports whether it did: each Origin gives
	// one of each key, once.
	PutGrant(context.Context, Grant) (bool, error)
	// Grants lists those that hold, of an agent, or of all with an empty one.
	Grants(ctx context.Context, agent string) ([]Grant, error)
	// DropGrant ends a grant, and reports whether there was one.
	DropGrant(context.Context, Grant) (bool, error)
}

// Memory keeps what tools remember of their own approvals.
type Memory interface {
	// ClearSession ends every grant of the session, and what tools remember.
	ClearSession(ctx context.Context, agent, session string) error
	// Recall returns what a tool remembers under a key of its own; a once is
	// returned only once. Empty: nothing.
	Recall(ctx context.Context, agent, session, key string) (Scope, error)
	// Remember is what Recall returns later.
	Remember(ctx context.Context, agent, session, key string, s Scope) error
}
