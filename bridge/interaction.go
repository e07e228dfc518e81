package bridge

import (
	"encoding/json"
	"time"
)

// Kind says what is wanted from the human.
type Kind string

// The two kinds.
const (
	KindAsk      Kind = "ask"      // answers to questions
	KindApproval Kind = "approval" // permission to do one thing
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

// Widget names the form a question takes. What a widget looks like is each
// platform's own matter.
type Widget string

// The widgets.
const (
	WidgetButtons  Widget = "buttons"  // one tap answers
	WidgetConfirm  Widget = "confirm"  // two buttons, Yes and No by default
	WidgetSelect   Widget = "select"   // a drop-down and OK
	WidgetRadio    Widget = "radio"    // a vertical list and Submit, one choice
	WidgetCheckbox Widget = "checkbox" // a vertical list and Submit, many choices
	WidgetText     Widget = "text"     // one line
	WidgetTextarea Widget = "textarea" // many lines
)

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
	ToolCall string `json:"tool_call,omitempty"`
	Turn     string `json:"turn,omitempty"`

	Route        string        `json:"route,omitempty"`
	Destinations []Destination `json:"destinations"`
	// Responders may answer. Empty means nobody may.
	Responders []Responder `json:"responders"`

	Created   time.Time `json:"created"`
	Deadline  time.Time `json:"deadline"`
	OnTimeout OnTimeout `json:"on_timeout"`
	// Digest is the hex SHA-256 over the canonical form of what is shown:
	// prompt, questions and approval.
	Digest string `json:"digest"`
}

// Question is one thing to be answered.
type Question struct {
	ID          string   `json:"id"`
	Header      string   `json:"header,omitempty"` // a chip, at most MaxHeader characters
	Text        string   `json:"text,omitempty"`   // empty: the prompt is the question
	Widget      Widget   `json:"widget"`
	Options     []Option `json:"options,omitempty"`
	Default     *Answer  `json:"default,omitempty"`  // preselected, and the answer under OnTimeoutDefault
	Required    *bool    `json:"required,omitempty"` // nil means required
	AllowOther  bool     `json:"allow_other,omitempty"`
	Placeholder string   `json:"placeholder,omitempty"`
	MinLength   int      `json:"min_length,omitempty"` // characters; 0: none
	MaxLength   int      `json:"max_length,omitempty"` // characters; 0: DefaultMaxLength
	Pattern     string   `json:"pattern,omitempty"`    // RE2, matched against the whole text
}

// IsRequired reports whether the question must be answered.
func (q Question) IsRequired() bool { return q.Required == nil || *q.Required }

// Multiple reports whether the answer is a list.
func (q Question) Multiple() bool { return q.Widget == WidgetCheckbox }

// FreeText reports whether the answer is typed rather than chosen.
func (q Question) FreeText() bool { return q.Widget == WidgetText || q.Widget == WidgetTextarea }

// OneTap reports whether one press of an option is the whole answer.
func (q Question) OneTap() bool { return q.Widget == WidgetButtons || q.Widget == WidgetConfirm }

// Option is one thing to choose.
type Option struct {
	Value       string `json:"value"`
	Label       string `json:"label,omitempty"` // empty: the value is shown
	Description string `json:"description,omitempty"`
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
	// Key is the tool's own approval key, under which a session or always
	// grant is remembered. Empty: the digest of tool and input.
	Key string `json:"key,omitempty"`
	// Scopes on offer, of once, session and always. Empty: once, and session
	// where the interaction has a session.
	Scopes []Scope `json:"scopes,omitempty"`
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

// The time-out rules. None of them calls silence a denial unless the agent
// asked for exactly that.
const (
	OnTimeoutExpire  OnTimeout = "expire"  // state expired; the default
	OnTimeoutDeny    OnTimeout = "deny"    // approvals: state denied, reason says time-out
	OnTimeoutDefault OnTimeout = "default" // asks: state answered with the defaults
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
	Name     string `json:"name,omitempty"`   // display name, foreign text
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

// Same reports whether both are one human.
func (a Actor) Same(b Actor) bool {
	if a.Person != "" && a.Person == b.Person {
		return true
	}
	return a.Platform == b.Platform && a.User == b.User
}

// Response is how an interaction ended.
type Response struct {
	State   State             `json:"state"`
	Answers map[string]Answer `json:"answers,omitempty"` // by question id
	// Annotations by question id; never nil in a stored response.
	Annotations map[string]Annotation `json:"annotations"`
	Scope       Scope                 `json:"scope,omitempty"`  // approved: how far
	Reason      string                `json:"reason,omitempty"` // denied, cancelled, undeliverable, granted
	Actor       *Actor                `json:"actor,omitempty"`  // nil where no human decided
	At          time.Time             `json:"at"`
	Digest      string                `json:"digest"` // of the interaction that was shown
}

// Annotation is what came with an answer besides its value.
type Annotation struct {
	Note  string `json:"note,omitempty"`
	Other bool   `json:"other,omitempty"` // the answer is free text, not one of the options
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
	// Delivered is when an agent received the response; zero: not yet.
	Delivered time.Time `json:"delivered,omitzero"`
	// Revision counts changes that alter what the messages show.
	Revision int64 `json:"revision"`
}
