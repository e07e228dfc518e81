package bridge

import (
	"context"
	"time"
)

// Platform is one configured workspace or bot of a chat service. All methods
// are safe for concurrent use.
type Platform interface {
	// Name is the configured name, as Destination.Platform has it.
	Name() string
	// Check reports whether the interaction can be shown at d, whole. It is
	// pure; its error is CodeUnsupported and names the limit.
	Check(Interaction, Destination) error
	// Post shows the view. What is too long for the card is delivered in full
	// before the card with its controls. An error of CodeUnavailable or
	// CodeRateLimited may be retried; any other is final for this destination.
	Post(context.Context, Destination, View) (MessageRef, error)
	// Update brings a posted message in line with the view.
	Update(context.Context, MessageRef, View) error
	// Run receives clicks until ctx ends. It reconnects by itself and returns
	// an error only when an operator must act.
	Run(context.Context, Sink) error
}

// Healther is a Platform that knows how it is.
type Healther interface {
	Health() Health
}

// Threader is a Platform that can keep the interactions of a session
// together. Thread returns where the next message of the session goes, given
// the session's first message; it may create the thread.
type Threader interface {
	Thread(ctx context.Context, d Destination, first MessageRef, title string) (Destination, error)
}

// Exclusive is a Platform of which only one daemon at a time may Run.
type Exclusive interface {
	// ExclusiveKey names the account that must not be received from twice.
	ExclusiveKey() string
}

// Notifier is a Platform that can tell one person something privately after
// the fact; used where the click itself can no longer be answered.
type Notifier interface {
	Notify(ctx context.Context, ref MessageRef, user, text string) error
}

// HealthState says whether a platform can be used.
type HealthState string

// The health states.
const (
	HealthStarting HealthState = "starting" // not yet connected
	HealthUp       HealthState = "up"
	HealthDegraded HealthState = "degraded" // reconnecting; posts are still tried
	HealthStandby  HealthState = "standby"  // another daemon receives for it
	HealthDown     HealthState = "down"     // an operator must act
)

// Health is how a platform is and why.
type Health struct {
	State  HealthState `json:"state"`
	Reason string      `json:"reason,omitempty"`
	Since  time.Time   `json:"since"`
}

// Sink takes what people do. A Platform calls it for every verified click,
// and acknowledges the click to the service only after it returned.
type Sink interface {
	// Form is asked before a native input is shown, and says what to show. A
	// verdict with a Kind means that nothing is to be shown, and why.
	Form(context.Context, Click) (Form, Verdict, error)
	// Click applies a click. An error means that nothing was recorded and the
	// human must be told to press again.
	Click(context.Context, Click) (Verdict, error)
}

// Click is one thing a human did with a control.
type Click struct {
	Token string
	Actor Actor // as the platform authenticated it
	// Ref is the message that was pressed; zero where the service does not
	// say. It must be the message the token was posted in.
	Ref MessageRef
	// Inputs by index of the question: what native inputs hold. A question
	// whose input was shown is there, even if it was left empty.
	Inputs map[int]Input
	// Reason of a denial.
	Reason string
}

// Input is what a native input holds.
type Input struct {
	Options []int  // chosen options, by index
	Text    string // typed text, for a question without options
	Other   string // typed text beside the options
	// KeepOptions tells that only Other was asked for: options chosen before
	// stay chosen.
	KeepOptions bool
}

// Form is what a native input has to show.
type Form struct {
	View    View
	Control Control
}

// VerdictKind says what became of a click.
type VerdictKind string

// The verdicts.
const (
	VerdictSettled   VerdictKind = "settled"   // this click decided
	VerdictDraft     VerdictKind = "draft"     // kept; the card may look different now
	VerdictLate      VerdictKind = "late"      // somebody else or the clock decided before
	VerdictForbidden VerdictKind = "forbidden" // this person may not answer
	VerdictInvalid   VerdictKind = "invalid"   // Problems says what to correct
	VerdictUnknown   VerdictKind = "unknown"   // no such interaction, or a forged control
)

// Verdict is the answer to a click.
type Verdict struct {
	Kind VerdictKind
	// Note is for the person who clicked, and for nobody else.
	Note string
	// View is how the pressed message has to look now; nil: as it is.
	View *View
	// Problems by index of the question, or ReasonProblem, for VerdictInvalid.
	Problems map[int]string
}

// ReasonProblem is the key in Verdict.Problems of the reason of a denial.
const ReasonProblem = -1

// View is what a message shows: a record as seen from one destination.
type View struct {
	Record      Record
	Destination int // index into Record.Interaction.Destinations
	// Draft is the unfinished answer to show on a shared card; nil: none.
	Draft *Draft
	sign  func(Control) string
}

// NewView returns a view whose tokens are made by sign.
func NewView(r Record, destination int, d *Draft, sign func(Control) string) View {
	return View{Record: r, Destination: destination, Draft: d, sign: sign}
}

// Token returns the token of a control on this view.
func (v View) Token(a Action, question, option int) string {
	return v.sign(Control{Interaction: v.Record.Interaction.ID, Destination: v.Destination, Action: a, Question: question, Option: option})
}

// Draft is an answer that one person has begun. The zero value is an empty
// draft at the first question.
type Draft struct {
	Actor   Actor             `json:"actor"`
	Answers map[string]Answer `json:"answers,omitempty"`
	Others  map[string]string `json:"others,omitempty"`
	Step    int               `json:"step,omitempty"` // question shown; len(Questions) is the review
	Page    int               `json:"page,omitempty"` // page of its options
}

// Store is what the engine needs of the database. Every method is atomic,
// safe for concurrent use and safe to repeat; an unreachable database is
// CodeUnavailable.
type Store interface {
	Records
	Outbox
	Deadlines
	Drafts
	Notes
	Grants
}

// Records keeps interactions.
type Records interface {
	// NewID returns an id in the partition where the session, else the key,
	// keeps its interactions.
	NewID(session, key string) (ID, error)
	// Open stores a new interaction with its posting jobs. The same agent and
	// idempotency key, or the same id, return the first record and false;
	// another digest under the same key is CodeConflict.
	Open(context.Context, Opening) (Record, bool, error)
	// Load returns a record; CodeNotFound where there is none.
	Load(context.Context, ID) (Record, error)
	// Settle ends a pending interaction. It returns the record as it is then,
	// and whether this very settlement ended it; a repeated settlement with
	// the winner's nonce is the winner.
	Settle(context.Context, Settlement) (Record, bool, error)
	// Mark stores what happened to an interaction without ending it.
	Mark(context.Context, ID, Mark) (Record, error)
	// Await returns once the interaction is final, or ctx's error.
	Await(context.Context, ID) (Record, error)
}

// Opening is what Records.Open stores.
type Opening struct {
	Interaction    Interaction
	IdempotencyKey string
	// Timeout is the response that stands if nobody answers in time.
	Timeout Response
	// Failures says, by destination index, who can not be reached from the start.
	Failures map[int]string
	// Response is set where no human needs to be asked.
	Response *Response
}

// Cause says who ends an interaction.
type Cause string

// The causes.
const (
	CauseAnswer  Cause = "answer"  // a human; loses to a deadline that has passed
	CauseTimeout Cause = "timeout" // the clock; only once the deadline has passed
	CauseCancel  Cause = "cancel"  // the agent or an operator
)

// Settlement ends an interaction.
type Settlement struct {
	ID       ID
	Cause    Cause
	Response Response // ignored for CauseTimeout, where the opening's stands
	Nonce    string   // names this settlement for repeats
}

// Mark is one thing that happened to an interaction; exactly one field is set.
type Mark struct {
	Posted    *Posted
	Failed    *Failed
	Delivered bool
}

// Posted attaches a message. If what the message shows is out of date by now,
// an edit job is stored in the same step.
type Posted struct {
	Destination int
	Ref         MessageRef
	Revision    int64 // of the record that was shown
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
	// Hold takes or keeps a lease for holder and reports whether it has it.
	Hold(ctx context.Context, name, holder string, ttl time.Duration) (bool, error)
	// Release gives a lease back if holder has it.
	Release(ctx context.Context, name, holder string) error
}

// JobKind says what a job does.
type JobKind string

// The jobs.
const (
	JobPost JobKind = "post" // show the interaction at a destination
	JobEdit JobKind = "edit" // bring a posted message in line
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
	// Finish removes a job, unless it was asked for again meanwhile.
	Finish(context.Context, Job) error
	// Retry makes a job due again after d.
	Retry(ctx context.Context, j Job, d time.Duration, reason string) error
	// Bury keeps a job that can not be done among the dead letters.
	Bury(ctx context.Context, j Job, reason string) error
	// Wait returns when jobs may be due, after at most d.
	Wait(ctx context.Context, d time.Duration)
	// Extend keeps the lease of a job for d from now; false if it was lost.
	Extend(ctx context.Context, j Job, d time.Duration) (bool, error)
}

// Deadlines finds what has to end.
type Deadlines interface {
	// Due returns up to n interactions whose deadline has passed.
	Due(ctx context.Context, n int) ([]ID, error)
}

// Grant is a standing yes.
type Grant struct {
	Agent   string    `json:"agent"`
	Session string    `json:"session,omitempty"` // empty: every session
	Key     string    `json:"key"`               // Approval.Key, or the digest of tool and input
	Actor   Actor     `json:"actor"`
	Origin  ID        `json:"origin"` // the interaction in which it was given
	Expires time.Time `json:"expires"`
}

// Grants keeps standing yeses.
type Grants interface {
	// Grant returns the grant that covers key in the session, if any holds.
	Grant(ctx context.Context, agent, session, key string) (Grant, bool, error)
	PutGrant(context.Context, Grant) error
	// ClearSession ends every grant of the session.
	ClearSession(ctx context.Context, agent, session string) error
}
