package bridge

import "time"

// Kind says what is wanted from the human.
type Kind string

// The kinds.
const (
	KindAsk      Kind = "ask"      // answers to questions
	KindApproval Kind = "approval" // permission to do one thing
	// KindNotice wants nothing: it is answered once it has been shown.
	KindNotice Kind = "notice"
)

// State is where an interaction stands; see the package comment.
type State string

// All states. Every one but [StatePending] is final.
const (
	StatePending       State = "pending"
	StateAnswered      State = "answered"
	StateApproved      State = "approved"
	StateDenied        State = "denied"
	StateExpired       State = "expired"
	StateCancelled     State = "cancelled"
	StateSuperseded    State = "superseded"
	StateUndeliverable State = "undeliverable"
)

// Final reports whether the state can no longer change.
func (s State) Final() bool { return s != StatePending && s != "" }

// Interaction is an ask that was opened: whom it goes to, and under which rules.
// It is immutable once opened, except by amendments; what happens to it is in
// [Record].
//
// As JSON it is one flat object; see MarshalJSON.
type Interaction struct {
	ID ID `json:"id"`
	// Ask is what the agent sent, with credentials hidden. Timeout and
	// OneAtATime are zero: they take effect when the interaction is opened.
	// Route is the first of the routes that it was sent to; see OwnRoute.
	Ask
	Agent string `json:"agent"` // name of the authenticated agent
	// Trace is what the agent's request carried on, as W3C Trace Context writes
	// a traceparent; empty: none.
	Trace string `json:"trace,omitempty"`
	Placement
	Schedule
	Lineage
	Governance

	// Webhooks are the names of those that are told the outcome.
	Webhooks []string `json:"webhooks,omitempty"`
	// Redacted counts the places where credentials are hidden; the digest was
	// made before.
	Redacted int `json:"redacted,omitempty"`
	// RedactedCommand means that a part of what would be executed is hidden, so
	// that approving needs a typed confirmation and covers this request alone.
	RedactedCommand bool `json:"redacted_command,omitempty"`

	// Digest is what a decision is bound to; see Digest in package proof.
	Digest string `json:"digest"`
	// RequestKey binds the interaction to the idempotency key that it was
	// opened with. It is empty if there was none.
	RequestKey string `json:"request_key,omitempty"`
	// Proof shows that a daemon stored the interaction as it is, to daemons
	// that have the same keys.
	Proof string `json:"proof,omitempty"`
	// Stated are Created and Deadline as they are proven. The record's own are
	// by the clock of Redis, and change when an interaction waits longer.
	Stated Times `json:"-"`
}

// Placement is where an interaction is shown, and who may respond to it.
type Placement struct {
	Destinations []Destination `json:"destinations"`
	// Responders may answer, and whoever is in one of the Groups when they do.
	// Both empty means nobody may.
	Responders []Responder `json:"responders"`
	Groups     []string    `json:"groups,omitempty"`
	// Must are people, and groups with GroupMark, of whom one each has to be
	// among those who approve.
	Must []string `json:"must,omitempty"`
	// Requesters are the people behind the agent, who may deny but not approve.
	Requesters []string `json:"requesters,omitempty"`
	// DenyCounts means that one denial does not end it: as many are needed as
	// to approve.
	DenyCounts bool `json:"deny_counts,omitempty"`
	// Quorum is how many people have to approve; 0 means one.
	Quorum int `json:"quorum,omitempty"`

	// Requirements are what each route requires if there are several. If they
	// are empty, Responders, Groups, Quorum and Must are all that is required.
	Requirements []Requirement `json:"requirements,omitempty"`
	// OwnRoute is the route of the request itself if the policy sent it to
	// others.
	OwnRoute string `json:"own_route,omitempty"`
	// Added are the people who were added while the request was pending.
	Added []Addition `json:"added,omitempty"`
	// Terms counts how often the requirements became stricter while the request
	// was pending. A control of an earlier card does not approve.
	Terms int `json:"terms,omitempty"`
	// Called are those who were asked as well in the meantime.
	Called []string `json:"called,omitempty"`
	// HandOver are those to whom people can hand it over; empty: not.
	HandOver []string `json:"hand_over,omitempty"`
}

// Schedule is how long an interaction waits, and what happens in that time.
type Schedule struct {
	Created  time.Time `json:"created"`
	Deadline time.Time `json:"deadline"`
	// Escalation is who is asked next under OnTimeoutEscalate.
	Escalation *Escalation `json:"escalation,omitempty"`
	// Steps are done one after another while nobody answers, except for Quiet
	// hours.
	Steps []Step `json:"steps,omitempty"`
	Quiet *Quiet `json:"quiet,omitempty"`
	// Snooze is how much later people can be reminded; 0: not.
	Snooze Duration `json:"snooze,omitempty"`
}

// Lineage is the place of an interaction among the rounds of one question.
type Lineage struct {
	// Round counts from 1 how often this was asked; MaxRounds bounds it.
	Round int `json:"round,omitempty"`
	// Previous is the interaction whose messages this one took over, and Root
	// the first of them; empty for a first round.
	Previous ID `json:"previous,omitempty"`
	Root     ID `json:"root,omitempty"`
}

// Governance is what the policy made of an interaction, and what a grant that
// is given in it would cover.
type Governance struct {
	// Rule is the policy's rule that governs it; empty: none. Risk is the level
	// that it gives; empty: none was given.
	Rule string `json:"rule,omitempty"`
	Risk string `json:"risk,omitempty"`
	// PolicyVersion is the version of the rules it was last evaluated by.
	PolicyVersion string `json:"policy_version,omitempty"`
	// GrantKey identifies the exact request, before masking, for a grant. It is
	// empty if the agent remembers approvals itself.
	GrantKey string `json:"grant_key,omitempty"`
	// RuleGrants are the rules that a grant would cover, see Ruling.Grants.
	RuleGrants []RuleGrant `json:"rule_grants,omitempty"`
	// GrantRoutes are the routes that have to approve a grant that covers this,
	// and GrantFor is how long one given here lasts.
	GrantRoutes []string `json:"grant_routes,omitempty"`
	GrantFor    Duration `json:"grant_for,omitempty"`
}

// Escalation is who else is asked when nobody answered in time.
type Escalation struct {
	Route        string        `json:"route"`
	Destinations []Destination `json:"destinations"`
	Responders   []Responder   `json:"responders"`
	Groups       []string      `json:"groups,omitempty"`
}

// Destination is a place where an interaction is shown.
type Destination struct {
	Platform string `json:"platform"`         // configured name of a Platform
	Channel  string `json:"channel"`          // channel, chat or user id, in the platform's own form
	Thread   string `json:"thread,omitempty"` // thread or topic id; empty: the channel itself
}

// Responder is an account that may answer.
type Responder struct {
	Person   string `json:"person"` // one name for a human with accounts on several platforms
	Platform string `json:"platform"`
	User     string `json:"user"` // user id in the platform's own form
}
