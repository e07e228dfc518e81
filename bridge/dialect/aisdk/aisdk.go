// Package aisdk translates the tool approvals of the Vercel AI SDK.
package aisdk

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// part is a part of a message: a request, its call, or an earlier answer.
type part struct {
	Type   string `json:"type"`
	ID     string `json:"approvalId"`
	Reason string `json:"reason"` // reason why the call needs approval
	// Automatic means that the application has already decided. A response
	// would run the call again.
	Automatic bool `json:"isAutomatic"`
	// A request in a result contains the call. A request in a message contains
	// only its ID.
	ToolCall *call `json:"toolCall"`
	call
}

// call is a call of a tool.
type call struct {
	ID    string          `json:"toolCallId"`
	Name  string          `json:"toolName"`
	Input json.RawMessage `json:"input"`
}

// response is a part of the tool message with the answers.
type response struct {
	Type     string `json:"type"`
	ID       string `json:"approvalId"`
	Approved bool   `json:"approved"`
	Reason   string `json:"reason,omitempty"`
}

type message struct {
	Role    string `json:"role"`
	Content []any  `json:"content"`
}

// Types of parts. Others are ignored.
const (
	requestType  = "tool-approval-request"
	responseType = "tool-approval-response"
	callType     = "tool-call"
	resultType   = "tool-result"
	errorType    = "tool-error"
)

// MaxRequests limits the requests in one message.
const MaxRequests = 50

// Approvals translates a tool-approval-request part, or the content of a result
// or a message that contains such parts. Its answer is the tool message to
// append. It skips requests that the application has decided itself, or that
// the content already answers, because a second response would run the call
// again. People cannot edit the input, because the SDK cannot receive an edited
// one.
func Approvals(raw []byte) (dialect.Translation, error) {
	raw = bytes.TrimSpace(raw)
	if bytes.HasPrefix(raw, []byte("{")) {
		raw = append(append([]byte("["), raw...), ']')
	}
	var parts []part
	if err := dialect.Decode("content", raw, &parts); err != nil {
		return dialect.Translation{}, err
	}
	t := dialect.Translation{Join: func(all []any) (any, error) { return message{"tool", all}, nil }}
	found := 0
	for n, p := range parts {
		if p.Type != requestType {
			continue
		}
		c := p.about(parts)
		if found++; p.Automatic || p.settled(c, parts) {
			continue
		}
		if again := p.ambiguous(c, parts); again != "" {
			return dialect.Translation{}, bridge.Errorf(bridge.CodeInvalid, "content[%d]: two parts have the %s, so the answer could be used for the other one", n, again).
				WithHint("send the content of one message")
		}
		if p.ID == "" || c.Name == "" {
			return dialect.Translation{}, bridge.Errorf(bridge.CodeInvalid, "content[%d]: approvalId and toolCall.toolName are required", n).
				WithHint("a request with toolCallId instead needs its tool-call part in the same content")
		}
		r := bridge.Request{Ask: bridge.Ask{
			Kind: bridge.KindApproval, Prompt: p.prompt(c), ToolName: c.Name, ToolCall: c.ID,
			Approval: &bridge.Approval{Tool: c.Name, Input: c.Input, Decisions: []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyReason, bridge.DecideOnce}},
		}}
		r.CallID.ID = dialect.CallID("ai sdk", p.ID)
		t.Exchanges = append(t.Exchanges, dialect.Exchange{Request: r, Encode: func(rec bridge.Record) (any, error) {
			out := response{Type: responseType, ID: p.ID, Approved: rec.State == bridge.StateApproved}
			if !out.Approved {
				out.Reason = dialect.WhyNot(rec)
			}
			return out, nil
		}})
	}
	if found == 0 || len(t.Exchanges) > MaxRequests {
		return dialect.Translation{}, bridge.Errorf(bridge.CodeInvalid, "content: %d parts of type %s (1 to %d)", found, requestType, MaxRequests)
	}
	t.Answer = message{"tool", []any{}}
	return t, nil
}

// about returns the call of a request.
func (p part) about(parts []part) call {
	if p.ToolCall != nil {
		return *p.ToolCall
	}
	for _, o := range parts {
		if o.Type == callType && o.call.ID == p.call.ID && p.call.ID != "" {
			return o.call
		}
	}
	return call{}
}

// settled reports whether the content has a response to a request, or a result
// of its call.
func (p part) settled(c call, parts []part) bool {
	return slices.ContainsFunc(parts, func(o part) bool {
		switch o.Type {
		case responseType:
			return o.ID == p.ID
		case resultType, errorType:
			return o.call.ID == c.ID && c.ID != ""
		}
		return false
	})
}

// ambiguous returns an ID that refers to several requests or calls, or "". The
// SDK uses the last part with an ID, which may not be the call that people see.
func (p part) ambiguous(c call, parts []part) string {
	same, calls := 0, false
	for _, o := range parts {
		if o.Type == requestType && o.ID == p.ID {
			same++
		}
		calls = calls || o.Type == callType && c.ID != "" && o.call.ID == c.ID && (o.Name != c.Name || !dialect.SameJSON(o.Input, c.Input))
	}
	switch {
	case same > 1:
		return "approvalId " + strconv.Quote(p.ID)
	case calls:
		return "toolCallId " + strconv.Quote(c.ID)
	}
	return ""
}

func (p part) prompt(c call) string {
	s := "The agent wants to use **" + c.Name + "**"
	if p.Reason != "" {
		s += "\n\n" + p.Reason
	}
	return s
}
