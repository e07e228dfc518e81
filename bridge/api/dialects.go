package api

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/acp"
	"github.com/nodbridge/nod/bridge/dialect/aisdk"
	"github.com/nodbridge/nod/bridge/dialect/askuserquestion"
	"github.com/nodbridge/nod/bridge/dialect/askwidget"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
	"github.com/nodbridge/nod/bridge/dialect/codex"
	"github.com/nodbridge/nod/bridge/dialect/elicitation"
	"github.com/nodbridge/nod/bridge/dialect/langchain"
	"github.com/nodbridge/nod/bridge/dialect/openaiagents"
	"github.com/nodbridge/nod/bridge/dialect/toolinteraction"
	"github.com/nodbridge/nod/bridge/dialect/widgetblock"
)

// dialects maps the names of dialects in paths and WebSocket frames to their
// parsers.
var dialects = map[string]func([]byte) (dialect.Translation, error){
	"ask_widget":        translateFrame,
	"agent_tool":        translateCall,
	"widget":            translateWidget,
	"widget_block":      translateText,
	"ask_user_question": translateToolUse,
	"tool_interaction":  translateInteraction,

	"claude_control":  claudecode.Control,
	"mcp_elicitation": elicitation.Translate,
	"codex":           codex.Request,
	"acp":             acp.Request,
	"langchain_hitl":  langchain.HITL,
	"agent_inbox":     langchain.Inbox,
	"openai_agents":   openaiagents.Interruptions,
	"ai_sdk":          aisdk.Approvals,
}

// frameCall returns the ID of a call, given the ID of its frame.
func frameCall(id string) string { return dialect.CallID("frame", id) }

// raw marks bytes that are already JSON.
func raw(b []byte, err error) (any, error) { return json.RawMessage(b), err }

func translateFrame(b []byte) (dialect.Translation, error) {
	var f askwidget.Frame
	if err := dialect.Decode("frame", b, &f); err != nil {
		return dialect.Translation{}, err
	}
	if f.ID == "" {
		return dialect.Translation{}, bridge.Errorf(bridge.CodeInvalid, "id: required")
	}
	decode, encode := askwidget.DecodeAsk, askwidget.EncodeAnswer
	switch f.Type {
	case askwidget.AskRequest:
	case askwidget.ApprovalRequest:
		decode, encode = askwidget.DecodeApproval, askwidget.EncodeDecision
	default:
		return dialect.Translation{}, bridge.Errorf(bridge.CodeInvalid, "type: unknown type %q", f.Type).WithHint("use ask_request or approval_request")
	}
	r, err := decode(f.Payload)
	r.ToolCall = f.ID // ID of the request for front ends
	return dialect.One(r, frameCall(f.ID), func(rec bridge.Record) (any, error) { return raw(encode(f.ID, rec)) }).Named(askwidget.Names), err
}

func translateCall(b []byte) (dialect.Translation, error) {
	r, err := askwidget.DecodeCall(b)
	return dialect.One(r, "", func(rec bridge.Record) (any, error) {
		v, err := askwidget.Value(rec)
		return text(v), err
	}).Named(askwidget.Names), err
}

// text is a response that is not JSON.
type text string

func translateWidget(b []byte) (dialect.Translation, error) {
	p, err := widgetblock.Decode(b)
	if err != nil {
		return dialect.Translation{}, err
	}
	r, err := p.Request()
	return dialect.One(r, dialect.CallID("widget", p.WidgetID), func(rec bridge.Record) (any, error) { return p.Submit(rec) }).Named(p.Names()), err
}

// submitted is the response to a widget block: the user's message and the
// widget to keep.
type submitted struct {
	Type    string              `json:"type"`
	Content string              `json:"content"`
	Widget  widgetblock.Payload `json:"widget"`
}

func translateText(b []byte) (dialect.Translation, error) {
	content := string(b)
	var message struct {
		Content string `json:"content"`
	}
	if dialect.Decode("message", b, &message) == nil && message.Content != "" {
		content = message.Content
	}
	blocks, wrong := widgetblock.Blocks(content)
	if wrong != nil && len(blocks) == 0 {
		return dialect.Translation{}, wrong
	}
	t := dialect.Translation{Answer: []any{}, Partly: wrong, Join: func(all []any) (any, error) {
		if wrong != nil {
			all = append(all, failure{Type: "error", Error: bridge.PublicError(wrong)})
		}
		return all, nil
	}}
	for _, p := range blocks {
		r, err := p.Request()
		if err != nil {
			return dialect.Translation{}, err
		}
		r.CallID.ID = dialect.CallID("widget", p.WidgetID)
		t.Exchanges = append(t.Exchanges, dialect.Exchange{Request: r, Names: p.Names(), Encode: func(rec bridge.Record) (any, error) {
			s, err := p.Submit(rec)
			if err != nil {
				return nil, err
			}
			content, err := s.UserMessage()
			return submitted{"user_message", content, p.Answered(s)}, err
		}})
	}
	return t, nil
}

func translateToolUse(b []byte) (dialect.Translation, error) {
	var c askuserquestion.Call
	if err := dialect.Decode("call", b, &c); err != nil {
		return dialect.Translation{}, err
	}
	if c.ToolName != askuserquestion.Tool {
		return dialect.Translation{Answer: askuserquestion.Allow(c.Input)}, nil
	}
	r, err := askuserquestion.Request(c.Input)
	// The protocol has one pending question for each conversation, and rejects
	// it if the client disconnects.
	r.ToolCall, r.OneAtATime, r.SameTool, r.CancelOnDisconnect = c.ToolUseID, true, true, true
	return dialect.One(r, dialect.CallID("tool", c.ToolUseID), func(rec bridge.Record) (any, error) {
		result, err := askuserquestion.Permission(c.Input, rec)
		if ended, ok := errors.AsType[*bridge.EndedError](err); ok {
			return askuserquestion.Deny(ended.Record), nil
		}
		return result, err
	}).Named(askuserquestion.Names), err
}

func translateInteraction(b []byte) (dialect.Translation, error) {
	r, err := toolinteraction.DecodeRequest(b)
	return dialect.One(r, dialect.CallID("interaction", r.ToolCall), func(rec bridge.Record) (any, error) {
		if rec.State == bridge.StateUndeliverable {
			return nil, &bridge.EndedError{Record: rec}
		}
		return toolinteraction.EncodeResponse(rec.Interaction, *rec.Response), nil
	}).Named(toolinteraction.Names), err
}

// ended adds an error code to a request that closed without an answer, because
// dialects have no form for it.
func ended(err error) error {
	e, ok := errors.AsType[*bridge.EndedError](err)
	if !ok {
		return err
	}
	if errors.Is(err, bridge.ErrInteractionUnavailable) {
		return bridge.Errorf(bridge.CodeUnavailable, "%s: %s", bridge.ErrInteractionUnavailable, e.Record.Response.Reason)
	}
	return bridge.Errorf(bridge.CodeConflict, "%s", dialect.WhyNot(e.Record))
}

// askUser is a tool for models: it checks a widget and returns the block that
// belongs in the assistant's text.
func (s exchanges) askUser(w http.ResponseWriter, r *http.Request, _ Principal) error {
	body, err := readRaw(r)
	if err != nil {
		return err
	}
	p, err := widgetblock.Decode(body)
	if err != nil {
		return err
	}
	block, err := p.Block()
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, struct {
		WidgetBlock string `json:"widgetBlock"`
	}{block})
}
