package relay

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/url"
	"path"
	"strings"
	"sync"

	"github.com/nodbridge/nod/bridge"
)

// Rules decide tool calls by matching shell patterns against the names of the
// tools. Deny takes precedence over allow, and people are asked about all other
// tools.
type Rules struct {
	Allow, Deny []string
}

// Check returns an error for an invalid pattern.
func (r Rules) Check() error {
	for flag, patterns := range map[string][]string{"allow": r.Allow, "deny": r.Deny} {
		for _, p := range patterns {
			if _, err := path.Match(p, ""); err != nil {
				return bridge.Errorf(bridge.CodeInvalid, "--%s: invalid pattern %q", flag, p).
					WithHint("use the shell wildcards *, ? and [a-z]")
			}
		}
	}
	return nil
}

func matches(patterns []string, name string) bool {
	for _, p := range patterns {
		if ok, _ := path.Match(p, name); ok { // Check has rejected invalid patterns
			return true
		}
	}
	return false
}

// Approver sends requests for approval.
type Approver interface {
	Asker
	Approve(ctx context.Context, r bridge.Request) (bridge.Record, error)
}

// WrapOptions configures a Wrap.
type WrapOptions struct {
	Approver Approver
	Rules    Rules
	Name     string // name of the server that people see
	// Where distinguishes the server from others of the same name. People see
	// it. A grant covers only requests with the same value.
	Where          string
	Session, Route string
	Query          url.Values // options of the requests for forms
	Timeout        bridge.Duration
	Client, Server *Side
	Log            *slog.Logger
}

// Wrap is the Handler in front of an MCP server. Tools run only if the rules or
// people allow them. People fill in the server's forms in chat. Wrap forwards a
// message only if its method is known to be harmless, or if the rules or people
// allowed it.
type Wrap struct {
	WrapOptions

	// order is held while an allowed call goes to the server, so that a
	// cancellation comes either before or after the call. It is locked before
	// mu.
	order sync.Mutex

	mu     sync.Mutex
	judged map[string]judging // calls that await a decision
	forms  map[string]form    // forms of the server that wait for answers in chat
	shows  json.RawMessage    // the client can show forms itself
	sent   map[string]request // requests that the client sent to the server
	asked  map[string]bool    // requests that the server sent to the client
	told   int                // progress notifications that nod has sent
	work   sync.WaitGroup
}

// judging is a call that waits for a decision, or for an answer to a form
// before it is sent again.
type judging struct {
	cancel context.CancelCauseFunc
	id     json.RawMessage // the client's ID of the call
	task   string          // task that the call updates
}

// request is a request of the client as it was forwarded to the server.
type request struct {
	message Message
	// own is the client's ID of a call that nod sent again with another ID.
	own json.RawMessage
	// over is set once the client has cancelled the request.
	over bool
}

// harmless lists requests of the client that run nothing for the agent: they
// only read data of the server, or end an activity.
var harmless = set(
	"initialize", "server/discover", "ping", "logging/setLevel", "completion/complete",
	"tools/list", "prompts/list", "prompts/get",
	"resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe",
	"subscriptions/listen", "tasks/get", "tasks/list", "tasks/result", "tasks/cancel",
)

// asking lists the client's requests for which a server may show forms.
var asking = set(methodCall, "prompts/get", "resources/read")

// notices lists the client's notifications.
var notices = set(
	"notifications/initialized", "notifications/cancelled", "notifications/progress",
	"notifications/roots/list_changed", "notifications/tasks/status",
)

// wanted lists the server's requests that the client answers.
var wanted = set("ping", "roots/list", "sampling/createMessage")

func set(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out
}

// elicitation is the method of a request for a form.
const elicitation = "elicitation/create"

// elicitationForm is the capability that allows a server to ask for input.
var elicitationForm = json.RawMessage(`{"form":{},"url":{}}`)

// capabilitiesKey is the metadata key for the client's capabilities in every
// request of protocol version 2026-07-28.
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities"

// NewWrap returns a Wrap.
func NewWrap(o WrapOptions) *Wrap {
	return &Wrap{WrapOptions: o, judged: map[string]judging{}, forms: map[string]form{}, sent: map[string]request{}, asked: map[string]bool{}}
}

// Decisive implements Handler.
func (w *Wrap) Decisive(method string) bool { return method == elicitation }

// Reasons that a card of a Wrap closes without a decision.
const (
	withdrawnByClient Withdrawal = "the client cancelled the call"
	withdrawnTask     Withdrawal = "the client cancelled the task"
	withdrawnByServer Withdrawal = "the server cancelled the form"
	withdrawnClient   Withdrawal = "the client was closed"
)

// ClientGone implements Handler. It withdraws the calls that await a decision, and
// the forms.
func (w *Wrap) ClientGone() {
	w.withdrawForms(withdrawnClient, func(form) bool { return true })
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range w.judged {
		j.cancel(withdrawnClient)
	}
}

// FromClient implements Handler.
func (w *Wrap) FromClient(ctx context.Context, m *Message) bool {
	switch {
	case m.IsResponse():
		return !w.expected(m)
	case !m.IsRequest():
		return w.noticed(m)
	case w.inUse(m.ID):
		w.fail(m.ID, rpcError{codeRequest, "id: already used by an unfinished request"})
		return true
	case m.Method == methodCall, m.Method == methodUpdate:
		w.capability(*m)
		c, err := readCall(*m)
		if err != nil {
			w.fail(m.ID, err)
			return true
		}
		return w.called(ctx, m, c)
	case !harmless[m.Method]:
		w.fail(m.ID, rpcError{codeMethod, "method " + clip(m.Method) + " is not allowed, because nod cannot evaluate it"})
		return true
	}
	if len(m.Params) > 0 && m.Params[0] != '{' {
		w.fail(m.ID, rpcError{codeParams, "params: must be an object"})
		return true
	}
	w.capability(*m)
	if m.Method == "initialize" {
		m.Params = withMember(m.Params, elicitationForm, "capabilities", "elicitation")
	} else {
		m.Params = capable(m.Params)
	}
	if m.Method == methodCancel {
		w.cancelTask(m.Params)
	}
	w.keep(request{message: *m})
	return false
}

// cancelTask drops the updates of a task that await a decision, because nothing
// runs for a task that the client has cancelled.
func (w *Wrap) cancelTask(params json.RawMessage) {
	var p struct {
		Task string `json:"taskId"`
	}
	if limits.Decode(params, &p) != nil || p.Task == "" {
		return
	}
	w.withdrawForms(withdrawnTask, func(f form) bool { return f.task == p.Task })
	w.order.Lock() // ensures that no update is on its way to the server
	w.mu.Lock()
	var dropped []judging
	for id, j := range w.judged {
		if j.task == p.Task {
			dropped = append(dropped, j)
			delete(w.judged, id)
			j.cancel(withdrawnTask)
		}
	}
	w.mu.Unlock()
	w.order.Unlock()
	for _, j := range dropped {
		w.reply(j.id, refusal("The client has cancelled the task."))
	}
}

// clip shortens text that an error message repeats.
func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60]) + "…"
	}
	return `"` + strings.ToValidUTF8(s, "") + `"`
}

// noticed handles a notification of the client.
func (w *Wrap) noticed(m *Message) bool {
	switch {
	case m.Method == methodCall, m.Method == methodUpdate, harmless[m.Method]:
		w.fail(nil, rpcError{codeRequest, "id: required"})
		return true
	case !notices[m.Method]:
		w.Log.Warn("notification of the client dropped", "method", clip(m.Method))
		return true
	case m.Method != "notifications/cancelled":
		return false
	}
	id := requestID(m.Params)
	if id == nil { // not a cancellation of a known request
		return false
	}
	w.order.Lock() // ensures that no call is on its way to the server
	defer w.order.Unlock()
	w.mu.Lock()
	j, waits := w.judged[idKey(id)]
	delete(w.judged, idKey(id))
	w.mu.Unlock()
	if waits { // the call was not forwarded
		j.cancel(withdrawnByClient)
		return true
	}
	at, last := w.sentAs(id)
	if at != nil {
		m.Params = withMember(m.Params, at, "requestId")
	}
	if last { // no other call needs the answers to the server's forms
		w.withdrawForms(withdrawnByClient, func(f form) bool { return f.task == "" })
	}
	return false
}

// sentAs records that a request of the client is over. It returns the ID with
// which the request was sent, or nil. It also reports whether this was the last
// request for which the server may show forms.
func (w *Wrap) sentAs(own json.RawMessage) (at json.RawMessage, last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	rest := 0
	for id, r := range w.sent {
		switch {
		case id == idKey(own) || idKey(r.own) == idKey(own):
			r.over = true
			w.sent[id] = r
			at, last = r.message.ID, asking[r.message.Method]
		case asking[r.message.Method] && !r.over:
			rest++
		}
	}
	return at, last && rest == 0
}

// inUse reports whether a request of the client with the ID is unfinished.
func (w *Wrap) inUse(id json.RawMessage) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, sent := w.sent[idKey(id)]
	if _, waits := w.judged[idKey(id)]; sent || waits {
		return true
	}
	for _, r := range w.sent {
		if idKey(r.own) == idKey(id) {
			return true
		}
	}
	return false
}

// keep records a forwarded request. The server may answer only recorded
// requests, and nod can send them again with additional input.
func (w *Wrap) keep(r request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent[idKey(r.message.ID)] = r
}

// expected reports whether the client responds to a request that it received
// from the server. The client cannot answer a form that is shown in chat.
func (w *Wrap) expected(m *Message) bool {
	w.mu.Lock()
	known := w.asked[idKey(m.ID)]
	delete(w.asked, idKey(m.ID))
	w.mu.Unlock()
	if !known {
		w.Log.Warn("response of the client dropped: the server did not send the request to the client")
	}
	return known
}

// FromServer implements Handler.
func (w *Wrap) FromServer(ctx context.Context, m *Message) bool {
	switch {
	case m.IsResponse():
		return w.responded(ctx, m)
	case m.Method == "notifications/cancelled":
		return w.cancelForm(requestID(m.Params))
	case !m.IsRequest():
		pass := strings.HasPrefix(m.Method, "notifications/")
		if !pass {
			w.Log.Warn("server notification dropped", "method", clip(m.Method))
		}
		return !pass
	case m.Method == elicitation:
		asked := *m
		ctx, cancel := context.WithCancelCause(ctx)
		w.mu.Lock()
		w.forms[idKey(m.ID)] = form{cancel, taskOf(m.Params)} // the next message may cancel it
		w.mu.Unlock()
		w.work.Go(func() { w.form(ctx, cancel, asked) })
		return true
	case !wanted[m.Method]:
		w.answer(failure(m.ID, codeMethod, "method "+clip(m.Method)+" is not allowed"))
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked[idKey(m.ID)] = true
	return false
}

// fail responds to the client with an error.
func (w *Wrap) fail(id json.RawMessage, err error) {
	m := failure(id, codeParams, err.Error())
	if e, ok := err.(rpcError); ok {
		m = failure(id, e.Code, e.Message)
	}
	w.tell(m)
}

// reply responds to the client with a result.
func (w *Wrap) reply(id json.RawMessage, result any) {
	raw, err := encode(result)
	if err != nil {
		w.tell(failure(id, codeInternal, "the result cannot be encoded"))
		return
	}
	w.tell(Message{Version: "2.0", ID: id, Result: raw})
}

func (w *Wrap) tell(m Message) {
	if err := w.Client.Write(m); err != nil {
		w.Log.Warn("response to the client not sent", "error", err)
	}
}

func (w *Wrap) answer(m Message) {
	if err := w.Server.Write(m); err != nil {
		w.Log.Warn("response to the server not sent", "error", err)
	}
}

// Wait returns once no request is pending in chat.
func (w *Wrap) Wait() { w.work.Wait() }
