package claudecode

import (
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// retried is the output of a PermissionDenied hook.
type retried struct {
	Event string `json:"hookEventName"`
	Retry bool   `json:"retry"`
}

const (
	retryQuestion = "retry"
	retryYes      = "retry"
	retryNo       = "leave"
)

// denied asks about a call that Claude Code's automatic check denied. A yes
// lets the agent try again. It does not allow the call: the check decides
// again.
func (in hookInput) denied() (dialect.Translation, error) {
	if in.Tool == "" {
		return dialect.Translation{}, bridge.Errorf(bridge.CodeInvalid, "tool_name: required")
	}
	why := strings.TrimSpace(in.Reason)
	if why == "" {
		why = "no reason given"
	}
	r := bridge.Request{Ask: bridge.Ask{
		Kind: bridge.KindAsk, Prompt: "Claude Code's automatic check denied **" + in.Tool + "**" + call{cwd: in.Cwd}.where() + ": " + why + "\n\n" + fenced(string(in.Input)),
		Session: in.Session, ToolCall: in.ToolUse, ToolName: in.Tool, Turn: in.Agent, Declinable: true,
		Questions: []bridge.Question{{
			ID: retryQuestion, Widget: bridge.WidgetButtons,
			Text: "Let it try this call again? The check decides again.",
			Options: []bridge.Option{
				{Value: retryYes, Label: "Let it try again"}, {Value: retryNo, Label: "Leave it denied"},
			},
		}},
	}}
	return dialect.One(r, "", func(rec bridge.Record) (any, error) {
		if rec.State != bridge.StateAnswered || rec.Response.Answers[retryQuestion].Text != retryYes {
			return NoDecision{}, nil
		}
		return hookOutput{Specific: retried{Event: "PermissionDenied", Retry: true}}, nil
	}), nil
}

// fenced returns text as a code block of Markdown. Its fence is longer than any
// in the text.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "json\n" + text + "\n" + fence
}

// notices are the notifications that people away from the terminal need.
var notices = []string{"permission_prompt", "idle_prompt", "agent_needs_input"}

// notice tells people that Claude Code waits at its terminal. A card of the
// session that waits for an answer says so already.
func (in hookInput) notice() dialect.Translation {
	t := dialect.Translation{Answer: NoDecision{}}
	if !slices.Contains(notices, in.Notification) || strings.TrimSpace(in.Message) == "" {
		return t
	}
	t = dialect.One(bridge.Request{Ask: bridge.Ask{Kind: bridge.KindNotice, Prompt: in.Message + call{cwd: in.Cwd}.where(), Session: in.Session}}, "",
		func(bridge.Record) (any, error) { return NoDecision{}, nil })
	t.Answer, t.UnlessPending = NoDecision{}, in.Session
	return t
}
