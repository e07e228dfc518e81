package codex

import "slices"

// silentEvents are the events that nod has nothing to say about.
var silentEvents = []string{
	"SessionStart", "SessionEnd", "UserPromptSubmit", "PreModelRequest", "PostModelRequest",
	"PreCompact", "PostCompact", "SubagentStart", "SubagentStop", "Interrupt",
}

// blocked is the output that blocks whatever the event is.
type blocked struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
}

// Failed is the output of a hook that could not ask anyone. It never allows.
// An event that is not known is blocked.
func Failed(event, why string) any {
	switch {
	case event == "PreToolUse":
		return hookOutput{preToolUse{Event: event, Decision: "deny", Reason: why}}
	case event == "PermissionRequest":
		out := permissionRequest{Event: event}
		out.Decision.Behavior, out.Decision.Message = "deny", why
		return hookOutput{out}
	case event == "PostToolUse", event == "Stop", slices.Contains(silentEvents, event):
		return NoDecision{}
	}
	return blocked{"block", why}
}
