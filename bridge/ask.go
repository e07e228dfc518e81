package bridge

import (
	"cmp"
	"encoding/json"
)

// Ask holds the data that an agent sends to open an interaction. The
// interaction, its digests and the next round all use a copy of the complete
// struct.
type Ask struct {
	// Kind defaults to approval if Approval is set, and to ask otherwise.
	Kind      Kind       `json:"kind,omitempty"`
	Prompt    string     `json:"prompt"`
	Questions []Question `json:"questions,omitempty"`
	Approval  *Approval  `json:"approval,omitempty"`

	Session string `json:"session,omitempty"`
	// ToolCall, Turn and ResponseID are correlation values of the agent. nod
	// returns them unchanged.
	ToolCall   string `json:"tool_call,omitempty"`
	Turn       string `json:"turn,omitempty"`
	ResponseID string `json:"response_id,omitempty"`
	// Metadata holds values of the agent by name, such as the URL at which its
	// workflow continues. No person sees them. nod returns them to the agent and to
	// webhooks; the digest does not cover them.
	Metadata map[string]string `json:"metadata,omitempty"`
	// ToolName is the tool that asks. If it is empty, an approval uses its
	// own tool.
	ToolName string `json:"tool_name,omitempty"`

	// Requester is the configured person for whom the agent asks. The
	// requester cannot respond unless the route allows it. It is empty if
	// unknown.
	Requester string `json:"requester,omitempty"`

	Route     string    `json:"route,omitempty"`   // empty means the route named default
	Timeout   Duration  `json:"timeout,omitempty"` // zero means DefaultTimeout
	OnTimeout OnTimeout `json:"on_timeout,omitempty"`
	// Hold is the time that a deferred question stays open. Zero means
	// DefaultHold.
	Hold Duration `json:"hold,omitempty"`

	// Grace delays the cards, so that the person at the terminal can answer
	// there first. A request that closes within this time gets no card.
	Grace Duration `json:"grace,omitempty"`
	// Join lets the request share the answer of an identical pending
	// request of the session, instead of asking twice.
	Join bool `json:"join,omitempty"`
	// OneAtATime refuses the request while another request of its session is
	// pending.
	OneAtATime bool `json:"one_at_a_time,omitempty"`
	// CancelOnDisconnect cancels the request when the connection of its waiting
	// caller ends. If no chat accepts answers, the connection of the last front
	// end of the session counts instead.
	CancelOnDisconnect bool `json:"cancel_on_disconnect,omitempty"`
	// Declinable lets people decline a question without an answer.
	Declinable    bool           `json:"declinable,omitempty"`
	Presentation  Presentation   `json:"presentation,omitempty"`
	CompletedView *CompletedView `json:"completed_view,omitempty"`
	// Initial holds values to fill in, by question ID. They are not answers
	// until someone submits them.
	Initial map[string]Answer `json:"initial,omitempty"`
	// Error is shown above the questions. It explains why nod asks them again.
	Error string `json:"error,omitempty"`
	// MaxRounds is the maximum number of times to ask, including the first.
	// Zero means DefaultRounds.
	MaxRounds int `json:"max_rounds,omitempty"`
}

// Opened returns the ask in the form that an interaction stores. The deadline
// of the interaction replaces Timeout, and OneAtATime is used only while the
// interaction is opened.
func (a Ask) Opened() Ask {
	a.Timeout, a.OneAtATime = 0, false
	return a
}

// Again returns the ask of an interaction in the form that an agent sends for
// another round.
func (i Interaction) Again() Ask {
	a := i.Ask
	a.Route, a.Timeout = cmp.Or(i.OwnRoute, i.Route), Duration(i.Deadline.Sub(i.Created))
	if a.OnTimeout == OnTimeoutEscalate {
		a.Timeout /= 2 // the deadline is twice the timeout: the people asked by the escalation get the same time again
	}
	return a
}

// Approval describes the action that needs permission.
type Approval struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input,omitempty"`
	// Key is the tool's own name for the operation. nod returns it to the
	// agent, and it is part of the digest. It does not affect grants.
	Key string `json:"key,omitempty"`
	// Where is the location of the operation, such as a directory or a
	// repository. A grant covers that location only. It is empty if
	// unknown.
	Where string `json:"where,omitempty"`
	// Scopes lists the scopes to offer: once, session or always. If it is
	// empty, nod offers once, and also session if the interaction has a
	// session.
	Scopes []Scope `json:"scopes,omitempty"`
	// Decisions lists the decisions to offer, so that no card shows a choice
	// that the agent cannot handle. If it is empty, nod offers deny,
	// deny_reason and the approvals of Scopes. It leaves out edit if the input
	// does not fit in a native text input. An agent that remembers approvals
	// itself may offer several decisions of one kind, such as always and
	// always:2. ScopeNotes has their names.
	Decisions []Decision `json:"decisions,omitempty"`
	// DefaultNo means that no approving control is highlighted.
	DefaultNo bool `json:"default_no,omitempty"`
	// Confirm is the text that an approver must type. If it is empty, a
	// click is enough.
	Confirm string `json:"confirm,omitempty"`
	// ScopeNotes describe the coverage of a session or always approval. If the
	// agent remembers approvals itself, it writes them. Otherwise, nod replaces
	// them with [Interaction.Coverage].
	ScopeNotes map[Scope]string `json:"scope_notes,omitempty"`
	// AgentRemembers means that the agent or its tool keeps session and
	// always approvals itself. nod returns the choice, but neither creates
	// nor uses grants.
	AgentRemembers bool `json:"agent_remembers,omitempty"`
}

// Scope is the duration and extent of an approval.
type Scope string

// The scopes.
const (
	ScopeOnce    Scope = "once"
	ScopeSession Scope = "session"
	ScopeAlways  Scope = "always"
)

// OnTimeout is the rule for an interaction that expires without a response.
type OnTimeout string

// Values of OnTimeout. A timeout counts as a denial only if the agent requests
// exactly that.
const (
	OnTimeoutExpire  OnTimeout = "expire"  // state expired; the default
	OnTimeoutDeny    OnTimeout = "deny"    // for approvals: state denied, with the timeout as the reason
	OnTimeoutDefault OnTimeout = "default" // for questions: state answered, with the defaults
	// OnTimeoutEscalate takes the step of the route that asks more people, at
	// the timeout at the latest. The request then stays open for the same time
	// again, and finally expires.
	OnTimeoutEscalate OnTimeout = "escalate"
	// OnTimeoutPending defers the question: the agent continues, and the
	// question stays open. A late answer goes to the session inbox.
	OnTimeoutPending OnTimeout = "pending"
)

// OnTimeouts lists the rules.
var OnTimeouts = []OnTimeout{OnTimeoutExpire, OnTimeoutDeny, OnTimeoutDefault, OnTimeoutEscalate, OnTimeoutPending}

// Presentation is the position of the card among the messages of the session.
type Presentation string

// The presentations. Empty is PresentTool.
const (
	// in the thread of its session or, without a session, in the thread of its
	// tool call
	PresentTool          Presentation = "tool"
	PresentQuestionnaire Presentation = "questionnaire" // a separate card
	// PresentSession is the message of a session, which shows its status. nod
	// sets it; agents cannot.
	PresentSession Presentation = "session"
)
