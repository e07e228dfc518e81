package claudecode

import (
	"slices"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/strictjson"
)

// silentEvents lists the events that nod does not answer.
var silentEvents = []string{
	"SessionStart", "Setup", "InstructionsLoaded", "SubagentStart",
	"PreCompact", "PostCompact", "ElicitationResult", "TaskCreated", "TaskCompleted", "TeammateIdle",
	"ConfigChange", "CwdChanged", "FileChanged",
}

// reportEvents lists the events that need no decision. Most of them close
// cards, because the person or the agent has continued.
var reportEvents = []string{
	"PostToolUse", "PostToolUseFailure", "Stop", "StopFailure", "SubagentStop", "UserPromptSubmit", "SessionEnd", "Notification",
	"PermissionDenied",
}

// Reports reports whether an event needs no decision, so that the agent must
// not wait for nod.
func Reports(event string) bool { return slices.Contains(reportEvents, event) }

// Silent reports whether nod has nothing to do at an event.
func Silent(event string) bool { return slices.Contains(silentEvents, event) }

// blocked is the output that blocks the agent at any event.
type blocked struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
}

// Failed returns the output of a hook that could not ask anyone. It never
// allows. If the event has no denial, Claude Code asks at its terminal. An
// unknown event is blocked.
func Failed(event, why string) any {
	v := verdict{decided: true, message: why}
	switch {
	case event == "PreToolUse":
		return v.preToolUse()
	case event == "PermissionRequest":
		return v.permissionRequest()
	case event == "Elicitation", Reports(event), Silent(event):
		return dialect.NoDecision{}
	}
	return blocked{"block", bounded(why)}
}

// Stopped returns the output of a hook in a stopped session. At PreToolUse, it
// ends the turn and also denies the call, because otherwise Claude Code would
// run the call before it stops.
func Stopped(event string, s bridge.Stop) any {
	v := verdict{decided: true, message: "The session is " + s.Words() + ".", stop: true}
	if event == "PreToolUse" {
		return v.preToolUse()
	}
	return Failed(event, v.message)
}

// headless is the name of the entry point of claude -p in the environment of
// hooks.
const headless = "sdk-cli"

// Attended reports whether Claude Code asks a person at its terminal, or the
// program that runs it, if a hook decides nothing. The entry point is the value
// of CLAUDE_CODE_ENTRYPOINT, or empty if it is not known. At a permission
// prompt, Claude Code never allows a call on its own.
func Attended(in *dialect.HookInput, entrypoint string) bool {
	switch in.Event() {
	case "PreToolUse":
		return modeOf(in).prompts()
	case "PermissionRequest":
		return entrypoint != headless
	}
	return false
}

// Unasked returns the output of a hook whose request no person has decided.
func Unasked(event string, u dialect.Unasked, why string) any {
	switch {
	case u.Leaves() && event == "PermissionRequest":
		return dialect.NoDecision{}
	case u.Leaves() && event == "PreToolUse":
		return verdict{message: why}.preToolUse()
	}
	return Failed(event, why)
}

// LeavesToTerminal reports whether an output makes Claude Code ask at its
// terminal.
func LeavesToTerminal(out any) bool {
	o, isOutput := out.(hookOutput)
	p, isGate := o.Specific.(preToolUse)
	return isOutput && isGate && p.Decision == "ask"
}

// modeOf returns the permission mode in an input. If the input has several
// modes, modeOf returns an unknown mode.
func modeOf(in *dialect.HookInput) permissionMode {
	switch all := in.Texts("permission_mode"); len(all) {
	case 0:
		return ""
	case 1:
		return permissionMode(all[0])
	}
	return "ambiguous"
}

// CheckOutput returns an error for an output in the wrong format for the event.
// Claude Code could read such an output as another decision or as no decision.
func CheckOutput(event string, raw []byte) error {
	var out struct {
		Continue   *bool  `json:"continue"`
		StopReason string `json:"stopReason"`
		Specific   any    `json:"hookSpecificOutput"`
	}
	var named struct {
		Specific struct {
			Event string `json:"hookEventName"`
		} `json:"hookSpecificOutput"`
	}
	if err := dialect.Decode("output", raw, &named); err != nil {
		return err
	}
	switch event {
	case "PreToolUse":
		out.Specific = &preToolUse{}
	case "PermissionRequest":
		out.Specific = &permissionRequest{}
	case "Elicitation":
		out.Specific = &elicited{}
	}
	if named.Specific.Event != event {
		return bridge.Errorf(bridge.CodeInvalid, "output: belongs to an event other than %s", event)
	}
	if err := strictjson.DecodeKnown(raw, &out); err != nil {
		return bridge.Errorf(bridge.CodeInvalid, "output: %s", err)
	}
	if p, ok := out.Specific.(*preToolUse); ok && !slices.Contains([]string{"allow", "deny", "ask"}, p.Decision) {
		return bridge.Errorf(bridge.CodeInvalid, "output: no decision")
	}
	return nil
}
