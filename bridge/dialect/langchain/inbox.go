package langchain

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// humanInterrupt is an interrupt for Agent Inbox.
type humanInterrupt struct {
	Action struct {
		Action string          `json:"action"`
		Args   json.RawMessage `json:"args"`
	} `json:"action_request"`
	Config struct {
		Ignore  bool `json:"allow_ignore"`
		Respond bool `json:"allow_respond"`
		Edit    bool `json:"allow_edit"`
		Accept  bool `json:"allow_accept"`
	} `json:"config"`
	Description string `json:"description"`
}

// humanResponse is the only item of the list with which Agent Inbox resumes.
type humanResponse struct {
	Type string `json:"type"`
	Args any    `json:"args"`
}

type actionRequest struct {
	Action string          `json:"action"`
	Args   json.RawMessage `json:"args"`
}

// reply is the ID of the only question.
const reply = "response"

// Inbox translates a HumanInterrupt, or a list of one. Its answer is a list
// with one HumanResponse.
func Inbox(raw []byte) (dialect.Translation, error) {
	raw = bytes.TrimSpace(raw)
	if bytes.HasPrefix(raw, []byte("[")) {
		var list []json.RawMessage
		if err := dialect.Decode("interrupt", raw, &list); err != nil {
			return dialect.Translation{}, err
		}
		if len(list) != 1 {
			return dialect.Translation{}, bridge.Errorf(bridge.CodeInvalid, "interrupt: %d items (exactly 1)", len(list))
		}
		raw = list[0]
	}
	var in humanInterrupt
	if err := dialect.Decode("interrupt", raw, &in); err != nil {
		return dialect.Translation{}, err
	}
	r, err := in.request()
	if err != nil {
		return dialect.Translation{}, err
	}
	return dialect.One(r, "", func(rec bridge.Record) (any, error) {
		h, err := in.response(rec)
		return []humanResponse{h}, err
	}), nil
}

func (in humanInterrupt) request() (bridge.Request, error) {
	name := in.Action.Action
	if name == "" {
		return bridge.Request{}, bridge.Errorf(bridge.CodeInvalid, "action_request.action: required")
	}
	prompt := in.Description
	if strings.TrimSpace(prompt) == "" {
		prompt = "The agent wants to do **" + name + "**"
	}
	c := in.Config
	if !c.Accept && !c.Edit {
		if !c.Respond {
			return bridge.Request{}, bridge.Errorf(bridge.CodeInvalid, "config: must allow accept, edit or respond")
		}
		if len(in.Action.Args) > 0 {
			prompt += "\n\n" + dialect.Fenced(string(in.Action.Args))
		}
		return bridge.Request{Ask: bridge.Ask{
			Kind: bridge.KindAsk, Prompt: prompt, ToolName: name, Declinable: c.Ignore,
			Questions: []bridge.Question{{ID: reply, Widget: bridge.WidgetTextarea}},
		}}, nil
	}
	a := &bridge.Approval{Tool: name, Input: in.Action.Args}
	for _, d := range []struct {
		offered bool
		bridge.Decision
	}{{c.Ignore, bridge.DecideDeny}, {c.Respond, bridge.DecideRespond}, {c.Accept, bridge.DecideOnce}, {c.Edit, bridge.DecideEdit}} {
		if d.offered {
			a.Decisions = append(a.Decisions, d.Decision)
		}
	}
	return bridge.Request{Ask: bridge.Ask{Kind: bridge.KindApproval, Prompt: prompt, ToolName: name, Approval: a}}, nil
}

func (in humanInterrupt) response(r bridge.Record) (humanResponse, error) {
	switch {
	case r.State == bridge.StateAnswered:
		return humanResponse{"response", r.Response.Answers[reply].Text}, nil
	case r.State == bridge.StateApproved && len(r.Response.Input) > 0:
		return humanResponse{"edit", actionRequest{in.Action.Action, stringValues(r.Response.Input)}}, nil
	case r.State == bridge.StateApproved:
		return humanResponse{"accept", actionRequest{in.Action.Action, in.Action.Args}}, nil
	case r.State == bridge.StateDenied && (r.Response.Respond || r.Response.Reason != "" && in.Config.Respond):
		return humanResponse{"response", r.Response.Reason}, nil
	case r.State == bridge.StateDenied && r.Response.Actor != nil, r.State == bridge.StateCancelled && r.Response.Actor != nil:
		return humanResponse{"ignore", nil}, nil
	}
	return humanResponse{}, &bridge.EndedError{Record: r}
}

// stringValues converts every value to a string, like the inbox does.
func stringValues(input json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if dialect.Decode("args", input, &fields) != nil {
		return input
	}
	out := map[string]string{}
	for k, v := range fields {
		var s string
		if dialect.Decode("args", v, &s) != nil {
			s = string(v)
		}
		out[k] = s
	}
	b, err := dialect.Encode(out)
	if err != nil {
		return input // strings always encode
	}
	return b
}
