// Package copilot translates the permissionRequest hook of Copilot CLI. Copilot
// runs the hook before every call that does more than read, even before calls
// that it would allow on its own. If the output contains no decision, Copilot
// decides.
package copilot

import (
	"encoding/json"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// PermissionRequest is the event at which Copilot asks for permission.
const PermissionRequest = "permissionRequest"

type hookInput struct {
	Event   string          `json:"hookName"`
	Session string          `json:"sessionId"`
	Cwd     string          `json:"cwd"`
	Tool    string          `json:"toolName"`
	Input   json.RawMessage `json:"toolInput"`
}

// permission is the decision of a permissionRequest hook.
type permission struct {
	Behavior string `json:"behavior"`
	Message  string `json:"message,omitempty"`
	// Interrupt ends the turn.
	Interrupt bool `json:"interrupt,omitempty"`
}

// Hook translates the input of a hook. If no one decides, the answer is a
// denial with an explanation. The input does not reveal whether Copilot would
// ask anyone, so Copilot could otherwise run the call.
func Hook(raw []byte) (dialect.Translation, error) {
	var in hookInput
	if err := dialect.Decode("hook", raw, &in); err != nil {
		return dialect.Translation{}, err
	}
	switch {
	case in.Event != PermissionRequest:
		return dialect.Translation{}, bridge.Errorf(bridge.CodeInvalid, "hookName: unknown event %q", in.Event).WithHint("use permissionRequest")
	case in.Tool == "":
		return dialect.Translation{}, bridge.Errorf(bridge.CodeInvalid, "toolName: required")
	}
	if err := dialect.NeedsInput("toolInput", in.Input); err != nil {
		return dialect.Translation{}, err
	}
	prompt := "Copilot wants to use **" + in.Tool + "**"
	if in.Cwd != "" {
		prompt += " in " + dialect.Code(in.Cwd)
	}
	r := bridge.Request{Ask: bridge.Ask{
		Kind: bridge.KindApproval, Prompt: prompt, Session: in.Session, ToolName: in.Tool,
		Approval: &bridge.Approval{
			Tool: in.Tool, Input: in.Input, Where: in.Cwd,
			Decisions: []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyReason, bridge.DecideDenyStop, bridge.DecideOnce, bridge.DecideSession},
		},
	}}
	return dialect.One(r, "", func(rec bridge.Record) (any, error) {
		if rec.State == bridge.StateApproved {
			return permission{Behavior: "allow"}, nil
		}
		return permission{Behavior: "deny", Message: dialect.WhyNot(rec), Interrupt: rec.Response.Stop}, nil
	}), nil
}

// Reports reports whether an event needs no decision. Copilot has no such
// event.
func Reports(string) bool { return false }

// Unasked returns the output of a hook if no person has decided on its request.
func Unasked(event string, u dialect.Unasked, why string) any {
	if event == PermissionRequest && u.Leaves() {
		return dialect.NoDecision{}
	}
	return permission{Behavior: "deny", Message: why}
}

// Stopped returns the output of a hook in a stopped session. It ends the turn.
func Stopped(_ string, s bridge.Stop) any {
	return permission{Behavior: "deny", Message: "The session is " + s.Words() + ".", Interrupt: true}
}
