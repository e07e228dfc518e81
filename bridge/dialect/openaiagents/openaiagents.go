// Package openaiagents translates the interruptions of the OpenAI Agents SDK.
// The SDK defines functions but no wire format for decisions, so nod's answer
// contains the arguments for approve and reject of its run state.
package openaiagents

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// item is a tool_approval_item as the SDKs encode it. Python uses snake case.
type item struct {
	Raw   rawItem `json:"rawItem"`
	RawPy rawItem `json:"raw_item"`
	Agent struct {
		Name string `json:"name"`
	} `json:"agent"`
	Tool   string `json:"toolName"`
	ToolPy string `json:"tool_name"`
}

type rawItem struct {
	Name      string `json:"name"`
	Call      string `json:"callId"`
	CallPy    string `json:"call_id"`
	ID        string `json:"id"`
	Arguments string `json:"arguments"` // JSON in a string
}

// Decision is the decision on one item. Always means alwaysApprove or
// alwaysReject, which apply to the whole run.
type Decision struct {
	CallID   string `json:"callId"`
	Approved bool   `json:"approved"`
	Always   bool   `json:"always"`
	Message  string `json:"message,omitempty"` // message of a rejection
}

// MaxItems limits the interruptions of one run.
const MaxItems = 50

// Interruptions translates one item or a list of items. Its answer is a list of
// decisions in the same order. People cannot edit the input, because the SDKs
// cannot receive an edited one.
func Interruptions(raw []byte) (dialect.Translation, error) {
	raw = bytes.TrimSpace(raw)
	if bytes.HasPrefix(raw, []byte("{")) {
		raw = append(append([]byte("["), raw...), ']')
	}
	var items []item
	if err := dialect.Decode("interruptions", raw, &items); err != nil {
		return dialect.Translation{}, err
	}
	if len(items) == 0 || len(items) > MaxItems {
		return dialect.Translation{}, bridge.Errorf(bridge.CodeInvalid, "interruptions: %d items (1 to %d)", len(items), MaxItems)
	}
	t := dialect.Translation{Join: func(all []any) (any, error) { return all, nil }}
	for n, it := range items {
		r, call, err := it.request("interruptions[" + strconv.Itoa(n) + "]")
		if err != nil {
			return dialect.Translation{}, err
		}
		r.CallID.ID = dialect.CallID("openai agents", call)
		t.Exchanges = append(t.Exchanges, dialect.Exchange{Request: r, Encode: func(rec bridge.Record) (any, error) {
			d := Decision{CallID: call}
			if rec.State == bridge.StateApproved {
				d.Approved, d.Always = true, rec.Response.Scope != bridge.ScopeOnce
				return d, nil
			}
			d.Message = dialect.WhyNot(rec)
			d.Always = rec.State == bridge.StateDenied && rec.Response.Scope == bridge.ScopeAlways
			return d, nil
		}})
	}
	return t, nil
}

func (it item) request(at string) (bridge.Request, string, error) {
	raw := it.Raw
	if raw.Name == "" {
		raw = it.RawPy
	}
	name, call := it.Tool+it.ToolPy, raw.Call+raw.CallPy
	if name == "" {
		name = raw.Name
	}
	if call == "" {
		call = raw.ID
	}
	if name == "" {
		return bridge.Request{}, "", bridge.Errorf(bridge.CodeInvalid, "%s.rawItem.name: required", at)
	}
	input := json.RawMessage(raw.Arguments)
	if !json.Valid(input) {
		var err error
		if input, err = dialect.Encode(raw.Arguments); err != nil {
			return bridge.Request{}, "", err
		}
	}
	who := it.Agent.Name
	if who == "" {
		who = "The agent"
	}
	return bridge.Request{Ask: bridge.Ask{
		Kind: bridge.KindApproval, Prompt: who + " wants to use **" + name + "**", ToolName: name, ToolCall: call,
		Approval: &bridge.Approval{Tool: name, Input: input, AgentRemembers: true, ScopeNotes: map[bridge.Scope]string{bridge.ScopeSession: "every use of " + name + " in this run"},
			Decisions: []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyReason, bridge.DecideDenyAlways, bridge.DecideOnce, bridge.DecideSession}},
	}}, call, nil
}
