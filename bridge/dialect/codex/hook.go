// Package codex translates the requests of Codex: its hooks, whose outputs are
// a strict subset of Claude Code's, and the requests of codex app-server.
package codex

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

type hookInput struct {
	Session string          `json:"session_id"`
	Turn    string          `json:"turn_id"`
	Cwd     string          `json:"cwd"`
	Event   string          `json:"hook_event_name"`
	Tool    string          `json:"tool_name"`
	Input   json.RawMessage `json:"tool_input"`
	ToolUse string          `json:"tool_use_id"`
	Last    string          `json:"last_assistant_message"`
}

type hookOutput struct {
	Specific any `json:"hookSpecificOutput"`
}

// permissionRequest has only fields that Codex accepts. Codex fails closed if
// the output contains updatedInput, updatedPermissions or interrupt.
type permissionRequest struct {
	Event    string `json:"hookEventName"`
	Decision struct {
		Behavior string `json:"behavior"`
		Message  string `json:"message,omitempty"`
	} `json:"decision"`
}

// preToolUse has the decisions allow and deny. Codex rejects ask.
type preToolUse struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision"`
	Reason   string `json:"permissionDecisionReason,omitempty"`
}

// Hook translates the input of a hook. If no one decides and denySilence is
// set, the answer is a denial with an explanation. Otherwise, Codex asks at its
// own terminal. At PreToolUse, Codex cannot ask, so the answer is always a
// denial. For an unknown event, Hook returns CodeInvalid, because the event
// could be a gate.
func Hook(raw []byte, denySilence bool) (dialect.Translation, error) {
	var in hookInput
	if err := dialect.Decode("hook", raw, &in); err != nil {
		return dialect.Translation{}, err
	}
	t, err := in.translate(denySilence)
	t.Report = in.report()
	return t, err
}

func (in hookInput) translate(denySilence bool) (dialect.Translation, error) {
	switch in.Event {
	case "PermissionRequest", "PreToolUse":
	case "PostToolUse":
		return dialect.Translation{Answer: dialect.NoDecision{}, Elsewhere: &dialect.Elsewhere{
			Session: in.Session, Tool: in.Tool, Input: in.Input, Turn: in.Turn, Call: in.ToolUse, Reason: "answered at the terminal",
		}}, nil
	case "Stop":
		return dialect.Translation{Answer: dialect.NoDecision{}, Elsewhere: &dialect.Elsewhere{Session: in.Session, Turn: in.Turn, Reason: "the turn ended without an answer"}}, nil
	case "":
		return dialect.Translation{}, bridge.Errorf(bridge.CodeInvalid, "hook_event_name: required")
	default:
		if !slices.Contains(silentEvents, in.Event) {
			return dialect.Translation{}, bridge.Errorf(bridge.CodeInvalid, "hook_event_name: unknown event %q", in.Event)
		}
		return dialect.Translation{Answer: dialect.NoDecision{}}, nil
	}
	if in.Tool == "" {
		return dialect.Translation{}, bridge.Errorf(bridge.CodeInvalid, "tool_name: required")
	}
	if err := dialect.NeedsInput("tool_input", in.Input); err != nil {
		return dialect.Translation{}, err
	}
	var described struct {
		Description string `json:"description"`
	}
	_ = dialect.Decode("tool_input", in.Input, &described) // a tool without a description is valid
	r := approval(in.Tool, in.Input, "Codex wants to use **"+in.Tool+"**"+where(in.Cwd), described.Description)
	r.Approval.Where = in.Cwd
	r.Session, r.Turn, r.ToolCall = in.Session, in.Turn, in.ToolUse
	// Codex stores no permissions from a hook's output, so nod stores a grant.
	r.Approval.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyReason, bridge.DecideOnce, bridge.DecideSession}
	return dialect.One(r, dialect.CallID("codex hook", in.ToolUse, in.Event), func(rec bridge.Record) (any, error) { return in.answer(rec, denySilence), nil }), nil
}

func (in hookInput) answer(rec bridge.Record, denySilence bool) any {
	behavior, message := "deny", dialect.WhyNot(rec)
	switch {
	case rec.State == bridge.StateApproved:
		behavior, message = "allow", ""
	case rec.State != bridge.StateDenied && !rec.Response.Stops() && !denySilence && in.Event == "PermissionRequest":
		return dialect.NoDecision{}
	}
	if in.Event == "PreToolUse" {
		return hookOutput{preToolUse{Event: in.Event, Decision: behavior, Reason: message}}
	}
	out := permissionRequest{Event: in.Event}
	out.Decision.Behavior, out.Decision.Message = behavior, message
	return hookOutput{out}
}

func where(cwd string) string {
	if cwd == "" {
		return ""
	}
	return " in " + dialect.Code(cwd)
}

// approval returns a request for approval. The texts in more become paragraphs
// below the prompt.
func approval(tool string, input json.RawMessage, prompt string, more ...string) bridge.Request {
	for _, m := range more {
		if strings.TrimSpace(m) != "" {
			prompt += "\n\n" + m
		}
	}
	return bridge.Request{Ask: bridge.Ask{
		Kind: bridge.KindApproval, Prompt: prompt, ToolName: tool, Approval: &bridge.Approval{Tool: tool, Input: input},
	}}
}
