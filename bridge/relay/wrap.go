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

// Rules say what happens to a call of a tool, by shell patterns over its name.
// Deny goes before allow; what neither names is asked.
type Rules struct {
	Allow, Deny []string
}

// Check refuses patterns that cannot be read.
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
// people allow it, and people fill in its forms in chat. A message passes only
// if its method is known to start nothing, or if rules or people allowed it.
type Wrap struct {
	WrapOptions

	mu     sync.Mutex
	judged map[string]context.CancelFunc // calls that people are asked about
	sent   map[string]request            // the client's requests at the server
	asked  map[string]bool               // the server's requests at the client
	work   sync.WaitGroup
}

// request is a request of the client as the server got it.
type request struct {
	message Message
	ctx     context.Context
	// own is the client's ID of a call that was sent again under another one.
	own json.RawMessage
}

// harmless are the client's requests that run nothing for the agent but read
// what the server offers, or that end something.
var harmless = set(
	"initialize", "server/discover", "ping", "logging/setLevel", "completion/complete",
	"tools/list", "prompts/list", "prompts/get",
	"resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe",
	"subscriptions/listen", "tasks/get", "tasks/list", "tasks/result", "tasks/cancel",
)

// notices are the client's notifications.
var notices = set(
	"notifications/initialized", "notifications/cancelled", "notifications/progress",
	"notifications/roots/list_changed", "notifications/tasks/status",
)

// wanted are the server's requests that the client answers.
var wanted = set("ping", "roots/list", "sampling/createMessage")

func set(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out
}

// elicitation is the method of a form.
const elicitation = "elicitation/create"

// elicitationForm is the capability that lets a server ask.
var elicitationForm = json.RawMessage(`{"form":{},"url":{}}`)

// capabilitiesKey is where the 2026 generation keeps the client's capabilities
// in every request.
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities"

// NewWrap returns a Wrap.
func NewWrap(o WrapOptions) *Wrap {
	return &Wrap{WrapOptions: o, judged: map[string]context.CancelFunc{}, sent: map[string]request{}, asked: map[string]bool{}}
}

// Decisive implements Handler.
func (w *Wrap) Decisive(method string) bool { return method == elicitation }

// ClientGone implements Handler. A call that is approved later finds the
// server's input closed.
func (w *Wrap) ClientGone() {}

// FromClient implements Handler.
func (w *Wrap) FromClient(ctx context.Context, m *Message) bool {
	switch {
	case m.IsResponse():
		return !w.expected(m)
	case !m.IsRequest():
		return w.noticed(m)
	case w.inUse(m.ID):
		w.fail(m.ID, rpcError{codeRequest, "the ID belongs to a request that is not finished"})
		return true
	case m.Method == methodCall, m.Method == methodUpdate:
		c, err := readCall(*m)
		if err != nil {
			w.fail(m.ID, err)
			return true
		}
		return w.called(ctx, m, c)
	case !harmless[m.Method]:
		w.fail(m.ID, rpcError{codeMethod, "the method " + clip(m.Method) + " does not pass, because nod cannot judge it"})
		return true
	}
	if len(m.Params) > 0 && m.Params[0] != '{' {
		w.fail(m.ID, rpcError{codeParams, "params is not an object"})
		return true
	}
	if m.Method == "initialize" {
		m.Params = withMember(m.Params, elicitationForm, "capabilities", "elicitation")
	} else {
		m.Params = capable(m.Params)
	}
	w.keep(request{message: *m, ctx: ctx})
	return false
}

// clip bounds what an error repeats.
func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60]) + "…"
	}
	return `"` + strings.ToValidUTF8(s, "") + `"`
}

// noticed takes a notification of the client.
func (w *Wrap) noticed(m *Message) bool {
	switch {
	case m.Method == methodCall, m.Method == methodUpdate, harmless[m.Method]:
		w.fail(nil, rpcError{codeRequest, "the request has no ID"})
		return true
	case !notices[m.Method]:
		w.Log.Warn("a notification of the client does not pass", "method", clip(m.Method))
		return true
	case m.Method != "notifications/cancelled":
		return false
	}
	id := requestID(m.Params)
	w.mu.Lock()
	stop := w.judged[string(id)]
	delete(w.judged, string(id))
	w.mu.Unlock()
	if stop != nil { // the server never got the call
		stop()
		return true
	}
	return false
}

// inUse reports whether a request of the client is not finished.
func (w *Wrap) inUse(id json.RawMessage) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, sent := w.sent[string(id)]
	if sent || w.judged[string(id)] != nil {
		return true
	}
	for _, r := range w.sent {
		if string(r.own) == string(id) {
			return true
		}
	}
	return false
}

// keep remembers what the server got: only that may be answered, and it can be
// sent again with what the server wanted to know.
func (w *Wrap) keep(r request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent[string(r.message.ID)] = r
}

// expected reports whether the client responds to a request of the server that
// it has seen. It cannot answer a form, which people do.
func (w *Wrap) expected(m *Message) bool {
	w.mu.Lock()
	known := w.asked[string(m.ID)]
	delete(w.asked, string(m.ID))
	w.mu.Unlock()
	if !known {
		w.Log.Warn("a response of the client does not pass, because the server did not ask the client for it")
	}
	return known
}

// FromServer implements Handler.
func (w *Wrap) FromServer(ctx context.Context, m *Message) bool {
	switch {
	case m.IsResponse():
		return w.responded(m)
	case !m.IsRequest():
		pass := strings.HasPrefix(m.Method, "notifications/")
		if !pass {
			w.Log.Warn("a notification of the server does not pass", "method", clip(m.Method))
		}
		return !pass
	case m.Method == elicitation:
		asked := *m
		w.work.Go(func() { w.answer(Message{Version: "2.0", ID: asked.ID, Result: w.elicit(ctx, asked.Params)}) })
		return true
	case !wanted[m.Method]:
		w.answer(failure(m.ID, codeMethod, "the method "+clip(m.Method)+" does not pass"))
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked[string(m.ID)] = true
	return false
}

// fail refuses a request of the client.
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
		w.tell(failure(id, codeInternal, "the result cannot be written"))
		return
	}
	w.tell(Message{Version: "2.0", ID: id, Result: raw})
}

func (w *Wrap) tell(m Message) {
	if err := w.Client.Write(m); err != nil {
		w.Log.Warn("the client did not get an answer", "error", err)
	}
}

func (w *Wrap) answer(m Message) {
	if err := w.Server.Write(m); err != nil {
		w.Log.Warn("the server did not get an answer", "error", err)
	}
}

// Wait returns once nothing is asked any more.
func (w *Wrap) Wait() { w.work.Wait() }
