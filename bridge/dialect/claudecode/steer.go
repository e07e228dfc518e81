package claudecode

import (
	"slices"
	"unicode/utf16"

	"github.com/nodbridge/nod/bridge/dialect"
)

// takingEvents lists the events at which Claude Code accepts messages from
// people: a tool has run, a prompt starts, or the turn ends. PreToolUse is not
// among them. If the call is then denied, Claude Code drops the text that a
// hook added.
var takingEvents = []string{"PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop"}

// Watch describes the input of a hook that watches a session.
type Watch struct {
	Event   string
	Session string
	// Transcript is the path of the file with the conversation.
	Transcript string
	// Takes reports whether Claude Code accepts messages from people now.
	Takes bool
	// Continued is nil unless the agent ends its turn. It then reports whether
	// a hook has already continued the turn.
	Continued *bool
}

// Watched describes the input of a hook that watches a session. It returns
// false if the hook has nothing to do. A subagent gets no messages, because
// they are for the main agent.
func Watched(in *dialect.HookInput) (Watch, bool) {
	w := Watch{Event: in.Event(), Session: in.Text("session_id"), Transcript: in.Text("transcript_path")}
	if w.Session == "" {
		return Watch{}, false
	}
	w.Takes = in.Text("agent_id") == "" && slices.Contains(takingEvents, w.Event)
	if w.Event == "Stop" {
		w.Continued = new(in.True("stop_hook_active"))
	}
	return w, w.Takes || w.Event == "PreToolUse"
}

// told is the output of a hook that adds text to the conversation.
type told struct {
	Event string `json:"hookEventName"`
	Text  string `json:"additionalContext"`
}

// Told returns the output that passes a text to Claude Code. At the end of a
// turn, the text continues the turn.
func Told(event, text string) any {
	if event == "Stop" {
		return blocked{"block", text}
	}
	return hookOutput{Specific: told{event, text}}
}

// Fits reports whether texts, each on a line, fit into one output.
func Fits(texts []string) bool {
	size := 0
	for _, text := range texts {
		size += len(utf16.Encode([]rune(text))) + 1
	}
	return size <= maxOutput
}
