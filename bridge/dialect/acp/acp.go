// Package acp translates the Agent Client Protocol: the requests of an agent to
// its client that people must answer.
package acp

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/elicitation"
)

// Methods lists the requests of an agent that people answer.
var Methods = []string{"session/request_permission", "elicitation/create"}

// Call is a request of an agent. ToolCall holds the details of the tool call
// from earlier updates of the session, because the request may contain only its
// ID.
type Call struct {
	ID       json.RawMessage `json:"id"`
	Method   string          `json:"method"`
	Params   json.RawMessage `json:"params"`
	ToolCall json.RawMessage `json:"toolCall,omitempty"`
	// Cwd is the directory of the session. A call runs there unless it names
	// another directory.
	Cwd string `json:"cwd,omitempty"`
}

// Kinds of options. Only the kinds are portable, because each agent chooses its
// own IDs.
const (
	allowOnce    = "allow_once"
	allowAlways  = "allow_always"
	rejectOnce   = "reject_once"
	rejectAlways = "reject_always"
)

// kinds maps the kinds of options to decisions.
var kinds = map[string]bridge.Decision{
	rejectOnce: bridge.DecideDeny, rejectAlways: bridge.DecideDenyAlways, allowOnce: bridge.DecideOnce, allowAlways: bridge.DecideAlways,
}

// maxOptions is the maximum number of options of one kind.
const maxOptions = 9

type option struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

type permissionParams struct {
	Session  string          `json:"sessionId"`
	ToolCall json.RawMessage `json:"toolCall"`
	Options  []option        `json:"options"`
	// Fields of the second version.
	Title       string `json:"title"`
	Description string `json:"description"`
	Subject     struct {
		ToolCall json.RawMessage `json:"toolCall"`
		Command  string          `json:"command"`
		Cwd      string          `json:"cwd"`
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
	return dialect.One(r, dialect.CallID("acp form", string(c.ID), p.ToolCall), func(rec bridge.Record) (any, error) { return elicitation.Answer(rec) }), nil
}

// details returns the details of the tool call. The details in the request are
// newer than those in earlier updates.
func (c Call) details(p permissionParams) (details, error) {
	var d details
	for _, told := range []struct {
		name string
		raw  json.RawMessage
	}{{"toolCall", c.ToolCall}, {"params.toolCall", p.ToolCall}, {"params.subject.toolCall", p.Subject.ToolCall}} {
		if len(told.raw) == 0 {
			continue
		}
		var newer details
		if err := dialect.Decode(told.name, told.raw, &newer); err != nil {
			return d, err
		}
		d = d.update(newer)
	}
	if p.Subject.Command != "" {
		raw, err := dialect.Encode(map[string]string{"command": p.Subject.Command})
		if err != nil {
			return d, err
		}
		d = d.update(details{RawInput: raw})
	}
	return d, nil
}

func (c Call) permission() (dialect.Translation, error) {
	var p permissionParams
	if err := dialect.Decode("params", c.Params, &p); err != nil {
		return dialect.Translation{}, err
	}
	d, err := c.details(p)
	if err != nil {
		return dialect.Translation{}, err
	}
	w, err := d.work(p)
	if err != nil {
		return dialect.Translation{}, err
	}
	a := &bridge.Approval{Tool: w.tool, Input: w.input, Where: cmp.Or(w.where, c.Cwd), AgentRemembers: true, ScopeNotes: map[bridge.Scope]string{}}
	offered := map[string][]option{}
	for n, o := range p.Options {
		same := func(other option) bool { return other.ID == o.ID }
		if o.ID == "" || slices.ContainsFunc(p.Options[:n], same) { // an answer could mean another option
			return dialect.Translation{}, bridge.Errorf(bridge.CodeUnsupported, "options[%d].optionId: %q is empty or the ID of another option", n, o.ID).
				WithHint("answer it in the editor")
		}
		if kinds[o.Kind] == "" {
			continue
		}
		if offered[o.Kind] = append(offered[o.Kind], o); len(offered[o.Kind]) > maxOptions {
			return dialect.Translation{}, bridge.Errorf(bridge.CodeUnsupported, "options[%d]: more than %d options of kind %s", n, maxOptions, o.Kind)
		}
		d := kinds[o.Kind].Variant(len(offered[o.Kind]))
		a.Decisions = append(a.Decisions, d)
		if o.Name != "" {
			a.ScopeNotes[bridge.Scope(d)] = o.Name
		}
	}
	if !slices.ContainsFunc(a.Decisions, bridge.Decision.Approves) {
		return dialect.Translation{}, bridge.Errorf(bridge.CodeInvalid, "options: no option allows the call").WithHint("add an option of kind allow_once or allow_always")
	}
	if !slices.ContainsFunc(a.Decisions, func(d bridge.Decision) bool { return !d.Approves() }) {
		a.Decisions = append(a.Decisions, bridge.DecideDeny) // people can always refuse: the agent gets "cancelled"
	}
	r := bridge.Request{Ask: bridge.Ask{
		Kind: bridge.KindApproval, Prompt: w.prompt, Session: p.Session, ToolCall: d.ID, ToolName: w.tool, Approval: a,
	}}
	return dialect.One(r, dialect.CallID("acp", d.ID, string(c.ID)), func(rec bridge.Record) (any, error) { return answer(rec, offered) }), nil
}

// answer selects the option for a decision. If no one decided, its error is a
// *bridge.EndedError. The protocol has no result for that: each option means
// that a person chose it, and a cancellation means that a person ended the
// turn.
func answer(rec bridge.Record, offered map[string][]option) (any, error) {
	var words []string
	number, always := 1, false
	if rec.Response != nil {
		number, always = rec.Response.Scope.Number(), rec.Response.Scope.Kind() == bridge.ScopeAlways
	}
	switch {
	case rec.State == bridge.StateApproved && always:
		words = []string{allowAlways, allowOnce} // the agent may use a smaller scope than the person approved
	case rec.State == bridge.StateApproved:
		words = []string{allowOnce}
	case rec.State == bridge.StateDenied && always:
		words = []string{rejectAlways}
	case rec.State == bridge.StateDenied:
		words = []string{rejectOnce, rejectAlways}
	case rec.State != bridge.StateCancelled || rec.Response.WithdrawnBy == nil && !rec.Response.Stops():
		return nil, &bridge.EndedError{Record: rec}
	}
	for _, w := range words {
		if number <= len(offered[w]) {
			return selected(offered[w][number-1].ID), nil
		}
		number = 1
	}
	return Cancelled(), nil
}
