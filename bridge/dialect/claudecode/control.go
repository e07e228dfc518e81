package claudecode

import (
	"encoding/json"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// canUseTool is the request for permission in the control protocol.
type canUseTool struct {
	Type      string `json:"type"`
	RequestID string `json:"request_id"`
	Request   struct {
		Subtype         string          `json:"subtype"`
		Tool            string          `json:"tool_name"`
		Input           json.RawMessage `json:"input"`
		ToolUse         string          `json:"tool_use_id"`
		Suggestions     []Suggestion    `json:"permission_suggestions"`
		Reason          string          `json:"decision_reason"`
		DefaultNo       bool            `json:"default_to_no"`
		SuppressAlways  bool            `json:"suppress_always_allow_rule"`
		UserInteraction bool            `json:"requires_user_interaction"`
	} `json:"request"`
}

type controlResponse struct {
	Type     string `json:"type"`
	Response struct {
		Subtype   string           `json:"subtype"`
		RequestID string           `json:"request_id"`
		Response  permissionResult `json:"response"`
	} `json:"response"`
}

// permissionResult is the result of a can_use_tool callback, and the text of
// the permission-prompt tool's result.
type permissionResult struct {
	Behavior string          `json:"behavior"`
	Input    json.RawMessage `json:"updatedInput,omitempty"`
	Updates  []Suggestion    `json:"updatedPermissions,omitempty"`
	Message  string          `json:"message,omitempty"`
	Stop     bool            `json:"interrupt,omitempty"`
}

// result converts a verdict to a permission result. The protocol has no result
// for a request that no one decided, so this case is a denial with an
// explanation.
func (v verdict) result() permissionResult {
	if v.allow {
		return permissionResult{Behavior: "allow", Input: v.input, Updates: v.updates}
	}
	return permissionResult{Behavior: "deny", Message: bounded(v.message), Stop: v.stop}
}

// ansi matches the color codes that reasons may contain.
var ansi = lazyregexp.New("\x1b\\[[0-9;]*[A-Za-z]")

// Control translates a control_request of the stream-json protocol. For a
// control_cancel_request or any other message, it returns CodeInvalid.
func Control(raw []byte) (dialect.Translation, error) {
	var m canUseTool
	if err := dialect.Decode("control", raw, &m); err != nil {
		return dialect.Translation{}, err
	}
	if m.Type != "control_request" || m.Request.Subtype != "can_use_tool" {
		return dialect.Translation{}, bridge.Errorf(bridge.CodeInvalid, "type: must be a control_request of subtype can_use_tool, not %q of %q", m.Type, m.Request.Subtype)
	}
	q := m.Request
	c := call{
		toolUse: q.ToolUse, tool: q.Tool, input: q.Input, suggestions: q.Suggestions, reason: ansi.ReplaceAllString(q.Reason, ""),
		defaultNo: q.DefaultNo, noRules: q.SuppressAlways, ownInterface: q.UserInteraction, stop: true, edit: true, remember: true,
	}
	r, err := c.request()
	if err == nil {
		err = dialect.NeedsInput("input", q.Input)
	}
	if err != nil {
		return dialect.Translation{}, err
	}
	return dialect.One(r, dialect.CallID("claude control", m.RequestID, q.ToolUse), func(rec bridge.Record) (any, error) {
		v, err := c.verdict(rec)
		if err != nil {
			return nil, err
		}
		out := controlResponse{Type: "control_response"}
		out.Response.Subtype, out.Response.RequestID, out.Response.Response = "success", m.RequestID, v.result()
		return out, nil
	}), nil
}

// PromptArguments are the arguments of the permission-prompt tool.
type PromptArguments struct {
	ToolName  string          `json:"tool_name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
}

// Prompt translates a call of the permission-prompt tool. Its answer is the
// JSON that the tool returns as text.
func Prompt(a PromptArguments, session string) (dialect.Translation, error) {
	c := call{session: session, toolUse: a.ToolUseID, tool: a.ToolName, input: a.Input, edit: true}
	r, err := c.request()
	if err != nil {
		return dialect.Translation{}, err
	}
	return dialect.One(r, dialect.CallID("claude prompt", a.ToolUseID), func(rec bridge.Record) (any, error) {
		v, err := c.verdict(rec)
		return v.result(), err
	}), nil
}

// Notifications of a channel that relays permission dialogs.
const (
	ChannelCapability           = "claude/channel"
	ChannelPermissionCapability = "claude/channel/permission"
	ChannelRequestMethod        = "notifications/claude/channel/permission_request"
	ChannelVerdictMethod        = "notifications/claude/channel/permission"
)

// ChannelRequest is the notification that Claude Code sends to a channel that
// may answer.
type ChannelRequest struct {
	ID          string `json:"request_id"`
	Tool        string `json:"tool_name"`
	Description string `json:"description"`
	Preview     string `json:"input_preview"`
}

// ChannelVerdict is the channel's answer. It has no scope, no reason and no
// edited input.
type ChannelVerdict struct {
	ID       string `json:"request_id"`
	Behavior string `json:"behavior"` // allow or deny
}

// channelID matches five letters without l, which looks like a 1.
var channelID = lazyregexp.New(`^[a-km-z]{5}$`)

// elided is the text with which Claude Code replaces the omitted part of a
// preview.
const elided = "code points elided ⋯"

// Channel translates a channel's request. Its answer is a ChannelVerdict, or a
// *bridge.EndedError if no one decided. In the latter case, the channel does
// not answer, and the dialog stays open at the terminal.
func Channel(q ChannelRequest, session string) (dialect.Translation, error) {
	if !channelID.MatchString(q.ID) {
		return dialect.Translation{}, bridge.Errorf(bridge.CodeInvalid, "request_id: %q must be five letters", q.ID)
	}
	prompt := "Claude Code wants to use **" + q.Tool + "**"
	if q.Description != "" {
		prompt += "\n\n" + q.Description
	}
	if !json.Valid([]byte(q.Preview)) || strings.Contains(q.Preview, elided) {
		return dialect.Translation{}, bridge.
			Errorf(bridge.CodeUnsupported, "input_preview: shortened, and people cannot approve what they do not see in full").
			WithHint("answer at the terminal, or use the hooks, which receive the complete input")
	}
	r := bridge.Request{Ask: bridge.Ask{
		Kind: bridge.KindApproval, Prompt: prompt, Session: session, ToolName: q.Tool,
		Approval: &bridge.Approval{Tool: q.Tool, Input: json.RawMessage(q.Preview), Decisions: []bridge.Decision{bridge.DecideDeny, bridge.DecideOnce}},
	}, Contested: true}
	return dialect.One(r, dialect.CallID("claude channel", q.ID), func(rec bridge.Record) (any, error) {
		switch rec.State {
		case bridge.StateApproved:
			return ChannelVerdict{q.ID, "allow"}, nil
		case bridge.StateDenied:
			return ChannelVerdict{q.ID, "deny"}, nil
		}
		return nil, &bridge.EndedError{Record: rec}
	}), nil
}
