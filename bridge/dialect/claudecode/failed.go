package claudecode

import (
	"slices"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/strictjson"
)

// silentEvents are the events that nod does not answer.
var silentEvents = []string{
	"SessionStart", "Setup", "InstructionsLoaded", "SubagentStart",
	"PreCompact", "PostCompact", "ElicitationResult", "TaskCreated", "TaskCompleted", "TeammateIdle",
	"ConfigChange", "CwdChanged", "FileChanged",
}

// reportEvents are the events that close cards because the person or the agent
// has continued.
var reportEvents = []string{
	"PostToolUse", "PostToolUseFailure", "Stop", "StopFailure", "SubagentStop", "UserPromptSubmit", "SessionEnd",
}

// tellingEvents are the events that decide nothing, but show something to
// people.
var tellingEvents = []string{"Notification", "PermissionDenied"}

// Reports reports whether an event only tells nod something, so that the agent
// must not wait for nod.
func Reports(event string) bool {
	return slices.Contains(reportEvents, event) || event == "Notification"
}

// Silent reports whether nod has nothing to do for an event.
func Silent(event string) bool { return slices.Contains(silentEvents, event) }

// blocked is the output that blocks the agent for any event.
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
	case event == "Elicitation", slices.Contains(reportEvents, event), slices.Contains(tellingEvents, event), Silent(event):
		return NoDecision{}
	}
	return blocked{"block", bounded(why)}
}

// Stopped returns the output of a PreToolUse hook in a stopped session. It also
// denies the call, because Claude Code would otherwise run it before it stops.
func Stopped(s bridge.Stop) any {
	return verdict{decided: true, message: "The session is " + s.Words() + ".", stop: true}.preToolUse()
}

// Unreadable returns the output of a hook that could not read its input: the
// agent's user decides at the terminal. Without a terminal, Claude Code denies
// the call. In a mode without prompts, and for an event that may be any, it is
// the output of Failed.
func Unreadable(in *dialect.HookInput, why string) any {
	event := in.Event()
	switch {
	case event == "PermissionRequest":
		return NoDecision{}
	case event == "PreToolUse" && modeOf(in).prompts():
		return verdict{message: why}.preToolUse()
	}
	return Failed(event, why)
}

// LeavesToTerminal reports whether an output of Unreadable makes Claude Code ask
// at its terminal.
func LeavesToTerminal(out any) bool {
	o, isOutput := out.(hookOutput)
	p, isGate := o.Specific.(preToolUse)
	return isOutput && isGate && p.Decision == "ask"
}

// modeOf returns the permission mode that an input names. If it names different
// modes, modeOf returns an unknown one.
func modeOf(in *dialect.HookInput) permissionMode {
	switch all := in.Texts("permission_mode"); len(all) {
	case 0:
		return ""
	case 1:
		return permissionMode(all[0])
	}
	return "ambiguous"
}

// CheckOutput returns an error for an output that does not have the form of the
// event, because Claude Code could read it as another decision or as none.
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
	case "PermissionDenied":
		out.Specific = &retried{}
	}
	if named.Specific.Event != event {
		return bridge.Errorf(bridge.CodeInvalid, "output: belongs to another event than %s", event)
	}
	if err := strictjson.DecodeKnown(raw, &out); err != nil {
		return bridge.Errorf(bridge.CodeInvalid, "output: %s", err)
	}
	if p, ok := out.Specific.(*preToolUse); ok && !slices.Contains([]string{"allow", "deny", "ask"}, p.Decision) {
		return bridge.Errorf(bridge.CodeInvalid, "output: no decision")
	}
	return nil
}
