package relay

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect/codex"
	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// greetTime is the time that Codex has to answer the first messages.
const greetTime = 10 * time.Second

// codexVersion finds the version in the user agent that Codex reports.
var codexVersion = lazyregexp.New(`/(\d+\.\d+\.\d+[0-9A-Za-z.+-]*)`)

// attachment is one connection of a Companion. One goroutine uses it, except
// for send.
type attachment struct {
	*Companion
	ctx     context.Context
	conn    Conn
	version string
	ready   bool // Codex has answered the first messages

	next    int64
	calls   map[string]func(Message) error
	threads map[string]*followed
	changes map[itemKey]json.RawMessage // of files

	listens  map[string]context.CancelFunc // receivers of messages, by thread
	observes map[string]*observed          // threads whose state nod reports
	ignores  map[string]bool               // threads that do not belong to a person
	delivers *deliveries
}

// followed is a thread that the connection follows.
type followed struct {
	subscribed bool
	early      []Message // requests that arrived before the thread's history
}

// Attach serves one connection until it ends. Its error is CodeUnsupported if
// this version of Codex uses another protocol.
func (c *Companion) Attach(ctx context.Context, conn Conn) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := &attachment{
		Companion: c, ctx: ctx, conn: conn, version: "of an unknown version",
		calls: map[string]func(Message) error{}, threads: map[string]*followed{}, changes: map[itemKey]json.RawMessage{},
		listens: map[string]context.CancelFunc{}, observes: map[string]*observed{}, ignores: map[string]bool{},
		delivers: &deliveries{},
	}
	defer c.detach(a)
	slow := time.AfterFunc(greetTime, func() { cancel(bridge.Errorf(bridge.CodeUnavailable, "Codex did not answer in time")) })
	defer slow.Stop()
	err := a.greet()
	for err == nil {
		var line []byte
		if line, err = conn.Read(ctx); err == nil {
			err = a.heard(line)
		}
		if a.ready {
			slow.Stop()
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func (a *attachment) unsupported(what string) error {
	return bridge.Errorf(bridge.CodeUnsupported, "cannot work with this version of Codex: %s", what).
		WithHint("update nod and Codex; until then, use the hook: nod init codex")
}

func (a *attachment) send(ctx context.Context, v any) error {
	b, err := encode(v)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), greetTime)
	defer cancel()
	return a.conn.Write(ctx, b)
}

// call sends a request of nod, and passes the response to then.
func (a *attachment) call(method string, params any, then func(Message) error) error {
	a.next++
	id := strconv.FormatInt(a.next, 10)
	raw, err := encode(params)
	if err != nil {
		return err
	}
	a.calls[id] = then
	return a.send(a.ctx, Message{ID: json.RawMessage(id), Method: method, Params: raw})
}

// result decodes the result of a call. If the call failed, nod does not support
// this version of Codex.
func (a *attachment) result(m Message, of string, v any) error {
	if len(m.Error) > 0 {
		return a.unsupported(of + ": " + failureText(m))
	}
	if err := limits.Decode(m.Result, v); err != nil {
		return a.unsupported(of + ": " + err.Error())
	}
	return nil
}

// failureText returns the text of an error response.
func failureText(m Message) string {
	var e rpcError
	_ = limits.Decode(m.Error, &e) // an error without a text is still an error
	text, _, _ := strings.Cut(e.Message, ", expected one of")
	return text
}

// greet introduces nod, and finds the threads that are already waiting.
func (a *attachment) greet() error {
	type info struct {
		Name    string `json:"name"`
		Title   string `json:"title"`
		Version string `json:"version"`
	}
	hello := map[string]any{
		"clientInfo":   info{"nod_companion", "nod", "1"},
		"capabilities": map[string]bool{"experimentalApi": true},
	}
	return a.call("initialize", hello, func(m Message) error {
		var r struct {
			UserAgent string `json:"userAgent"`
		}
		if err := a.result(m, "initialize", &r); err != nil {
			return err
		}
		if v := codexVersion.FindStringSubmatch(r.UserAgent); v != nil {
			a.version = v[1]
		}
		if TooOldCodex(a.version) {
			return a.unsupported("it is Codex " + a.version + ", and nod works with " + OldestCodex + " and later")
		}
		if err := a.send(a.ctx, Message{Method: "initialized"}); err != nil {
			return err
		}
		return a.call("thread/loaded/list", struct{}{}, a.loaded)
	})
}

// loaded reads the list of threads. After that, the connection is ready.
func (a *attachment) loaded(m Message) error {
	var r struct {
		Data []string `json:"data"`
	}
	if err := a.result(m, "thread/loaded/list", &r); err != nil {
		return err
	}
	a.ready = true
	a.Attached(a.version)
	time.AfterFunc(rebindTime, func() {
		if a.ctx.Err() == nil {
			a.dropOrphans()
		}
	})
	for _, thread := range r.Data {
		if err := a.follow(thread); err != nil {
			return err
		}
	}
	return nil
}

// named holds the parameters of a call about a thread.
type named struct {
	Thread string `json:"threadId"`
}

// follow subscribes to a thread of a person if the thread waits for an answer.
// The server then repeats the pending requests.
func (a *attachment) follow(thread string) error {
	if a.threads[thread] != nil {
		return nil
	}
	a.threads[thread] = &followed{}
	return a.call("thread/read", named{thread}, func(m Message) error {
		var r struct {
			Thread struct {
				Ephemeral bool   `json:"ephemeral"`
				Source    string `json:"threadSource"`
				Status    status `json:"status"`
			} `json:"thread"`
		}
		switch t := &r.Thread; {
		case len(m.Error) > 0 && !strings.Contains(failureText(m), "unknown variant"):
			delete(a.threads, thread) // the thread may have closed
			return nil
		default:
			if err := a.result(m, "thread/read", &r); err != nil {
				return err
			}
			// threads that only generate a title have another source
			person := !t.Ephemeral && (t.Source == "user" || t.Source == "")
			if person {
				a.listen(thread)
				a.observe(thread, t.Status)
			} else {
				a.ignores[thread] = true
			}
			if !person || !t.Status.waits() {
				delete(a.threads, thread)
				return nil
			}
		}
		return a.call("thread/resume", named{thread}, func(m Message) error { return a.resumed(thread, m) })
	})
}

// status is the state of a thread.
type status struct {
	Type  string   `json:"type"`
	Flags []string `json:"activeFlags"`
}

func (s status) waits() bool {
	return slices.Contains(s.Flags, "waitingOnApproval") || slices.Contains(s.Flags, "waitingOnUserInput")
}

// resumed reads the history of a thread. It holds the file changes, which a
// request does not repeat.
func (a *attachment) resumed(thread string, m Message) error {
	f := a.threads[thread]
	if f == nil {
		return nil
	}
	if len(m.Error) > 0 {
		delete(a.threads, thread)
		switch text := failureText(m); {
		case strings.Contains(text, "unknown variant"):
			return a.unsupported("thread/resume: " + text)
		case !strings.Contains(text, "no rollout found"): // for example, a thread without a turn
			a.Log.Warn("thread not followed; its requests are left to the terminal", "thread", thread, "error", text)
		}
		return nil
	}
	var r struct {
		Thread struct {
			Turns []struct {
				ID    string `json:"id"`
				Items []item `json:"items"`
			} `json:"turns"`
		} `json:"thread"`
	}
	if err := a.result(m, "thread/resume", &r); err != nil {
		return err
	}
	for _, t := range r.Thread.Turns {
		for _, i := range t.Items {
			a.note(thread, t.ID, i)
		}
	}
	f.subscribed = true
	early := f.early
	f.early = nil
	for _, m := range early {
		a.asked(m)
	}
	return nil
}

// item is a step of a turn.
type item struct {
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	Status  string          `json:"status"`
	Changes json.RawMessage `json:"changes"`
}

// itemKey identifies an item. Some models restart the numbers of items at 0 in
// each turn.
type itemKey struct{ thread, turn, id string }

// note stores the changes of an item. It replaces an older item with the same
// ID.
func (a *attachment) note(thread, turn string, i item) {
	key := itemKey{thread, turn, i.ID}
	delete(a.changes, key)
	if i.Type == "fileChange" && i.Status == "inProgress" && len(i.Changes) > 0 {
		a.changes[key] = i.Changes
	}
}

// heard handles a message of the server. It ignores messages that it does not
// understand.
func (a *attachment) heard(line []byte) error {
	m, err := parse(line, false, func(method string) bool { return slices.Contains(codex.Methods, method) })
	if err != nil {
		a.Log.Warn("message of Codex not understood; if it is a request, it is left to the terminal", "error", err)
		return nil
	}
	switch {
	case m.IsResponse() && strings.HasPrefix(string(m.ID), deliveryMark):
		a.delivers.answered(m)
		return nil
	case m.IsResponse():
		then := a.calls[string(m.ID)]
		delete(a.calls, string(m.ID))
		if then == nil {
			return nil
		}
		return then(m)
	case m.IsRequest():
		if slices.Contains(codex.Methods, m.Method) {
			a.asked(m)
		}
		return nil
	}
	return a.told(m)
}

// asked asks people about a request of a thread that the connection follows.
func (a *attachment) asked(m Message) {
	var p struct {
		Thread string `json:"threadId"`
		Turn   string `json:"turnId"`
		Item   string `json:"itemId"`
	}
	if limits.Decode(m.Params, &p) != nil || a.threads[p.Thread] == nil {
		return
	}
	if f := a.threads[p.Thread]; !f.subscribed {
		f.early = append(f.early, m)
		return
	}
	key, body, err := a.body(m, a.changes[itemKey{p.Thread, p.Turn, p.Item}])
	if err != nil {
		a.Log.Warn("request left to the terminal", "method", m.Method, "error", bridge.PublicText(err))
		return
	}
	a.open(a.ctx, a, m, raced{key: key, thread: p.Thread, turn: p.Turn, item: p.Item}, body)
}

// errUnseen is the error of a request whose changes people cannot see.
var errUnseen = errors.New("no changes were reported")

// body returns the text that people see, and a key that only repeats of the
// request share. The key consists of the request's ID, its thread and its
// content.
func (a *attachment) body(m Message, changes json.RawMessage) (key string, body []byte, err error) {
	if m.Method == "item/fileChange/requestApproval" && len(changes) == 0 {
		return "", nil, errUnseen
	}
	body, err = encode(codex.Call{ID: m.ID, Method: m.Method, Params: m.Params, Changes: changes})
	if err != nil {
		return "", nil, err
	}
	t, err := codex.Request(body)
	if err != nil {
		return "", nil, err
	}
	r := t.Exchanges[0].Request
	if r.CallID.ID == "" {
		a.next++
		return "one connection: " + strconv.FormatInt(a.next, 10), body, nil
	}
	content, err := bridge.EncodeJSON(r)
	return r.CallID.ID + " " + string(content), body, err
}
