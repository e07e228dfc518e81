// Package langchain translates LangChain's human-in-the-loop middleware, in the
// spellings of Python and JavaScript, and the older Agent Inbox.
package langchain

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

type action struct {
	Name        string          `json:"name"`
	Args        json.RawMessage `json:"args"`
	Arguments   json.RawMessage `json:"arguments"` // used by early releases
	Description string          `json:"description"`
}

func (a action) args() json.RawMessage {
	if len(a.Args) > 0 {
		return a.Args
	}
	return a.Arguments
}

type review struct {
	Name      string   `json:"action_name"`
	Allowed   []string `json:"allowed_decisions"`
	NameJS    string   `json:"actionName"`
	AllowedJS []string `json:"allowedDecisions"`
}

func (r review) of(name string) bool { return r.Name == name || r.NameJS == name }

func (r review) allowed() []string { return append(slices.Clone(r.Allowed), r.AllowedJS...) }

// interrupt is the value of an interrupt of the middleware.
type interrupt struct {
	Actions   []action `json:"action_requests"`
	Reviews   []review `json:"review_configs"`
	ActionsJS []action `json:"actionRequests"`
	ReviewsJS []review `json:"reviewConfigs"`
}

// Decisions of the middleware.
const (
	approve = "approve"
	edit    = "edit"
	reject  = "reject"
	respond = "respond" // the text becomes the result of the call, which does not run
)

var decisions = []string{approve, edit, reject, respond}

type edited struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// decision is a decision on an action. Edited and EditedJS are the same field
// in the two spellings.
type decision struct {
	Type     string  `json:"type"`
	Edited   *edited `json:"edited_action,omitempty"`
	EditedJS *edited `json:"editedAction,omitempty"`
	Message  string  `json:"message,omitempty"`
}

// MaxActions limits the actions in one interrupt.
const MaxActions = 50

// HITL translates the value of an interrupt. Each action becomes a request. The
// answer is the value to resume with, with the decisions in the order of the
// actions.
func HITL(raw []byte) (dialect.Translation, error) {
	var in interrupt
	if err := dialect.Decode("interrupt", raw, &in); err != nil {
		return dialect.Translation{}, err
	}
	js := len(in.ActionsJS) > 0
	actions, reviews, name := in.Actions, in.Reviews, "action_requests"
	if js {
		actions, reviews, name = in.ActionsJS, in.ReviewsJS, "actionRequests"
	}
	if len(actions) == 0 || len(actions) > MaxActions {
		return dialect.Translation{}, bridge.Errorf(bridge.CodeInvalid, "%s: %d actions (1 to %d)", name, len(actions), MaxActions)
	}
	t := dialect.Translation{Join: func(all []any) (any, error) {
		return struct {
			Decisions []any `json:"decisions"`
		}{all}, nil
	}}
	for n, a := range actions {
		at := name + "[" + strconv.Itoa(n) + "]"
		allowed := []string{approve, edit, reject}
		if k := slices.IndexFunc(reviews, func(r review) bool { return r.of(a.Name) }); k >= 0 {
			allowed = reviews[k].allowed()
		}
		r, err := a.request(at, allowed)
		if err != nil {
			return dialect.Translation{}, err
		}
		t.Exchanges = append(t.Exchanges, dialect.Exchange{Request: r, Encode: func(rec bridge.Record) (any, error) { return a.decision(rec, js, allowed) }})
	}
	return t, nil
}

func (a action) request(at string, allowed []string) (bridge.Request, error) {
	prompt := a.said()
	if strings.TrimSpace(prompt) == "" {
		prompt = "The agent wants to use **" + a.Name + "**"
	}
	if a.Name == "" {
		return bridge.Request{}, bridge.Errorf(bridge.CodeInvalid, "%s.name: required", at)
	}
	if !slices.ContainsFunc(allowed, func(d string) bool { return slices.Contains(decisions, d) }) {
		return bridge.Request{}, bridge.Errorf(bridge.CodeUnsupported, "%s: no known decision in %q", at, allowed).
			WithHint("use at least one of %s", strings.Join(decisions, ", "))
	}
	if !slices.Contains(allowed, approve) && !slices.Contains(allowed, edit) && slices.Contains(allowed, respond) {
		return a.question(prompt, allowed), nil
	}
	p := &bridge.Approval{Tool: a.Name, Input: a.args()}
	for _, d := range []struct {
		word string
		bridge.Decision
	}{{approve, bridge.DecideOnce}, {edit, bridge.DecideEdit}, {reject, bridge.DecideDeny}, {reject, bridge.DecideDenyReason}, {respond, bridge.DecideRespond}} {
		if slices.Contains(allowed, d.word) && !slices.Contains(p.Decisions, d.Decision) {
			p.Decisions = append(p.Decisions, d.Decision)
		}
	}
	return bridge.Request{Ask: bridge.Ask{
		Kind: bridge.KindApproval, Prompt: prompt, ToolName: a.Name, Approval: p,
	}}, nil
}

// decision returns the decision for a closed request. The middleware has no
// decision for a request that no one decided, so this case is a rejection with
// an explanation.
func (a action) decision(r bridge.Record, js bool, allowed []string) (any, error) {
	if r.State == bridge.StateApproved {
		if len(r.Response.Input) == 0 {
			return decision{Type: approve}, nil
		}
		e := &edited{Name: a.Name, Args: r.Response.Input}
		if js {
			return decision{Type: edit, EditedJS: e}, nil
		}
		return decision{Type: edit, Edited: e}, nil
	}
	switch {
	case r.State == bridge.StateAnswered:
		return decision{Type: respond, Message: r.Response.Answers[reply].Text}, nil
	case r.State == bridge.StateDenied && r.Response.Respond:
		return decision{Type: respond, Message: r.Response.Reason}, nil
	case slices.Contains(allowed, reject):
		return decision{Type: reject, Message: dialect.WhyNot(r)}, nil
	case slices.Contains(allowed, respond) && r.State == bridge.StateDenied && r.Response.Reason != "":
		return decision{Type: respond, Message: r.Response.Reason}, nil // the other decisions have no text
	}
	return nil, &bridge.EndedError{Record: r}
}

// question returns the request for a call that people cannot approve. They
// answer it with text, or reject it.
func (a action) question(prompt string, allowed []string) bridge.Request {
	if args := a.args(); len(args) > 0 {
		prompt += "\n\n" + dialect.Fenced(string(args))
	}
	return bridge.Request{Ask: bridge.Ask{
		Kind: bridge.KindAsk, Prompt: prompt, ToolName: a.Name, Declinable: slices.Contains(allowed, reject),
		Questions: []bridge.Question{{ID: reply, Widget: bridge.WidgetTextarea}},
	}}
}
