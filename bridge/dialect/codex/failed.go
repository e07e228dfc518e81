package codex

import (
	"slices"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// silentEvents are the events that nod does not answer.
var silentEvents = []string{
	"SessionStart", "SessionEnd", "UserPromptSubmit", "PreModelRequest", "PostModelRequest",
	"PreCompact", "PostCompact", "SubagentStart", "SubagentStop", "Interrupt",
}

// reportEvents are the events that only tell nod something.
var reportEvents = []string{"PostToolUse", "Stop"}

// Reports reports whether an event only tells nod something, so that Codex must
// not wait for nod.
func Reports(event string) bool { return slices.Contains(reportEvents, event) }

// blocked is the output that blocks the agent for any event.
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

// Unasked returns the output of a hook whose request no person has decided. Codex
// then asks at its terminal, which it cannot do for PreToolUse.
func Unasked(event string, u dialect.Unasked, why string) any {
	if event == "PermissionRequest" && u.Leaves() {
		return dialect.NoDecision{}
	}
	return Failed(event, why)
}
