package bridge

import (
	"encoding/json"
	"time"
)

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

// Interaction is one thing a human is asked. It is immutable once opened; what
// happens to it is in [Record].
type Interaction struct {
	ID        ID         `json:"id"`
	Kind      Kind       `json:"kind"`
	Prompt    string     `json:"prompt"` // Markdown; never empty
	Questions []Question `json:"questions,omitempty"`
	Approval  *Approval  `json:"approval,omitempty"` // set for KindApproval only

	Agent   string `json:"agent"`             // name of the authenticated agent
	Session string `json:"session,omitempty"` // groups interactions; empty: none
	// Correlation values of the agent, handed back untouched.
	ToolCall   string `json:"tool_call,omitempty"`
	Turn       string `json:"turn,omitempty"`
	ResponseID string `json:"response_id,omitempty"`
	ToolName   string `json:"tool_name,omitempty"`
	// Trace is what the agent's request carried on, as W3C Trace Context writes
	// a traceparent; empty: none.
	Trace string `json:"trace,omitempty"`

	Route        string        `json:"route,omitempty"`
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
	// Requester is who the agent says it works for.
	Requester string `json:"requester,omitempty"`
	// DenyCounts means that one denial does not end it: as many are needed as
	// to approve.
	DenyCounts bool `json:"deny_counts,omitempty"`

	Created   time.Time `json:"created"`
	Deadline  time.Time `json:"deadline"`
	OnTimeout OnTimeout `json:"on_timeout"`
	Hold      Duration  `json:"hold,omitempty"`
	// Escalation is who is asked next under OnTimeoutEscalate.
	Escalation *Escalation `json:"escalation,omitempty"`

	// Steps are done one after another while nobody answers, except for Quiet
	// hours.
	Steps []Step `json:"steps,omitempty"`
	Quiet *Quiet `json:"quiet,omitempty"`
	// Called are those who were asked as well in the meantime.
	Called []string `json:"called,omitempty"`
	// Snooze is how much later people can be reminded, and HandOver to whom it
	// can be handed over; empty: not.
	Snooze   Duration `json:"snooze,omitempty"`
	HandOver []string `json:"hand_over,omitempty"`

	Grace Duration `json:"grace,omitempty"`
	Batch Duration `json:"batch,omitempty"` // 0 where it can not be shown with others
	Join  bool     `json:"join,omitempty"`

	// Webhooks are the names of those that are told the outcome.
	Webhooks []string `json:"webhooks,omitempty"`

	CancelOnDisconnect bool              `json:"cancel_on_disconnect,omitempty"`
	Declinable         bool              `json:"declinable,omitempty"`
	Presentation       Presentation      `json:"presentation,omitempty"`
	CompletedView      *CompletedView    `json:"completed_view,omitempty"`
	Initial            map[string]Answer `json:"initial,omitempty"`
	Error              string            `json:"error,omitempty"`
	// Round counts from 1 how often this was asked; MaxRounds bounds it.
	Round     int `json:"round,omitempty"`
	MaxRounds int `json:"max_rounds,omitempty"`
	// Previous is the interaction whose messages this one took over, and Root
	// the first of them; empty for a first round.
	Previous ID `json:"previous,omitempty"`
	Root     ID `json:"root,omitempty"`

	// Quorum is how many people have to approve; 0 means one.
	Quorum int `json:"quorum,omitempty"`
	// Rule is the policy's rule that governs it; empty: none. Risk is the level
	// that it gives; empty: none was given.
	Rule string `json:"rule,omitempty"`
	Risk string `json:"risk,omitempty"`
	// GrantKey identifies the exact request, before masking, for a grant. It is
	// empty if the agent remembers approvals itself.
	GrantKey string `json:"grant_key,omitempty"`
	// RuleGrants are the rules that a grant would cover, see Ruling.Grants.
	RuleGrants []RuleGrant `json:"rule_grants,omitempty"`
	// GrantRoutes are the routes that have to approve a grant that covers this,
	// and GrantFor is how long one given here lasts.
	GrantRoutes []string `json:"grant_routes,omitempty"`
	GrantFor    Duration `json:"grant_for,omitempty"`

	// Redacted counts the places where credentials are hidden; the digest was
	// made before.
	Redacted int `json:"redacted,omitempty"`
	// RedactedCommand means that a part of what would be executed is hidden, so
	// that approving needs a typed confirmation and covers this request alone.
	RedactedCommand bool `json:"redacted_command,omitempty"`

	// Digest is what a decision is bound to; see Digest in package proof.
	Digest string `json:"digest"`

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
	// PolicyVersion is the version of the rules it was last evaluated by.
	PolicyVersion string `json:"policy_version,omitempty"`
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

// Question is one thing to be answered.
type Question struct {
	ID          string   `json:"id"`
	Header      string   `json:"header,omitempty"` // a chip, at most MaxHeader characters
	Text        string   `json:"text,omitempty"`   // empty: the prompt is the question
	Description string   `json:"description,omitempty"`
	Widget      Widget   `json:"widget"`
	Options     []Option `json:"options,omitempty"`
	Default     *Answer  `json:"default,omitempty"`  // preselected, and the answer under OnTimeoutDefault
	Required    *bool    `json:"required,omitempty"` // nil means required
	AllowOther  bool     `json:"allow_other,omitempty"`
	Placeholder string   `json:"placeholder,omitempty"`

	// What a typed answer must be.
	MinLength   int      `json:"min_length,omitempty"`   // characters; 0: none
	MaxLength   int      `json:"max_length,omitempty"`   // characters; 0: DefaultMaxLength
	Pattern     string   `json:"pattern,omitempty"`      // RE2, matched against the whole text
	PatternHint string   `json:"pattern_hint,omitempty"` // what people read when it does not match; empty: the pattern
	Min         *float64 `json:"min,omitempty"`          // of a number; nil: none
	Max         *float64 `json:"max,omitempty"`
	Integer     bool     `json:"integer,omitempty"` // of a number

	// How many options of a list have to be chosen. 0: none, and any number.
	MinChoices int `json:"min_choices,omitempty"`
	MaxChoices int `json:"max_choices,omitempty"`

	Plan   string          `json:"plan,omitempty"`   // of a plan_review; Markdown
	Items  []Item          `json:"items,omitempty"`  // of a feedback
	Schema json.RawMessage `json:"schema,omitempty"` // of a form; see ParseSchema
}

// Item is one thing to comment on.
type Item struct {
	ID      string `json:"id"`
	Content string `json:"content"` // Markdown
}

// Option is one thing to choose.
type Option struct {
	Value       string `json:"value"`
	Label       string `json:"label,omitempty"` // empty: the value is shown
	Description string `json:"description,omitempty"`
	// Preview shows what the option would give, in a fixed width; only where
	// one option is chosen.
	Preview string `json:"preview,omitempty"`
}

// Text is what a human reads on the option.
func (o Option) Text() string {
	if o.Label != "" {
		return o.Label
	}
	return o.Value
}

// Approval is the thing that needs permission.
type Approval struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input,omitempty"`
	// Key is the tool's own name for what is approved. It is handed back and is
	// part of the digest. It does not affect grants.
	Key string `json:"key,omitempty"`
	// Where says where it would be done, such as a directory or a repository;
	// a grant covers that location alone. Empty: not said.
	Where string `json:"where,omitempty"`
	// Scopes on offer, of once, session and always. Empty: once, and session
	// where the interaction has a session.
	Scopes []Scope `json:"scopes,omitempty"`
	// Decisions on offer, so that no card shows a choice which the agent can
	// not take. Empty: deny, deny_reason, and those of Scopes. An edit is left
	// out where the input is longer than a native text input holds.
	Decisions []Decision `json:"decisions,omitempty"`
	// DefaultNo means that no approving control may stand out.
	DefaultNo bool `json:"default_no,omitempty"`
	// Confirm is what a person has to type to approve; empty: a press is
	// enough.
	Confirm string `json:"confirm,omitempty"`
	// ScopeNotes say in words what a session or always approval covers. If the
	// agent remembers approvals itself, they are the agent's; otherwise nod
	// replaces them with [Interaction.Coverage].
	ScopeNotes map[Scope]string `json:"scope_notes,omitempty"`
	// AgentRemembers reports that the agent or its tool keeps session and always
	// approvals itself. nod passes the choice back, gives no grant and consults
	// none.
	AgentRemembers bool `json:"agent_remembers,omitempty"`
}

// Scope says how far a yes reaches.
type Scope string

// The scopes.
const (
	ScopeOnce    Scope = "once"
	ScopeSession Scope = "session"
	ScopeAlways  Scope = "always"
)

// OnTimeout says what becomes of an interaction that nobody answered in time.
type OnTimeout string

// The timeout rules. None of them calls silence a denial unless the agent
// asked for exactly that.
const (
	OnTimeoutExpire  OnTimeout = "expire"  // state expired; the default
	OnTimeoutDeny    OnTimeout = "deny"    // approvals: state denied, reason says timeout
	OnTimeoutDefault OnTimeout = "default" // asks: state answered with the defaults
	// OnTimeoutEscalate asks the people and places that the route escalates
	// to, for as long again; then it expires.
	OnTimeoutEscalate OnTimeout = "escalate"
	// OnTimeoutPending tells the agent that the question is queued, and keeps
	// it open; a late answer becomes a message to the session.
	OnTimeoutPending OnTimeout = "pending"
)

// Escalation is who else is asked when nobody answered in time.
type Escalation struct {
	Route        string        `json:"route"`
	Destinations []Destination `json:"destinations"`
	Responders   []Responder   `json:"responders"`
	Groups       []string      `json:"groups,omitempty"`
}

// Presentation says where the card stands among the session's messages.
type Presentation string

// The presentations. Empty is PresentTool.
const (
	PresentTool          Presentation = "tool"          // in the thread of its session, else of its tool call
	PresentQuestionnaire Presentation = "questionnaire" // a card of its own
)

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

// Actor is who did something.
type Actor struct {
	Platform string `json:"platform"`
	User     string `json:"user"`
	Name     string `json:"name,omitempty"`   // display name, untrusted text
	Person   string `json:"person,omitempty"` // set once recognised as a Responder
}

// Display is the name a human reads: the configured person, else the
// platform's display name, else the id.
func (a Actor) Display() string {
	switch {
	case a.Person != "":
		return a.Person
	case a.Name != "":
		return a.Name
	}
	return a.User
}

// Voter names a human: each has one vote, from whatever account.
func (a Actor) Voter() string {
	if a.Person != "" {
		return a.Person
	}
	return a.Platform + "/" + a.User
}

// Same reports whether both are one human.
func (a Actor) Same(b Actor) bool {
	if a.Person != "" && a.Person == b.Person {
		return true
	}
	return a.Platform == b.Platform && a.User == b.User
}

// Over reports whether there is nothing left to wait for: the interaction has
// ended, or its agent was told that the answer comes later.
func (r Record) Over() bool { return r.State.Final() || !r.Queued.IsZero() }

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
