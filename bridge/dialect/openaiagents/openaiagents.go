// Package openaiagents translates the interruptions of the OpenAI Agents SDK.
// The SDK defines functions but no wire format for decisions, so nod's answer
// contains the arguments for approve and reject of its run state.
package openaiagents

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// item is a tool_approval_item in the encoding of the SDKs. Python uses snake
// case.
type item struct {
	Raw   object `json:"rawItem"`
	RawPy object `json:"raw_item"`
	Agent struct {
		Name string `json:"name"`
	} `json:"agent"`
	Tool   string `json:"toolName"`
	ToolPy string `json:"tool_name"`
}

// object is a JSON object that keeps the exact encoding of its values.
type object = map[string]json.RawMessage

// call holds the call that an item asks about.
type call struct {
	id, name, server string
	input            json.RawMessage
}

// ownMembers lists the members of a raw item that do not describe the call
// itself.
var ownMembers = []string{"type", "id", "callId", "call_id", "status", "name", "arguments", "namespace", "caller", "providerData", "provider_data", "server_label"}

// callOf reads a raw item: a call of a function, of a tool of a hosted MCP
// server, of the shell, or of another built-in tool. The members of a built-in
// tool's item describe the call.
func callOf(item object) (call, error) {
	c := call{id: text(item, "callId", "call_id", "id"), name: text(item, "name"), server: text(item, "server_label")}
	arguments := text(item, "arguments")
	var hosted object
	if raw := item["providerData"]; len(raw) > 0 && dialect.Decode("providerData", raw, &hosted) == nil && text(hosted, "server_label", "serverLabel") != "" {
		c.server = text(hosted, "server_label", "serverLabel")
		if c.name == "" || c.name == hostedType {
			c.name = text(hosted, "name")
		}
		if arguments == "" {
			arguments = text(hosted, "arguments")
		}
	}
	if arguments != "" {
		var err error
		if c.input = json.RawMessage(arguments); !json.Valid(c.input) {
			c.input, err = dialect.Encode(arguments)
		}
		return c, err
	}
	rest := maps.Clone(item)
	maps.DeleteFunc(rest, func(name string, _ json.RawMessage) bool { return slices.Contains(ownMembers, name) })
	for _, only := range []string{"action", "operation"} {
		var inner object
		if raw := rest[only]; len(rest) == 1 && len(raw) > 0 && raw[0] == '{' && dialect.Decode(only, raw, &inner) == nil {
			rest = inner
		}
	}
	var commands []string
	if raw := rest["commands"]; len(raw) > 0 && dialect.Decode("commands", raw, &commands) == nil && len(commands) == 1 && rest["command"] == nil {
		command, err := dialect.Encode(commands[0])
		if err != nil {
			return c, err
		}
		delete(rest, "commands")
		rest["command"] = command
	}
	if len(rest) == 0 {
		return c, nil
	}
	var err error
	c.input, err = dialect.Encode(rest)
	return c, err
}

// hostedType is the type of a request of a hosted MCP server.
const hostedType = "mcp_approval_request"

// text returns the first of the named members that is a string.
func text(o object, names ...string) string {
	for _, name := range names {
		var s string
		if raw := o[name]; len(raw) > 0 && raw[0] == '"' && dialect.Decode(name, raw, &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

// Decision is the decision on one item. Always stands for alwaysApprove or
// alwaysReject, which apply to the complete run.
type Decision struct {
	CallID   string `json:"callId"`
	Approved bool   `json:"approved"`
	Always   bool   `json:"always"`
	Message  string `json:"message,omitempty"` // message of a rejection
}

// MaxItems limits the interruptions in one run.
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
	if len(raw) == 0 {
		raw = it.RawPy
	}
	c, err := callOf(raw)
	if err != nil {
		return bridge.Request{}, "", err
	}
	if name := it.Tool + it.ToolPy; name != "" && name != hostedType {
		c.name = name // the name includes its namespace
	}
	if kind, built := strings.CutSuffix(text(raw, "type"), "_call"); c.name == "" && built {
		c.name = kind // a built-in tool such as shell
	}
	if c.name == "" {
		return bridge.Request{}, "", bridge.Errorf(bridge.CodeInvalid, "%s.rawItem.name: required", at)
	}
	who := it.Agent.Name
	if who == "" {
		who = "The agent"
	}
	prompt := who + " wants to use **" + c.name + "**"
	if c.server != "" {
		prompt += " of the MCP server " + dialect.Code(c.server)
	}
	return bridge.Request{Ask: bridge.Ask{
		Kind: bridge.KindApproval, Prompt: prompt, ToolName: c.name, ToolCall: c.id,
		Approval: &bridge.Approval{Tool: c.name, Input: c.input, AgentRemembers: true, ScopeNotes: map[bridge.Scope]string{bridge.ScopeSession: "every use of " + c.name + " in this run"},
			Decisions: []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyReason, bridge.DecideDenyAlways, bridge.DecideOnce, bridge.DecideSession}},
	}}, c.id, nil
}
