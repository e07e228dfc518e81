// Package claudecode translates the four ways in which Claude Code asks a
// person: the hooks PreToolUse, PermissionRequest and Elicitation, which also
// carry questions and plans; the can_use_tool request of its control protocol;
// the permission-prompt tool; and the permission relay of channels.
package claudecode

import (
	"encoding/json"
	"slices"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/elicitation"
)

// Unanswered is the behavior of Claude Code if no one decides.
type Unanswered string

// Values of Unanswered.
const (
	// AskLocally lets Claude Code ask at its own terminal. Without a terminal,
	// Claude Code denies on its own.
	AskLocally Unanswered = "ask"
	// DenySilence denies the call, and says that no person has decided.
	DenySilence Unanswered = "deny"
)

// ParseUnanswered parses the value of unanswered. An empty string means
// AskLocally.
func ParseUnanswered(s string) (Unanswered, error) {
	switch u := Unanswered(s); u {
	case "":
		return AskLocally, nil
	case AskLocally, DenySilence:
		return u, nil
	}
	return "", bridge.Errorf(bridge.CodeInvalid, "unanswered: unknown value %q", s).WithHint("use ask or deny")
}

// hookInput holds the fields of a hook's input that nod reads.
type hookInput struct {
	Session     string          `json:"session_id"`
	Cwd         string          `json:"cwd"`
	Event       string          `json:"hook_event_name"`
	Tool        string          `json:"tool_name"`
	Input       json.RawMessage `json:"tool_input"`
	ToolUse     string          `json:"tool_use_id"`
	Agent       string          `json:"agent_id"` // ID of a subagent; empty for the session's main agent
	Permissions permissionMode  `json:"permission_mode"`
	Suggestions []Suggestion    `json:"permission_suggestions"`

	Server  string          `json:"mcp_server_name"`
	Message string          `json:"message"`
	Mode    string          `json:"mode"`
	URL     string          `json:"url"`
	Schema  json.RawMessage `json:"requested_schema"`

	Notification string `json:"notification_type"`

	sessionInput
}

// permissionMode is the mode in which Claude Code decides which tool calls need
// a person.
type permissionMode string

// prompts reports whether Claude Code asks at its terminal in this mode. In the
// other modes, which are auto, dontAsk and bypassPermissions, it does not.
// Events without a mode come from versions that always prompt. An unknown mode
// counts as a mode without prompts.
func (m permissionMode) prompts() bool {
	return slices.Contains([]permissionMode{"", "default", "acceptEdits", "plan"}, m)
}

// hookOutput is the output of a hook.
type hookOutput struct {
	Continue   *bool  `json:"continue,omitempty"`
	StopReason string `json:"stopReason,omitempty"`
	Specific   any    `json:"hookSpecificOutput,omitempty"`
}

type preToolUse struct {
	Event    string          `json:"hookEventName"`
	Decision string          `json:"permissionDecision"`
	Reason   string          `json:"permissionDecisionReason,omitempty"`
	Input    json.RawMessage `json:"updatedInput,omitempty"`
}

type permissionRequest struct {
	Event    string     `json:"hookEventName"`
	Decision permission `json:"decision"`
}

// permission is the decision of a PermissionRequest hook.
type permission struct {
	Behavior  string          `json:"behavior"`
	Input     json.RawMessage `json:"updatedInput,omitempty"`
	Updates   []Suggestion    `json:"updatedPermissions,omitempty"`
	Message   string          `json:"message,omitempty"`
	Interrupt bool            `json:"interrupt,omitempty"` // older daemons sent it
}

type elicited struct {
	Event   string          `json:"hookEventName"`
	Action  string          `json:"action"`
	Content json.RawMessage `json:"content,omitempty"`
}

// maxOutput is the maximum length of a hook's text that Claude Code keeps, in
// characters.
const maxOutput = 10_000

// Hook translates the input of a hook. For an event that does not need a
// person, the answer is NoDecision. For an unknown event, it returns
// CodeInvalid, because the event could be a gate.
func Hook(raw []byte, u Unanswered) (dialect.Translation, error) {
	var in hookInput
	if err := dialect.Decode("hook", raw, &in); err != nil {
		return dialect.Translation{}, err
	}
	t, err := in.translate(u)
	t.Report = in.report()
	return t, err
}

func (in hookInput) translate(u Unanswered) (dialect.Translation, error) {
	switch in.Event {
	case "PreToolUse", "PermissionRequest":
		return in.toolUse(u)
	case "Elicitation":
		return in.elicitation(u)
	case "PermissionDenied": // nod asks no one, because Claude Code would deny the call again
		return dialect.Translation{Answer: dialect.NoDecision{}}, nil
	case "Notification":
		return in.notice(), nil
	case "PostToolUse", "PostToolUseFailure":
		return in.elsewhere(in.ran())
	// These events belong to one agent. Other agents of the session may still
	// be waiting.
	case "UserPromptSubmit":
		if in.ownPrompt() {
			return dialect.Translation{Answer: dialect.NoDecision{}}, nil
		}
		fallthrough
	case "Stop", "StopFailure", "SubagentStop":
		return in.elsewhere(dialect.Elsewhere{Turn: in.Agent, Reason: "the agent continued without an answer"})
	case "SessionEnd":
		return in.elsewhere(dialect.Elsewhere{AllTurns: true, Reason: "the session has ended"})
	case "":
		return dialect.Translation{}, bridge.Errorf(bridge.CodeInvalid, "hook_event_name: required")
	}
	if !slices.Contains(silentEvents, in.Event) {
		return dialect.Translation{}, bridge.Errorf(bridge.CodeInvalid, "hook_event_name: unknown event %q", in.Event)
	}
	return dialect.Translation{Answer: dialect.NoDecision{}}, nil
}

// elsewhere reports that people decided requests of the session at the
// terminal.
func (in hookInput) elsewhere(e dialect.Elsewhere) (dialect.Translation, error) {
	e.Session = in.Session
	return dialect.Translation{Answer: dialect.NoDecision{}, Elsewhere: &e}, nil
}

func (in hookInput) toolUse(u Unanswered) (dialect.Translation, error) {
	permission := in.Event == "PermissionRequest"
	c := call{
		session: in.Session, cwd: in.Cwd, toolUse: in.ToolUse, tool: in.Tool, input: in.Input, suggestions: in.Suggestions,
		stop: true, edit: true, remember: permission,
	}
	r, err := c.request()
	if err == nil {
		err = dialect.NeedsInput("tool_input", in.Input)
	}
	if err != nil {
		return dialect.Translation{}, err
	}
	r.Turn, r.Contested = in.Agent, permission
	return dialect.One(r, dialect.CallID("claude", in.ToolUse, in.Event), func(rec bridge.Record) (any, error) {
		v, err := c.verdict(rec)
		if err != nil {
			return nil, err
		}
		if !v.decided && (u == DenySilence || !permission && !in.Permissions.prompts()) {
			v.decided = true
		}
		if rec.Response != nil && rec.State == bridge.StateApproved && len(rec.Response.Input) == 0 && c.tool != PlanTool {
			v.input = nil // the input is unchanged; only questions and plans need it back
		}
		if permission {
			return v.permissionRequest(), nil
		}
		return v.preToolUse(), nil
	}), nil
}

func (v verdict) preToolUse() any {
	out := preToolUse{Event: "PreToolUse", Decision: "ask", Reason: bounded(v.message)}
	switch {
	case v.allow:
		out.Decision, out.Input = "allow", v.input
	case v.decided:
		out.Decision = "deny"
	}
	if !v.stop {
		return hookOutput{Specific: out}
	}
	no := false
	return hookOutput{Continue: &no, StopReason: bounded(v.message), Specific: out}
}

// permissionRequest returns a denial without interrupt, even if the session is
// stopped. If someone at the terminal has allowed the call in the meantime,
// interrupt would end whichever tool is running, and the hook cannot find out.
// The stop denies the next call instead.
func (v verdict) permissionRequest() any {
	d := permission{Behavior: "deny", Message: bounded(v.message)}
	switch {
	case v.allow:
		d = permission{Behavior: "allow", Input: v.input, Updates: v.updates}
	case !v.decided:
		return dialect.NoDecision{}
	}
	return hookOutput{Specific: permissionRequest{Event: "PermissionRequest", Decision: d}}
}

// bounded shortens text to the length that Claude Code keeps.
func bounded(s string) string {
	if r := []rune(s); len(r) > maxOutput {
		return string(r[:maxOutput-1]) + "…"
	}
	return s
}

func (in hookInput) elicitation(u Unanswered) (dialect.Translation, error) {
	r, err := elicitation.Request(elicitation.Params{Mode: in.Mode, Message: in.Message, RequestedSchema: in.Schema, URL: in.URL}, in.Server)
	if err != nil {
		return dialect.Translation{}, err
	}
	r.Session, r.Contested = in.Session, true
	return dialect.One(r, "", func(rec bridge.Record) (any, error) {
		a, err := elicitation.Answer(rec)
		switch {
		case err != nil && u == DenySilence:
			a = elicitation.Result{Action: elicitation.Cancel} // DenySilence: the elicitation must not stay open
		case err != nil:
			return dialect.NoDecision{}, nil
		}
		return hookOutput{Specific: elicited{Event: "Elicitation", Action: a.Action, Content: a.Content}}, nil
	}), nil
}
