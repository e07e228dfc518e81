// Package acp translates the Agent Client Protocol: the requests of an agent to
// its client that people have to answer.
package acp

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/elicitation"
)

// Methods are the requests of an agent that people answer.
var Methods = []string{"session/request_permission", "elicitation/create"}

// Call is a request of an agent. ToolCall holds the details of the tool call
// from earlier updates of the session, because the request may contain only its
// ID.
type Call struct {
	ID       json.RawMessage `json:"id"`
	Method   string          `json:"method"`
	Params   json.RawMessage `json:"params"`
	ToolCall json.RawMessage `json:"toolCall,omitempty"`
}

// Kinds of options. Only the kinds are portable, because each agent chooses its
// own IDs.
const (
	allowOnce    = "allow_once"
	allowAlways  = "allow_always"
	rejectOnce   = "reject_once"
	rejectAlways = "reject_always"
)

type option struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

type toolCall struct {
	ID       string            `json:"toolCallId"`
	Title    string            `json:"title"`
	Kind     string            `json:"kind"`
	RawInput json.RawMessage   `json:"rawInput"`
	Content  []json.RawMessage `json:"content"`
}

type permissionParams struct {
	Session  string   `json:"sessionId"`
	ToolCall toolCall `json:"toolCall"`
	Options  []option `json:"options"`
	// Fields of the second version.
	Title       string `json:"title"`
	Description string `json:"description"`
	Subject     struct {
		Type     string   `json:"type"`
		ToolCall toolCall `json:"toolCall"`
		Command  string   `json:"command"`
		Cwd      string   `json:"cwd"`
	} `json:"subject"`
}

type outcome struct {
	Outcome struct {
		Outcome string `json:"outcome"`
		Option  string `json:"optionId,omitempty"`
	} `json:"outcome"`
}

func selected(id string) outcome {
	var o outcome
	o.Outcome.Outcome, o.Outcome.Option = "selected", id
	return o
}

// Cancelled returns the result of a permission request whose turn was
// cancelled.
func Cancelled() any {
	var o outcome
	o.Outcome.Outcome = "cancelled"
	return o
}

// Gone returns the result of a request whose client has disconnected. It
// approves nothing and fills in nothing.
func Gone(method string) any {
	if method == "session/request_permission" {
		return Cancelled()
	}
	return elicitation.Result{Action: elicitation.Cancel}
}

// Request translates a request of an agent. Its answer is the result to send
// back with the same ID.
func Request(raw []byte) (dialect.Translation, error) {
	var c Call
	if err := dialect.Decode("request", raw, &c); err != nil {
		return dialect.Translation{}, err
	}
	switch c.Method {
	case "session/request_permission":
		return c.permission()
	case "elicitation/create":
		return c.elicitation()
	}
	return dialect.Translation{}, bridge.Errorf(bridge.CodeUnsupported, "method: %q is not a request that people answer", c.Method).WithHint("use one of %s", strings.Join(Methods, ", "))
}

func (c Call) elicitation() (dialect.Translation, error) {
	var p struct {
		elicitation.Params
		Session  string `json:"sessionId"`
		ToolCall string `json:"toolCallId"`
	}
	if err := dialect.Decode("params", c.Params, &p); err != nil {
		return dialect.Translation{}, err
	}
	r, err := elicitation.Request(p.Params, "")
	if err != nil {
		return dialect.Translation{}, err
	}
	r.Session, r.ToolCall = p.Session, p.ToolCall
	return dialect.One(r, "", func(rec bridge.Record) (any, error) { return elicitation.Answer(rec), nil }), nil
}

// tool merges the details of the tool call. Those in the request take
// precedence.
func (c Call) tool(p permissionParams) (toolCall, error) {
	t := toolCall{}
	if len(c.ToolCall) > 0 {
		if err := dialect.Decode("toolCall", c.ToolCall, &t); err != nil {
			return t, err
		}
	}
	for _, newer := range []toolCall{p.ToolCall, p.Subject.ToolCall} {
		if newer.ID != "" {
			t.ID = newer.ID
		}
		if newer.Title != "" {
			t.Title = newer.Title
		}
		if newer.Kind != "" {
			t.Kind = newer.Kind
		}
		if len(newer.RawInput) > 0 {
			t.RawInput = newer.RawInput
		}
		if len(newer.Content) > 0 {
			t.Content = newer.Content
		}
	}
	return t, nil
}

// input returns the part of the tool call that people see: its input, or
// otherwise the changes that it would make.
func (t toolCall) input(p permissionParams) (json.RawMessage, error) {
	switch {
	case p.Subject.Command != "":
		return dialect.Encode(map[string]string{"command": p.Subject.Command, "cwd": p.Subject.Cwd})
	case len(t.RawInput) > 0 && string(t.RawInput) != "null":
		return t.RawInput, nil
	case len(t.Content) > 0:
		return dialect.Encode(t.Content)
	}
	return nil, nil
}

func (c Call) permission() (dialect.Translation, error) {
	var p permissionParams
	if err := dialect.Decode("params", c.Params, &p); err != nil {
		return dialect.Translation{}, err
	}
	t, err := c.tool(p)
	if err != nil {
		return dialect.Translation{}, err
	}
	title := t.Title
	if p.Title != "" {
		title = p.Title
	}
	if title == "" {
		title = "Tool call " + t.ID
	}
	prompt := "**" + title + "**"
	if p.Description != "" {
		prompt += "\n\n" + p.Description
	}
	input, err := t.input(p)
	if err != nil {
		return dialect.Translation{}, err
	}
	tool := t.Kind
	if tool == "" {
		tool = "tool"
	}
	a := &bridge.Approval{Tool: tool, Input: input, AgentRemembers: true, ScopeNotes: map[bridge.Scope]string{}}
	first := map[string]option{}
	for _, o := range p.Options {
		if _, seen := first[o.Kind]; !seen {
			first[o.Kind] = o
		}
	}
	for _, k := range []struct {
		kind string
		bridge.Decision
	}{{rejectOnce, bridge.DecideDeny}, {rejectAlways, bridge.DecideDenyAlways}, {allowOnce, bridge.DecideOnce}, {allowAlways, bridge.DecideAlways}} {
		if o, ok := first[k.kind]; ok {
			a.Decisions = append(a.Decisions, k.Decision)
			if k.Approves() && o.Name != "" {
				a.ScopeNotes[bridge.Scope(k.Decision)] = o.Name
			}
		}
	}
	if !slices.ContainsFunc(a.Decisions, bridge.Decision.Approves) {
		return dialect.Translation{}, bridge.Errorf(bridge.CodeInvalid, "options: no option allows the call").WithHint("add an option of kind allow_once or allow_always")
	}
	r := bridge.Request{Ask: bridge.Ask{
		Kind: bridge.KindApproval, Prompt: prompt, Session: p.Session, ToolCall: t.ID, ToolName: tool, Approval: a,
	}}
	key := ""
	if t.ID != "" {
		key = "acp:" + p.Session + ":" + t.ID + ":" + string(c.ID)
	}
	return dialect.One(r, key, func(rec bridge.Record) (any, error) { return answer(rec, first), nil }), nil
}

// answer selects the option for a decision. If no one decided, it rejects the
// call instead of cancelling it, because a cancellation means that the person
// ended the turn.
func answer(rec bridge.Record, first map[string]option) any {
	kinds := []string{rejectOnce, rejectAlways}
	switch {
	case rec.State == bridge.StateApproved && rec.Response.Scope == bridge.ScopeAlways:
		kinds = []string{allowAlways, allowOnce} // a smaller scope than approved is safe
	case rec.State == bridge.StateApproved:
		kinds = []string{allowOnce}
	case rec.State == bridge.StateDenied && rec.Response.Scope == bridge.ScopeAlways:
		kinds = []string{rejectAlways}
	case rec.State == bridge.StateCancelled:
		return Cancelled()
	case rec.State != bridge.StateDenied:
		kinds = []string{rejectOnce}
	}
	for _, k := range kinds {
		if o, ok := first[k]; ok {
			return selected(o.ID)
		}
	}
	return Cancelled()
}
