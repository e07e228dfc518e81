package relay

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/url"
	"slices"
	"sync"

	"github.com/nodbridge/nod/bridge/dialect/acp"
)

// Agent is the Handler between an agent that speaks the Agent Client Protocol
// and its client, such as an editor. It sends the agent's requests to chat as
// well. The first answer counts. The zero value is not usable; see NewACP.
type Agent struct {
	asker  Asker
	query  url.Values
	only   bool // if set, only chat sees the requests
	client *Side
	server *Side
	log    *slog.Logger
	// attendant follows the sessions. It is nil if nod does not report them.
	attendant *attendant
	calls     *calls

	mu      sync.Mutex
	waiting map[string]*waiting
	// owed holds the requests for which the client owes a response. The value is
	// true if the agent has got another one, so that the response is dropped. The
	// agent cannot use the ID again before the response.
	owed map[string]bool
	work sync.WaitGroup
}

// waiting is a request of the agent that the client or chat may answer.
type waiting struct {
	cancel  context.CancelCauseFunc
	message Message
	session string
	alone   bool // chat cannot answer
	// failed is the error with which the client has answered. Chat may still
	// answer.
	failed *Message
}

// Reasons that a card of an Agent closes without a decision.
const (
	withdrawnByAgent Withdrawal = "the agent cancelled the request"
	withdrawnTurn    Withdrawal = "the turn was cancelled in the editor"
	withdrawnEditor  Withdrawal = "the editor was closed"
	withdrawnStop    Withdrawal = "the session was stopped"
)

// Options configures an Agent.
type Options struct {
	Asker Asker
	// Query holds the options of every request: route, timeout and grace.
	Query url.Values
	// OnlyChat hides requests from the client.
	OnlyChat bool
	// Sessions receives reports about the sessions of an ACP agent. It also
	// provides the stops and the messages from people. It may be nil.
	Sessions       Sessions
	Client, Server *Side
	Log            *slog.Logger
}

// NewACP returns an Agent.
func NewACP(o Options) *Agent {
	a := &Agent{
		asker: o.Asker, query: o.Query, only: o.OnlyChat, client: o.Client, server: o.Server, log: o.Log,
		waiting: map[string]*waiting{}, owed: map[string]bool{}, calls: newCalls(),
	}
	if o.Sessions != nil {
		a.attendant = attend(a, o.Sessions)
	}
	return a
}

// closed returns the message that informs the client that a request was
// answered in chat.
func closed(id json.RawMessage) any {
	return notification("$/cancel_request", map[string]json.RawMessage{"requestId": id})
}

// FromServer implements Handler for the messages from the agent.
func (a *Agent) FromServer(ctx context.Context, m *Message) bool {
	a.calls.reported(*m)
	if m.IsResponse() {
		a.calls.ends(*m)
	}
	if a.attendant != nil && a.attendant.fromServer(*m) {
		return true
	}
	switch {
	case m.Method == "$/cancel_request":
		a.settle(requestID(m.Params))
		return false
	case !m.IsRequest():
		return false
	}
	var p struct {
		Session string `json:"sessionId"`
	}
	_ = limits.Decode(m.Params, &p) // other messages have no session
	decisive := slices.Contains(acp.Methods, m.Method)
	a.mu.Lock()
	if _, owed := a.owed[idKey(m.ID)]; owed || a.waiting[idKey(m.ID)] != nil { // the answers to the two requests could be confused
		a.mu.Unlock()
		f := failure(m.ID, codeRequest, "id: already used by an unfinished request")
		f.Version = m.Version
		a.write(a.server, f)
		return true
	}
	if !decisive || !a.only {
		a.owed[idKey(m.ID)] = false
	}
	if !decisive {
		a.mu.Unlock()
		return false
	}
	ctx, cancel := context.WithCancelCause(ctx)
	a.waiting[idKey(m.ID)] = &waiting{cancel: cancel, message: *m, session: p.Session}
	a.mu.Unlock()
	request := *m
	body, err := a.body(request, p.Session) // must run before another call gets its ID
	a.work.Go(func() { a.ask(ctx, request, body, err) })
	return a.only
}

// FromClient implements Handler for the messages of the client.
func (a *Agent) FromClient(_ context.Context, m *Message) bool {
	if a.attendant != nil && a.attendant.fromClient(*m) {
		return true
	}
	a.calls.begins(*m)
	switch {
	case m.IsResponse():
		return a.response(*m)
	case m.Method == "session/cancel", m.Method == "session/close":
		var p struct {
			Session string `json:"sessionId"`
		}
		if limits.Decode(m.Params, &p) == nil {
			a.cancelTurn(p.Session)
		}
	case m.Method == "$/cancel_request":
		if session, ok := a.calls.prompted(requestID(m.Params)); ok {
			a.cancelTurn(session)
		}
	}
	return false
}

// response handles a response of the client. It returns true if the agent must
// not get the response, because chat answered first, or because the response is
// an error. An error decides nothing while chat can still answer.
func (a *Agent) response(m Message) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	w, late := a.waiting[idKey(m.ID)], a.owed[idKey(m.ID)]
	delete(a.owed, idKey(m.ID))
	switch {
	case w == nil:
		return late
	case len(m.Error) > 0 && !w.alone:
		w.failed = &m
		a.log.Warn("the client cannot show a request; chat answers", "method", w.message.Method, "error", failureText(m))
		return true
	}
	delete(a.waiting, idKey(m.ID))
	w.cancel(Withdrawal(acp.Settled(w.message.Method, w.message.Params, m.Result)))
	return false
}

// drops records that the agent has got a response other than that of the client.
// It returns false if the client does not owe one. The caller holds the lock.
func (a *Agent) drops(id string) bool {
	_, owed := a.owed[id]
	if owed {
		a.owed[id] = true
	}
	return owed
}

// settle cancels the request in chat because an answer is no longer needed.
func (a *Agent) settle(id json.RawMessage) {
	a.mu.Lock()
	w := a.waiting[idKey(id)]
	delete(a.waiting, idKey(id))
	a.mu.Unlock()
	if w != nil {
		w.cancel(withdrawnByAgent)
	}
}

// cancelTurn closes the cards of a session whose turn the client has cancelled.
// It answers the requests that the client has not received as cancelled. The
// client answers all other requests.
func (a *Agent) cancelTurn(session string) {
	a.mu.Lock()
	var hidden []*waiting
	for id, w := range a.waiting {
		if w.session != session {
			continue
		}
		w.alone = true
		w.cancel(withdrawnTurn)
		if _, shown := a.owed[id]; !shown {
			hidden = append(hidden, w)
			delete(a.waiting, id)
		}
	}
	a.mu.Unlock()
	for _, w := range hidden {
		a.write(a.server, response{w.message.Version, w.message.ID, acp.Gone(w.message.Method)})
	}
}

// stop cancels the turn of an ACP session, and its pending requests on both
// sides.
func (a *Agent) stop(session string) {
	a.mu.Lock()
	open := map[*waiting]bool{} // whether the client has received it
	for id, w := range a.waiting {
		if w.session == session {
			w.cancel(withdrawnStop)
			delete(a.waiting, id)
			open[w] = a.drops(id)
		}
	}
	a.mu.Unlock()
	a.write(a.server, notification("session/cancel", map[string]string{"sessionId": session}))
	for w, shown := range open {
		a.write(a.server, response{w.message.Version, w.message.ID, acp.Gone(w.message.Method)})
		if shown {
			a.write(a.client, closed(w.message.ID))
		}
	}
}

// ClientGone implements Handler. It denies the agent's pending requests,
// because the client can no longer answer them.
func (a *Agent) ClientGone() {
	a.mu.Lock()
	open := a.waiting
	a.waiting = map[string]*waiting{}
	a.mu.Unlock()
	for _, w := range open {
		w.cancel(withdrawnEditor)
		a.write(a.server, response{w.message.Version, w.message.ID, acp.Gone(w.message.Method)})
	}
}

// Decisive implements Handler.
func (a *Agent) Decisive(method string) bool { return slices.Contains(acp.Methods, method) }

type response struct {
	Version string          `json:"jsonrpc,omitempty"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result"`
}

func (a *Agent) write(to *Side, v any) {
	if err := to.Write(v); err != nil {
		a.log.Warn("message not sent", "error", err)
	}
}

// ask sends a request to chat, and answers the agent if chat answers first.
func (a *Agent) ask(ctx context.Context, m Message, body []byte, err error) {
	var answer json.RawMessage
	if err == nil {
		answer, err = a.asker.Ask(ctx, "acp", a.query, body)
	}
	a.mu.Lock()
	w := a.waiting[idKey(m.ID)]
	a.mu.Unlock()
	if w != nil && err == nil && a.attendant != nil && isCancelled(answer) {
		a.attendant.requestCancelled(w.session) // a stop answers the request itself
	}
	a.mu.Lock()
	w = a.waiting[idKey(m.ID)]
	first := w != nil && err == nil && ctx.Err() == nil // or the turn was cancelled
	shown := false
	if first {
		delete(a.waiting, idKey(m.ID))
		shown = a.drops(idKey(m.ID))
	}
	a.mu.Unlock()
	switch {
	case first:
		a.write(a.server, response{m.Version, m.ID, answer})
		if shown {
			a.write(a.client, closed(m.ID))
		}
	case ctx.Err() != nil: // answered by the client, or cancelled by the agent
	case err != nil:
		a.leave(m, err)
	}
}

// leave leaves a request to the client, because chat does not answer it. If the
// client has failed as well, the agent gets its error.
func (a *Agent) leave(m Message, cause error) {
	a.log.Warn("request not answered in chat; left to the client", "method", m.Method, "error", cause)
	a.mu.Lock()
	w := a.waiting[idKey(m.ID)]
	var failed *Message
	show := false
	if w != nil {
		if failed = w.failed; failed != nil {
			delete(a.waiting, idKey(m.ID))
		}
		_, shown := a.owed[idKey(m.ID)]
		if show = failed == nil && !shown; show {
			a.owed[idKey(m.ID)] = false
		}
		w.alone = true
	}
	a.mu.Unlock()
	switch {
	case failed != nil:
		a.write(a.server, *failed)
	case show:
		a.write(a.client, m)
	}
}

// isCancelled reports whether the answer to an ACP permission request says that
// its turn was cancelled.
func isCancelled(answer json.RawMessage) bool {
	var o struct {
		Outcome struct {
			Outcome string `json:"outcome"`
		} `json:"outcome"`
	}
	return json.Unmarshal(answer, &o) == nil && o.Outcome.Outcome == "cancelled"
}

// body returns the request with the details of its tool call, and the directory of
// its session.
func (a *Agent) body(m Message, session string) ([]byte, error) {
	out := map[string]json.RawMessage{"id": m.ID, "params": m.Params}
	name, err := encode(m.Method)
	if err != nil {
		return nil, err
	}
	out["method"] = name
	type named struct {
		ID string `json:"toolCallId"`
	}
	var p struct {
		ToolCall named `json:"toolCall"`
		Subject  struct {
			ToolCall named `json:"toolCall"`
		} `json:"subject"` // of the second protocol version
	}
	_ = limits.Decode(m.Params, &p) // without parameters, there is nothing to add
	if p.ToolCall.ID == "" {
		p.ToolCall = p.Subject.ToolCall
	}
	if call := a.calls.known(session, p.ToolCall.ID); len(call) > 0 {
		out["toolCall"] = call
	}
	if folder := a.calls.folder(session); folder != "" {
		if out["cwd"], err = encode(folder); err != nil {
			return nil, err
		}
	}
	return encode(out)
}

// Wait waits until no request is pending in chat, and then reports the end of
// the sessions to the daemon. It is called when the client or the agent is
// gone.
func (a *Agent) Wait() {
	a.work.Wait()
	if a.attendant != nil {
		a.attendant.close()
	}
}
