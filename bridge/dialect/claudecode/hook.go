// Package claudecode speaks the four places where Claude Code waits for a
// person: the hooks PreToolUse, PermissionRequest and Elicitation, which also
// carry questions and plans, the can_use_tool request of its control protocol,
// the permission-prompt tool, and the permission relay of channels.
package claudecode

import (
	"encoding/json"
	"slices"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/elicitation"
)

// Unanswered says what Claude Code is told when nobody decided.
type Unanswered string

// What it may be told.
const (
	// AskLocally lets Claude Code ask at its own terminal; where there is
	// none, it denies on its own.
	AskLocally Unanswered = "ask"
	// DenySilence denies, and says that no person did.
	DenySilence Unanswered = "deny"
)

// ParseUnanswered reads the word; empty is AskLocally.
func ParseUnanswered(s string) (Unanswered, error) {
	switch u := Unanswered(s); u {
	case "":
		return AskLocally, nil
	case AskLocally, DenySilence:
		return u, nil
	}
	return "", bridge.Errorf(bridge.CodeInvalid, "unanswered: unknown %q", s).WithHint("use ask or deny")
}

// hookInput is what nod reads of a hook's input.
type hookInput struct {
	Session     string          `json:"session_id"`
	Cwd         string          `json:"cwd"`
	Event       string          `json:"hook_event_name"`
	Tool        string          `json:"tool_name"`
	Input       json.RawMessage `json:"tool_input"`
	ToolUse     string          `json:"tool_use_id"`
	Agent       string          `json:"agent_id"` // of a subagent; empty: the session's main one
	Suggestions []Suggestion    `json:"permission_suggestions"`

	Server  string          `json:"mcp_server_name"`
	Message string          `json:"message"`
	Mode    string          `json:"mode"`
	URL     string          `json:"url"`
	Schema  json.RawMessage `json:"requested_schema"`
}

// hookOutput is what a hook answers.
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
	Interrupt bool            `json:"interrupt,omitempty"`
}

type elicited struct {
	Event   string          `json:"hookEventName"`
	Action  string          `json:"action"`
	Content json.RawMessage `json:"content,omitempty"`
}

// NoDecision is the answer of a hook that decides nothing: an empty body.
type NoDecision struct{}

// maxOutput is what Claude Code keeps of a hook's text, in characters.
const maxOutput = 10_000

// Hook translates what a hook is given. An event that needs nobody has
// NoDecision as its answer. An event that is not known is CodeInvalid: it could
// be a gate.
func Hook(raw []byte, u Unanswered) (dialect.Translation, error) {
	var in hookInput
	if err := dialect.Decode("hook", raw, &in); err != nil {
		return dialect.Translation{}, err
	}
	switch in.Event {
	case "PreToolUse", "PermissionRequest":
		return in.toolUse(u)
	case "Elicitation":
		return in.elicitation(u)
	case "PostToolUse", "PostToolUseFailure":
		return dialect.Translation{Answer: NoDecision{}, Elsewhere: &dialect.Elsewhere{Session: in.Session, Tool: in.Tool, Input: in.Input, Reason: "answered at the terminal"}}, nil
	case "Stop", "StopFailure", "SubagentStop", "UserPromptSubmit": // of one agent; others of the session may still wait
		return dialect.Translation{Answer: NoDecision{}, Elsewhere: &dialect.Elsewhere{Session: in.Session, Turn: in.Agent, Reason: "the agent went on without an answer"}}, nil
	case "SessionEnd":
		return dialect.Translation{Answer: NoDecision{}, Elsewhere: &dialect.Elsewhere{Session: in.Session, AllTurns: true, Reason: "the session has ended"}}, nil
	case "":
		return dialect.Translation{}, bridge.Errorf(bridge.CodeInvalid, "hook_event_name: is empty")
	}
	if !slices.Contains(silentEvents, in.Event) {
		return dialect.Translation{}, bridge.Errorf(bridge.CodeInvalid, "hook_event_name: unknown %q", in.Event)
	}
	return dialect.Translation{Answer: NoDecision{}}, nil
}

func (in hookInput) toolUse(u Unanswered) (dialect.Translation, error) {
	permission := in.Event == "PermissionRequest"
	c := call{
		session: in.Session, cwd: in.Cwd, toolUse: in.ToolUse, tool: in.Tool, input: in.Input, suggestions: in.Suggestions,
		stop: true, edit: true, remember: permission,
	}
	r, err := c.request()
	if err != nil {
		return dialect.Translation{}, err
	}
	r.Turn = in.Agent
	key := ""
	if in.ToolUse != "" { // the same call is asked once, whoever repeats it
		key = "claude:" + in.Event + ":" + in.Session + ":" + in.ToolUse
	}
	return dialect.One(r, key, func(rec bridge.Record) (any, error) {
		v, err := c.verdict(rec)
		if err != nil {
			return nil, err
		}
		if !v.decided && u == DenySilence {
			v.decided = true
		}
		if rec.Response != nil && rec.State == bridge.StateApproved && len(rec.Response.Input) == 0 {
			v.input = nil // as it was; questions and plans need theirs back
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

func (v verdict) permissionRequest() any {
	d := permission{Behavior: "deny", Message: bounded(v.message), Interrupt: v.stop}
	switch {
	case v.allow:
		d = permission{Behavior: "allow", Input: v.input, Updates: v.updates}
	case !v.decided:
		return NoDecision{}
	}
	return hookOutput{Specific: permissionRequest{Event: "PermissionRequest", Decision: d}}
}

// bounded cuts a text to what Claude Code keeps.
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
	r.Session = in.Session
	return dialect.One(r, "", func(rec bridge.Record) (any, error) {
		a := elicitation.Answer(rec)
		if a.Action == elicitation.Cancel && u != DenySilence {
			return NoDecision{}, nil
		}
		return hookOutput{Specific: elicited{Event: "Elicitation", Action: a.Action, Content: a.Content}}, nil
	}), nil
}
