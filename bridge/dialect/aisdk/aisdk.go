// Package aisdk translates the tool approvals of the Vercel AI SDK.
package aisdk

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

type request struct {
	Type   string `json:"type"`
	ID     string `json:"approvalId"`
	Reason string `json:"reason"` // why the call needs approval
	// Automatic means that the application has decided. A response would run
	// the call again.
	Automatic bool `json:"isAutomatic"`
	ToolCall  struct {
		ID    string          `json:"toolCallId"`
		Name  string          `json:"toolName"`
		Input json.RawMessage `json:"input"`
	} `json:"toolCall"`
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

// requestType is the type of the parts that request approval. Other parts are
// ignored.
const requestType = "tool-approval-request"

// MaxRequests limits the requests in one message.
const MaxRequests = 50

// Approvals translates a tool-approval-request part, or the content of a
// message that contains such parts. Its answer is the tool message to append. It
// has no response to a part that the application has decided itself.
// People cannot edit the input, because the SDK cannot receive an edited one.
func Approvals(raw []byte) (dialect.Translation, error) {
	raw = bytes.TrimSpace(raw)
	if bytes.HasPrefix(raw, []byte("{")) {
		raw = append(append([]byte("["), raw...), ']')
	}
	var parts []request
	if err := dialect.Decode("content", raw, &parts); err != nil {
		return dialect.Translation{}, err
	}
	t := dialect.Translation{Join: func(all []any) (any, error) { return message{"tool", all}, nil }}
	found := 0
	for n, p := range parts {
		if p.Type != requestType {
			continue
		}
		if found++; p.Automatic {
			continue
		}
		at := "content[" + strconv.Itoa(n) + "]"
		if p.ID == "" || p.ToolCall.Name == "" {
			return dialect.Translation{}, bridge.Errorf(bridge.CodeInvalid, "%s: approvalId and toolCall.toolName are required", at)
		}
		r := bridge.Request{Ask: bridge.Ask{
			Kind: bridge.KindApproval, Prompt: p.prompt(), ToolName: p.ToolCall.Name, ToolCall: p.ToolCall.ID,
			Approval: &bridge.Approval{Tool: p.ToolCall.Name, Input: p.ToolCall.Input, Decisions: []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyReason, bridge.DecideOnce}},
		}}
		r.CallID.ID = dialect.CallID("ai sdk", p.ID)
		t.Exchanges = append(t.Exchanges, dialect.Exchange{Request: r, Encode: func(rec bridge.Record) (any, error) {
			out := response{Type: "tool-approval-response", ID: p.ID, Approved: rec.State == bridge.StateApproved}
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

func (p request) prompt() string {
	s := "The agent wants to use **" + p.ToolCall.Name + "**"
	if p.Reason != "" {
		s += "\n\n" + p.Reason
	}
	return s
}
