package claudecode

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// waitsForPrompt is the input that a session needs after its turn.
const waitsForPrompt = "your next message"

// report returns the status of the session in an event, or nil if the event
// contains none.
func (in hookInput) report() *dialect.Report {
	r := dialect.Report{Session: in.Session, SessionReport: bridge.SessionReport{Folder: in.Cwd}}
	switch in.Event {
	case "UserPromptSubmit":
		r.State = bridge.SessionWorking
		if !in.ownPrompt() {
			r.Prompt = in.Prompt
		}
	case "PermissionDenied":
		r.State, r.Step = bridge.SessionWorking, "Denied by its automatic check: "+dialect.Step(in.Tool, in.Input)
	case "PreToolUse", "PermissionRequest", "Elicitation":
	case "PostToolUse", "PostToolUseFailure":
		r.State, r.Step = bridge.SessionWorking, dialect.Step(in.Tool, in.Input)
	case "Notification":
		if !slices.Contains(notices, in.Notification) {
			return nil
		}
		r.State, r.Waits = bridge.SessionWaiting, in.Message
		if in.Notification == "idle_prompt" {
			r.Waits = waitsForPrompt
		}
	case "Stop", "StopFailure":
		r.State, r.Waits, r.Last = bridge.SessionWaiting, waitsForPrompt, in.Last
		if n := len(in.Background); n > 0 {
			r.State, r.Waits = bridge.SessionWorking, ""
		}
	case "SessionEnd":
		r.State = bridge.SessionFinished
	default:
		return nil
	}
	if in.Agent != "" {
		r.Subagent, r.SubagentID = in.AgentType, in.Agent
	}
	if r.Session == "" {
		return nil
	}
	return &r
}

// ownPrompt reports whether Claude Code wrote a prompt itself, such as the
// notification that a background task has ended.
func (in hookInput) ownPrompt() bool { return strings.HasPrefix(strings.TrimSpace(in.Prompt), "<") }

// sessionInput holds the fields of a hook's input that describe its session.
type sessionInput struct {
	Prompt     string            `json:"prompt"`
	Last       string            `json:"last_assistant_message"`
	AgentType  string            `json:"agent_type"`
	Background []json.RawMessage `json:"background_tasks"`
}
