package relay

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/strictjson"
)

// Methods that make the server run something.
const (
	methodCall   = "tools/call"
	methodUpdate = "tasks/update" // provides the input that a running task requested
	methodCancel = "tasks/cancel" // ends a task
)

// call is a request that the rules or people decide on. The rules match its
// name, and people see its input. nod forwards a request that it builds from
// both.
type call struct {
	name   string
	prompt string // effect of the call, without the name of the server
	tool   callParams
	input  json.RawMessage
	edit   bool // whether people may edit the input
}

// callParams are the parameters of both methods. Other fields are not
// forwarded.
type callParams struct {
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	TaskID    string          `json:"taskId,omitempty"`
	Task      *taskParams     `json:"task,omitempty"`
	Responses json.RawMessage `json:"inputResponses,omitempty"`
	State     string          `json:"requestState,omitempty"`
	Meta      json.RawMessage `json:"_meta,omitempty"`
}

// taskParams asks the server to run the call in the background.
type taskParams struct {
	TTL *int64 `json:"ttl,omitempty"`
}

// maxToolName limits the name of a tool, in bytes. The protocol allows 128.
const maxToolName = 256

// readCall parses a request. It returns an error if the request must be
// refused.
func readCall(m Message) (call, error) {
	var p callParams
	if len(m.Params) == 0 {
		return call{}, rpcError{codeParams, "params: required"}
	}
	if err := strictjson.DecodeKnown(m.Params, &p); err != nil {
		return call{}, rpcError{codeParams, "params: " + err.Error()}
	}
	var err error
	if p.Meta, err = cleanMeta(p.Meta); err != nil {
		return call{}, err
	}
	p.Meta = capable(p.Meta)
	for name, part := range map[string]*json.RawMessage{"arguments": &p.Arguments, "inputResponses": &p.Responses} {
		if isNull(*part) {
			*part = nil
		}
		if len(*part) > 0 && (*part)[0] != '{' {
			return call{}, rpcError{codeParams, "params." + name + ": must be an object"}
		}
	}
	if m.Method == methodUpdate {
		return updateOf(p)
	}
	if p.TaskID != "" || !nameable(p.Name) {
		return call{}, rpcError{codeParams, "params.name: not a valid tool name"}
	}
	if len(p.Arguments) == 0 {
		p.Arguments = json.RawMessage("{}")
	}
	c := call{name: p.Name, prompt: "Use **" + p.Name + "**", tool: p, input: p.Arguments, edit: true}
	if len(p.Responses) > 0 || p.State != "" { // people see them as well
		c.edit = false
		c.input, err = encode(callParams{Arguments: p.Arguments, Responses: p.Responses, State: p.State})
	}
	return c, err
}

func updateOf(p callParams) (call, error) {
	if p.TaskID == "" || p.Name != "" || len(p.Arguments) > 0 || p.Task != nil {
		return call{}, rpcError{codeParams, "params: not a valid task update"}
	}
	input, err := encode(callParams{TaskID: p.TaskID, Responses: p.Responses, State: p.State})
	return call{name: methodUpdate, prompt: "Answer a task", tool: p, input: input}, err
}

// params returns the parameters for the server. They contain only the parts
// that nod has evaluated.
func (c call) params() (json.RawMessage, error) { return encode(c.tool) }

// nameable reports whether a card shows the name unchanged. The name must
// be printable ASCII without the characters that format text.
func nameable(name string) bool {
	if name == "" || len(name) > maxToolName || strings.TrimSpace(name) != name {
		return false
	}
	for _, c := range []byte(name) {
		if c < 0x20 || c > 0x7e || strings.IndexByte("*`<>[]|\\~", c) >= 0 {
			return false
		}
	}
	return true
}

// metaMembers are the metadata fields that the protocol defines, in addition to
// those with its own prefix. People do not see metadata, so no other field is
// forwarded.
var metaMembers = []string{"progressToken", "traceparent", "tracestate", "baggage"}

const metaPrefix = "io.modelcontextprotocol/"

// cleanMeta returns the metadata fields that the protocol defines.
func cleanMeta(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 || isNull(raw) {
		return nil, nil
	}
	m, err := members(raw)
	if err != nil {
		return nil, rpcError{codeParams, "params._meta: must be an object"}
	}
	for name := range m {
		if !slices.Contains(metaMembers, name) && !strings.HasPrefix(name, metaPrefix) {
			delete(m, name)
		}
	}
	if len(m) == 0 {
		return nil, nil
	}
	return encode(m)
}

// called decides on a call. It returns true if the call must not be forwarded
// yet.
func (w *Wrap) called(ctx context.Context, m *Message, c call) bool {
	params, err := c.params()
	if err != nil {
		w.fail(m.ID, rpcError{codeParams, "params: " + err.Error()})
		return true
	}
	m.Params = params
	switch {
	case matches(w.Rules.Deny, c.name):
		w.reply(m.ID, refusal("The tool "+c.name+" is not allowed here."))
		return true
	case matches(w.Rules.Allow, c.name):
		w.keep(request{message: *m})
		return false
	}
	if err := bridge.CheckJSON(c.input); err != nil { // people could see a different value
		w.fail(m.ID, rpcError{codeParams, "params: " + bridge.PublicText(err)})
		return true
	}
	ctx, cancel := context.WithCancelCause(ctx)
	w.mu.Lock()
	w.judged[idKey(m.ID)] = judging{cancel, m.ID, c.tool.TaskID}
	w.mu.Unlock()
	asked := *m
	w.work.Go(func() {
		defer cancel(nil)
		w.approve(ctx, asked, c)
	})
	return true
}

func (c call) request(w *Wrap) bridge.Request {
	decisions := []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyReason, bridge.DecideOnce, bridge.DecideSession}
	if c.edit {
		decisions = append(decisions, bridge.DecideEdit)
	}
	return bridge.Request{Ask: bridge.Ask{
		Kind: bridge.KindApproval, Prompt: c.prompt + " of the MCP server " + dialect.Code(w.Name),
		Session: w.Session, Route: w.Route, Timeout: w.Timeout,
		Approval: &bridge.Approval{Tool: w.Name + "/" + c.name, Where: w.Where, Input: c.input, Decisions: decisions},
	}}
}

func (w *Wrap) approve(ctx context.Context, m Message, c call) {
	told := w.reassure(ctx, []json.RawMessage{progressToken(m.Params)})
	rec, err := w.Approver.Approve(ctx, c.request(w))
	told()
	if err == nil && rec.State == bridge.StateApproved {
		m.Params, err = c.approved(rec)
	}
	w.order.Lock()
	defer w.order.Unlock()
	w.mu.Lock()
	_, waiting := w.judged[idKey(m.ID)]
	// After a cancellation, the ID may already belong to a later call.
	if waiting = waiting && ctx.Err() == nil; waiting {
		delete(w.judged, idKey(m.ID))
	}
	run := waiting && err == nil && rec.State == bridge.StateApproved
	if run {
		w.sent[idKey(m.ID)] = request{message: m}
	}
	w.mu.Unlock()
	switch {
	case !waiting: // the client has cancelled the call
	case err != nil:
		w.reply(m.ID, refusal("Could not ask anyone whether it may run: "+bridge.PublicText(err)))
	case !run:
		w.reply(m.ID, refusal(dialect.WhyNot(rec)))
	default:
		w.pass(m)
	}
}

// approved returns the parameters that people approved.
func (c call) approved(rec bridge.Record) (json.RawMessage, error) {
	if rec.Response != nil && len(rec.Response.Input) > 0 {
		if !c.edit || rec.Response.Input[0] != '{' {
			return nil, bridge.Errorf(bridge.CodeInvalid, "the edited input must be an object")
		}
		c.tool.Arguments = rec.Response.Input
	}
	return c.params()
}

// pass forwards an approved request to the server.
func (w *Wrap) pass(m Message) {
	if err := w.Server.Write(m); err != nil {
		w.Log.Warn("approved request not forwarded", "error", err)
		w.mu.Lock()
		r := w.sent[idKey(m.ID)]
		delete(w.sent, idKey(m.ID))
		w.mu.Unlock()
		if len(r.own) > 0 {
			m.ID = r.own
		}
		w.fail(m.ID, rpcError{codeInternal, "the server did not receive the request"})
	}
}

// refusal returns a tool result for the model.
func refusal(text string) any {
	return map[string]any{"isError": true, "content": []any{map[string]string{"type": "text", "text": text}}}
}
