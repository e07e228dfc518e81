package codex

import (
	"slices"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// silentEvents lists the events that nod does not answer.
var silentEvents = []string{
	"SessionStart", "SessionEnd", "UserPromptSubmit", "PreModelRequest", "PostModelRequest",
	"PreCompact", "PostCompact", "SubagentStart", "SubagentStop", "Interrupt",
}

// reportEvents lists the events that need no decision.
var reportEvents = []string{"PostToolUse", "Stop"}

// Reports reports whether an event needs no decision, so that Codex must not
// wait for nod.
func Reports(event string) bool { return slices.Contains(reportEvents, event) }

// blocked is the output that blocks the agent at any event.
type blocked struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
}

// Failed returns the output of a hook that could not ask anyone. It never
// allows. An unknown event is blocked.
func Failed(event, why string) any {
	switch {
	case event == "PreToolUse":
		return hookOutput{preToolUse{Event: event, Decision: "deny", Reason: why}}
	case event == "PermissionRequest":
		out := permissionRequest{Event: event}
		out.Decision.Behavior, out.Decision.Message = "deny", why
		return hookOutput{out}
	case Reports(event), slices.Contains(silentEvents, event):
		return dialect.NoDecision{}
	}
	return blocked{"block", why}
}

// Stopped returns the output of a hook in a stopped session.
func Stopped(event string, s bridge.Stop) any {
	return Failed(event, "The session is "+s.Words()+".")
}

// Unasked returns the output of a hook if no person has decided on its request.
// Codex then asks at its terminal, except for PreToolUse, where it cannot ask.
func Unasked(event string, u dialect.Unasked, why string) any {
	if event == "PermissionRequest" && u.Leaves() {
		return dialect.NoDecision{}
	}
	return Failed(event, why)
}
