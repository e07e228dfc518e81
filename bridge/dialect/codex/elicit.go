package codex

import (
	"encoding/json"
	"slices"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/elicitation"
)

// elicited is the result of an elicitation. All of its fields are required.
type elicited struct {
	Action  string          `json:"action"`
	Content json.RawMessage `json:"content"`
	Meta    any             `json:"_meta"`
}

// persist is the metadata with the duration of an approval of a tool.
type persist struct {
	Scope bridge.Scope `json:"persist"`
}

// toolApproval is the metadata of an elicitation that asks for permission to
// call a tool of an MCP server.
type toolApproval struct {
	Kind        string          `json:"codex_approval_kind"`
	Persist     []bridge.Scope  `json:"persist"`
	Tool        string          `json:"tool_name"`
	Description string          `json:"tool_description"`
	Params      json.RawMessage `json:"tool_params"`
}

func (p params) elicitation(raw json.RawMessage) (bridge.Request, func(bridge.Record) (any, error), error) {
	var e struct {
		elicitation.Params
		Meta json.RawMessage `json:"_meta"`
	}
	if err := dialect.Decode("params", raw, &e); err != nil {
		return bridge.Request{}, nil, err
	}
	var t toolApproval
	if len(e.Meta) > 0 && string(e.Meta) != "null" {
		if err := dialect.Decode("params._meta", e.Meta, &t); err != nil {
			return bridge.Request{}, nil, err
		}
	}
	switch t.Kind {
	case "mcp_tool_call":
		return p.tool(t)
	case "":
	default:
		return bridge.Request{}, nil, bridge.Errorf(bridge.CodeUnsupported, "codex_approval_kind: %q cannot be shown in chat", t.Kind).
			WithHint("answer it at the terminal")
	}
	r, err := elicitation.Request(e.Params, p.Server)
	return r, func(rec bridge.Record) (any, error) {
		a, err := elicitation.Answer(rec)
		if err != nil {
			return nil, err
		}
		return elicited{Action: a.Action, Content: a.Content}, nil
	}, err
}

// tool translates an elicitation that asks for permission to call a tool.
func (p params) tool(t toolApproval) (bridge.Request, func(bridge.Record) (any, error), error) {
	if t.Tool == "" {
		return bridge.Request{}, nil, bridge.Errorf(bridge.CodeInvalid, "tool_name: required")
	}
	if len(t.Params) == 0 {
		t.Params = json.RawMessage("{}")
	}
	name := p.Server + "/" + t.Tool
	r := approval(name, t.Params, "Codex wants to use **"+t.Tool+"** of the MCP server "+dialect.Code(p.Server), t.Description)
	r.Approval.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyStop, bridge.DecideOnce}
	if slices.Contains(t.Persist, bridge.ScopeSession) {
		r.Approval.Decisions = append(r.Approval.Decisions, bridge.DecideSession)
	}
	if slices.Contains(t.Persist, bridge.ScopeAlways) {
		r.Approval.Decisions = append(r.Approval.Decisions, bridge.DecideAlways)
		r.Approval.ScopeNotes = map[bridge.Scope]string{bridge.ScopeAlways: "every call of this tool, as a setting of Codex"}
	}
	return r, decided(func(rec bridge.Record) any {
		switch scope := rec.Response.Scope; {
		case rec.State == bridge.StateDenied && rec.Response.Stop:
			return elicited{Action: cancel}
		case rec.State == bridge.StateDenied:
			return elicited{Action: decline}
		case scope != bridge.ScopeOnce && slices.Contains(t.Persist, scope):
			return elicited{Action: accept, Meta: persist{scope}}
		}
		return elicited{Action: accept}
	}), nil
}
