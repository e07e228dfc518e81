package bridge

import (
	"cmp"
	"encoding/json"
)

// Ask is what an agent sends to open an interaction. Everything that is made of
// it copies it whole: the interaction, its digests and the next round.
type Ask struct {
	Kind      Kind       `json:"kind,omitempty"` // empty: approval if Approval is set, else ask
	Prompt    string     `json:"prompt"`
	Questions []Question `json:"questions,omitempty"`
	Approval  *Approval  `json:"approval,omitempty"`

	Session string `json:"session,omitempty"`
	// Correlation values of the agent, handed back untouched.
	ToolCall   string `json:"tool_call,omitempty"`
	Turn       string `json:"turn,omitempty"`
	ResponseID string `json:"response_id,omitempty"`
	// ToolName is the tool that asks; of an approval, empty means its tool.
	ToolName string `json:"tool_name,omitempty"`

	// Requester is the person of the config that the agent works for, who may
	// not answer then unless the route says so; empty: not said.
	Requester string `json:"requester,omitempty"`

	Route     string    `json:"route,omitempty"`   // empty: the route named default
	Timeout   Duration  `json:"timeout,omitempty"` // 0: DefaultTimeout
	OnTimeout OnTimeout `json:"on_timeout,omitempty"`
	// Hold is how long a question stays open once its agent was told that it
	// is queued; 0: DefaultHold.
	Hold Duration `json:"hold,omitempty"`

	// Grace holds the cards back for a while, in which the person at the
	// keyboard may answer there: no card is posted for what ends before.
	Grace Duration `json:"grace,omitempty"`
	// Batch waits so long for more approvals of the session on the same route,
	// and shows them in one message; 0: a message of its own. Each keeps its
	// own answer.
	Batch Duration `json:"batch,omitempty"`
	// Join makes an identical request of the session that is pending the answer
	// of this one too, instead of asking twice.
	Join bool `json:"join,omitempty"`
	// OneAtATime refuses the request while another of its session is pending.
	OneAtATime bool `json:"one_at_a_time,omitempty"`
	// CancelOnDisconnect withdraws the request when the connection of the
	// caller that waits for it ends.
	CancelOnDisconnect bool `json:"cancel_on_disconnect,omitempty"`
	// Declinable lets people end an ask without an answer.
	Declinable    bool           `json:"declinable,omitempty"`
	Presentation  Presentation   `json:"presentation,omitempty"`
	CompletedView *CompletedView `json:"completed_view,omitempty"`
	// Initial values by question id: filled in, and no answer on their own.
	Initial map[string]Answer `json:"initial,omitempty"`
	// Error is shown above the questions: why they are asked again.
	Error string `json:"error,omitempty"`
	// MaxRounds bounds how often the answer may be rejected and asked for
	// again, the first time included; 0: DefaultRounds.
	MaxRounds int `json:"max_rounds,omitempty"`
}

// Opened returns the ask as an interaction keeps it. The interaction's deadline
// takes the place of Timeout, and OneAtATime concerns its opening alone.
func (a Ask) Opened() Ask {
	a.Timeout, a.OneAtATime = 0, false
	return a
}

// Again returns the ask of an interaction as it would be sent for another
// round.
func (i Interaction) Again() Ask {
	a := i.Ask
	a.Route, a.Timeout = cmp.Or(i.OwnRoute, i.Route), Duration(i.Deadline.Sub(i.Created))
	return a
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

// Presentation says where the card stands among the session's messages.
type Presentation string

// The presentations. Empty is PresentTool.
const (
	PresentTool          Presentation = "tool"          // in the thread of its session, else of its tool call
	PresentQuestionnaire Presentation = "questionnaire" // a card of its own
)
