package relay

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/url"
	"path"
	"strconv"
	"sync"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// Rules say what happens to a call of a tool, by shell patterns over its name.
// Deny goes before allow; what neither names is asked.
type Rules struct {
	Allow, Deny []string
}

// Check refuses patterns that can not be read.
func (r Rules) Check() error {
	for flag, patterns := range map[string][]string{"allow": r.Allow, "deny": r.Deny} {
		for _, p := range patterns {
			if _, err := path.Match(p, ""); err != nil {
				return bridge.Errorf(bridge.CodeInvalid, "--%s: %q is no pattern", flag, p).WithHint("use * ? and [a-z], as a shell does")
			}
		}
	}
	return nil
}

func matches(patterns []string, name string) bool {
	for _, p := range patterns {
		if ok, _ := path.Match(p, name); ok { // Check refused what is no pattern
			return true
		}
	}
	return false
}

// Approver asks for permission.
type Approver interface {
	Asker
	Approve(ctx context.Context, r bridge.Request) (bridge.Record, error)
}

// WrapOptions configures a Wrap.
type WrapOptions struct {
	Approver       Approver
	Rules          Rules
	Name           string // of the server, as people read it
	Session, Route string
	Query          url.Values // goes with forms
	Timeout        bridge.Duration
	Batch          bridge.Duration
	Client, Server *Side
	Log            *slog.Logger
}

// Wrap is the Handler before an MCP server: its tools run when the rules or
// people allow it, and its forms are filled in in chat.
type Wrap struct {
	WrapOptions

	mu      sync.Mutex
	calls   map[string]context.CancelFunc // of the client, that people are asked about
	sent    map[string]call               // to the server
	renamed map[string]json.RawMessage    // ids of retries of ours, to the client's own
	next    int
	work    sync.WaitGroup
}

// call is a tools/call as the server got it.
type call struct {
	message Message
	ctx     context.Context
}

type toolCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// elicitationForm is the capability that lets a server ask.
var elicitationForm = json.RawMessage(`{"form":{},"url":{}}`)

// capabilitiesKey is where the 2026 generation keeps the client's capabilities
// in every request.
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities"

// NewWrap returns a Wrap.
func NewWrap(o WrapOptions) *Wrap {
	return &Wrap{WrapOptions: o, calls: map[string]context.CancelFunc{}, sent: map[string]call{}, renamed: map[string]json.RawMessage{}}
}

// FromClient implements Handler.
func (w *Wrap) FromClient(ctx context.Context, m *Message) bool {
	switch {
	case m.Method == "initialize":
		m.Replace(withMember(m.Params, elicitationForm, "capabilities", "elicitation"))
	case m.Method == "tools/call" && m.IsRequest():
		return w.called(ctx, m)
	case m.Method == "notifications/cancelled":
		var p struct {
			ID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(m.Params, &p) == nil {
			return w.cancelled(p.ID)
		}
	case m.Method != "" && hasMeta(m.Params):
		m.Replace(withMember(m.Params, elicitationForm, "_meta", capabilitiesKey, "elicitation"))
	}
	return false
}

// cancelled ends the asking about a call; true if the server never got it.
func (w *Wrap) cancelled(id json.RawMessage) bool {
	w.mu.Lock()
	stop := w.calls[string(id)]
	delete(w.calls, string(id))
	w.mu.Unlock()
	if stop == nil {
		return false
	}
	stop()
	return true
}

func (w *Wrap) called(ctx context.Context, m *Message) bool {
	if hasMeta(m.Params) {
		m.Replace(withMember(m.Params, elicitationForm, "_meta", capabilitiesKey, "elicitation"))
	}
	var c toolCall
	if err := json.Unmarshal(m.Params, &c); err != nil {
		return false // the server refuses it
	}
	switch {
	case matches(w.Rules.Deny, c.Name):
		w.reply(m.ID, refusal("The tool "+c.Name+" is not allowed here."))
		return true
	case matches(w.Rules.Allow, c.Name):
		w.keep(ctx, *m)
		return false
	}
	ctx, cancel := context.WithCancel(ctx)
	w.mu.Lock()
	w.calls[string(m.ID)] = cancel
	w.mu.Unlock()
	request := *m
	w.work.Go(func() {
		defer cancel()
		w.approve(ctx, request, c)
	})
	return true
}

// keep remembers what the server got, so that it can be sent again with what
// the server wanted to know.
func (w *Wrap) keep(ctx context.Context, m Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent[string(m.ID)] = call{m, ctx}
}

func (w *Wrap) approve(ctx context.Context, m Message, c toolCall) {
	args := c.Arguments
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	rec, err := w.Approver.Approve(ctx, bridge.Request{
		Kind: bridge.KindApproval, Prompt: "Use **" + c.Name + "** of the MCP server `" + w.Name + "`", Session: w.Session, Route: w.Route, Timeout: w.Timeout, Batch: w.Batch,
		Approval: &bridge.Approval{Tool: w.Name + "/" + c.Name, Input: args, Decisions: []bridge.Decision{
			bridge.DecideDeny, bridge.DecideDenyReason, bridge.DecideOnce, bridge.DecideSession, bridge.DecideEdit,
		}},
	})
	w.mu.Lock()
	delete(w.calls, string(m.ID))
	w.mu.Unlock()
	switch {
	case ctx.Err() != nil: // the client waits no more
	case err != nil:
		w.reply(m.ID, refusal("Nobody could be asked whether it may run: "+bridge.PublicText(err)))
	case rec.State != bridge.StateApproved:
		w.reply(m.ID, refusal(dialect.WhyNot(rec)))
	default:
		if len(rec.Response.Input) > 0 {
			m.Replace(withMember(m.Params, rec.Response.Input, "arguments"))
		}
		w.keep(context.WithoutCancel(ctx), m)
		if err := w.Server.writeRaw(m.raw); err != nil {
			w.Log.Warn("an allowed call did not reach its server", "error", err)
		}
	}
}

// FromServer implements Handler.
func (w *Wrap) FromServer(ctx context.Context, m *Message) bool {
	switch {
	case m.Method == "elicitation/create" && m.IsRequest():
		request := *m
		w.work.Go(func() { w.answer(request.ID, w.elicit(ctx, request.Params)) })
		return true
	case m.IsResponse():
		return w.responded(m)
	}
	return false
}

// responded looks at the end of a call: the 2026 generation may want to know
// something first.
func (w *Wrap) responded(m *Message) bool {
	w.mu.Lock()
	c, known := w.sent[string(m.ID)]
	delete(w.sent, string(m.ID))
	own, renamed := w.renamed[string(m.ID)]
	delete(w.renamed, string(m.ID))
	w.mu.Unlock()
	var r struct {
		Type     string                     `json:"resultType"`
		State    json.RawMessage            `json:"requestState"`
		Requests map[string]json.RawMessage `json:"inputRequests"`
	}
	if known && json.Unmarshal(m.Result, &r) == nil && r.Type == "input_required" && answerable(r.Requests) {
		if !renamed {
			own = m.ID
		}
		w.work.Go(func() { w.again(c, own, r.State, r.Requests) })
		return true
	}
	if renamed {
		m.ID = own
		m.Replace(m.Params)
	}
	return false
}

// answerable reports whether all that a server wants is a person's to give.
func answerable(requests map[string]json.RawMessage) bool {
	for _, raw := range requests {
		var r struct {
			Method string `json:"method"`
		}
		if json.Unmarshal(raw, &r) != nil || r.Method != "elicitation/create" {
			return false
		}
	}
	return len(requests) > 0
}

// again sends a call once more, with people's answers, under an id of our own.
func (w *Wrap) again(c call, own, state json.RawMessage, requests map[string]json.RawMessage) {
	answers := map[string]json.RawMessage{}
	for name, raw := range requests {
		var r struct {
			Params json.RawMessage `json:"params"`
		}
		_ = json.Unmarshal(raw, &r) // answerable read it
		answers[name] = w.elicit(c.ctx, r.Params)
	}
	raw, err := json.Marshal(answers)
	if err != nil {
		return // raw JSON always marshals
	}
	m := c.message
	params := withMember(m.Params, raw, "inputResponses")
	if len(state) > 0 {
		params = withMember(params, state, "requestState")
	}
	w.mu.Lock()
	w.next++
	m.ID = json.RawMessage(strconv.Quote("nod-retry-" + strconv.Itoa(w.next)))
	w.renamed[string(m.ID)] = own
	w.sent[string(m.ID)] = call{m, c.ctx}
	w.mu.Unlock()
	m.Replace(params)
	if err := w.Server.writeRaw(m.raw); err != nil {
		w.Log.Warn("a retried call did not reach its server", "error", err)
	}
}

// elicit has a form filled in in chat. What can not be asked there is
// cancelled, which no server takes for an answer.
func (w *Wrap) elicit(ctx context.Context, params json.RawMessage) json.RawMessage {
	name, err := json.Marshal(w.Name)
	var answer json.RawMessage
	if err == nil {
		answer, err = w.Approver.Ask(ctx, "mcp_elicitation", w.Query, withMember(params, name, "serverName"))
	}
	if err != nil {
		if ctx.Err() == nil {
			w.Log.Warn("a form is cancelled", "error", err)
		}
		return json.RawMessage(`{"action":"cancel"}`)
	}
	return answer
}

func (w *Wrap) reply(id json.RawMessage, result any) {
	if err := w.Client.Write(response{"2.0", id, result}); err != nil {
		w.Log.Warn("the client did not get an answer", "error", err)
	}
}

func (w *Wrap) answer(id, result json.RawMessage) {
	if err := w.Server.Write(response{"2.0", id, result}); err != nil {
		w.Log.Warn("the server did not get an answer", "error", err)
	}
}

// Wait returns once nothing is asked any more.
func (w *Wrap) Wait() { w.work.Wait() }

// refusal is a tool's result: the model reads it.
func refusal(text string) any {
	return map[string]any{"isError": true, "content": []any{map[string]string{"type": "text", "text": text}}}
}

func hasMeta(params json.RawMessage) bool {
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	return json.Unmarshal(params, &p) == nil && p.Meta[capabilitiesKey] != nil
}

// withMember sets a member of nested objects, and leaves the others as they
// are. What is no object stays.
func withMember(object, value json.RawMessage, at ...string) json.RawMessage {
	members := map[string]json.RawMessage{}
	if len(object) > 0 && json.Unmarshal(object, &members) != nil {
		return object
	}
	if members == nil {
		members = map[string]json.RawMessage{}
	}
	members = maps.Clone(members)
	if len(at) > 1 {
		value = withMember(members[at[0]], value, at[1:]...)
	}
	members[at[0]] = value
	b, err := json.Marshal(members)
	if err != nil {
		return object // raw JSON always marshals
	}
	return b
}
