package relay

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// responded handles a response of the server. In protocol version 2026-07-28,
// the server may ask for input before it runs a call.
func (w *Wrap) responded(ctx context.Context, m *Message) bool {
	var in struct {
		Type     string                     `json:"resultType"`
		State    json.RawMessage            `json:"requestState"`
		Requests map[string]json.RawMessage `json:"inputRequests"`
	}
	var forms map[string]json.RawMessage
	asks := limits.Decode(m.Result, &in) == nil && in.Type == "input_required"
	if asks {
		forms, asks = formsOf(in.Requests)
	}
	w.mu.Lock()
	r, known := w.sent[idKey(m.ID)]
	delete(w.sent, idKey(m.ID))
	if len(r.own) == 0 {
		r.own = r.message.ID
	}
	asks = asks && known && r.message.Method == methodCall
	var cancel context.CancelCauseFunc
	if asks && !r.over {
		ctx, cancel = context.WithCancelCause(ctx)
		w.judged[idKey(r.own)] = judging{cancel: cancel, id: r.own} // the client can cancel it at any time
	}
	w.mu.Unlock()
	switch {
	case isNull(m.ID):
		return false
	case !known:
		w.Log.Warn("response of the server dropped: it does not belong to a request")
		return true
	case asks && r.over:
		return true
	case asks:
		left := *m
		w.work.Go(func() { w.again(ctx, cancel, r, in.State, forms, left) })
		return true
	}
	m.ID = r.own
	return false
}

// formsOf returns the parameters of forms by name. It returns false if the
// server asks for anything other than forms.
func formsOf(requests map[string]json.RawMessage) (map[string]json.RawMessage, bool) {
	out := map[string]json.RawMessage{}
	for name, raw := range requests {
		var r struct {
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if limits.Decode(raw, &r) != nil || r.Method != elicitation {
			return nil, false
		}
		out[name] = r.Params
	}
	return out, len(out) > 0
}

// again sends a call a second time, with people's answers and a new ID. If chat
// does not answer one of the forms, the client gets them all.
func (w *Wrap) again(ctx context.Context, cancel context.CancelCauseFunc, r request, state json.RawMessage, forms map[string]json.RawMessage, left Message) {
	defer cancel(nil)
	told := w.reassure(ctx, []json.RawMessage{progressToken(r.message.Params)})
	answers, params, err := w.elicitAll(ctx, forms)
	told()
	w.order.Lock()
	defer w.order.Unlock()
	w.mu.Lock()
	_, waiting := w.judged[idKey(r.own)]
	if waiting = waiting && ctx.Err() == nil; waiting {
		delete(w.judged, idKey(r.own))
	}
	w.mu.Unlock()
	switch {
	case !waiting: // the client has cancelled the call
		return
	case err != nil && w.leaves(params, err):
		left.ID = r.own
		w.tell(left)
		return
	case err != nil:
		w.reply(r.own, refusal("No person has answered a form of the tool. "+bridge.PublicText(err)))
		return
	}
	raw, err := encode(answers)
	if err != nil {
		w.fail(r.own, rpcError{codeInternal, "the answers cannot be encoded"})
		return
	}
	r.message.Params = withMember(r.message.Params, raw, "inputResponses")
	if len(state) > 0 {
		r.message.Params = withMember(r.message.Params, state, "requestState")
	}
	r.message.ID = json.RawMessage(`"nod-` + uuid.NewString() + `"`) // no client can guess the ID
	w.keep(r)
	w.pass(r.message)
}

// elicitAll shows forms in chat, one at a time. If it fails, it returns the
// parameters of the unanswered form.
func (w *Wrap) elicitAll(ctx context.Context, forms map[string]json.RawMessage) (answers map[string]json.RawMessage, unanswered json.RawMessage, err error) {
	answers = map[string]json.RawMessage{}
	for name, params := range forms {
		if answers[name], err = w.elicit(ctx, params); err != nil {
			return nil, params, err
		}
	}
	return answers, nil, nil
}

// form is a form of the server that waits for an answer in chat.
type form struct {
	cancel context.CancelCauseFunc
	task   string // the task of the form, if it does not belong to a call
}

// taskOf returns the task that a request of the server belongs to, or "".
func taskOf(params json.RawMessage) string {
	var p struct {
		Meta struct {
			Task struct {
				ID string `json:"taskId"`
			} `json:"io.modelcontextprotocol/related-task"`
		} `json:"_meta"`
	}
	_ = limits.Decode(params, &p) // a form without a task belongs to a call
	return p.Meta.Task.ID
}

// withdrawForms closes the forms that which selects.
func (w *Wrap) withdrawForms(why Withdrawal, which func(form) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.forms {
		if which(f) {
			f.cancel(why)
		}
	}
}

// form shows a form in chat. If no one answers it in chat, the client shows it,
// or the server gets an error.
func (w *Wrap) form(ctx context.Context, cancel context.CancelCauseFunc, m Message) {
	defer cancel(nil)
	told := w.reassure(ctx, w.running())
	answer, err := w.elicit(ctx, m.Params)
	told()
	left := err != nil && ctx.Err() == nil && w.leaves(m.Params, err)
	w.mu.Lock()
	_, waiting := w.forms[idKey(m.ID)] // the server has not cancelled it
	delete(w.forms, idKey(m.ID))
	if waiting && left {
		w.asked[idKey(m.ID)] = true
	}
	w.mu.Unlock()
	switch {
	case !waiting:
	case err == nil:
		w.answer(Message{Version: "2.0", ID: m.ID, Result: answer})
	case left:
		w.tell(m)
	default:
		why := context.Cause(ctx)
		if why == nil {
			why = err
		} else if why != withdrawnByClient && why != withdrawnTask { // the server is gone or about to end
			return
		}
		w.answer(failure(m.ID, codeInternal, "no person has answered the form: "+bridge.PublicText(why)))
	}
}

// cancelForm closes a form that waits in chat. It returns false if the server
// cancels a request that the client has.
func (w *Wrap) cancelForm(id json.RawMessage) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f, waits := w.forms[idKey(id)]; waits {
		delete(w.forms, idKey(id))
		f.cancel(withdrawnByServer)
	}
	return !w.asked[idKey(id)]
}

// elicit shows a form in chat, and returns the answer from a person.
func (w *Wrap) elicit(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	name, err := encode(w.Name)
	if err != nil {
		return nil, err
	}
	return w.Approver.Ask(ctx, "mcp_elicitation", w.Query, withMember(params, name, "serverName"))
}

// leaves reports whether the client shows a form that no one answered in chat.
func (w *Wrap) leaves(params json.RawMessage, cause error) bool {
	var p struct {
		Mode string `json:"mode"`
	}
	_ = limits.Decode(params, &p) // a request without a mode is a form
	w.mu.Lock()
	shows := w.shows
	w.mu.Unlock()
	can, err := members(shows)
	attended := err == nil && len(shows) > 0
	_, url := can["url"]
	if _, form := can["form"]; p.Mode == "url" && !url || p.Mode != "url" && url && !form {
		attended = false // an empty capability means forms
	}
	u := dialect.Unasked{Attended: attended}
	w.Log.Warn("form not answered in chat", "left to the client", u.Leaves(), "error", cause)
	return u.Leaves()
}

// capability records whether the client can show forms, before nod adds the
// capability.
func (w *Wrap) capability(m Message) {
	p, err := members(m.Params)
	if err != nil {
		return
	}
	all := p["capabilities"]
	if m.Method != "initialize" {
		meta, err := members(p["_meta"])
		sent, known := meta[capabilitiesKey]
		if err != nil || !known {
			return
		}
		all = sent
	}
	can, err := members(all)
	if err != nil {
		return
	}
	w.mu.Lock()
	w.shows = can["elicitation"]
	w.mu.Unlock()
}

// capable adds the elicitation capability to metadata that lists capabilities.
// It accepts the parameters of a request, or the metadata itself.
func capable(raw json.RawMessage) json.RawMessage {
	m, err := members(raw)
	if err != nil {
		return raw
	}
	if _, ok := m[capabilitiesKey]; ok {
		return withMember(raw, elicitationForm, capabilitiesKey, "elicitation")
	}
	if meta, ok := m["_meta"]; ok {
		return withMember(raw, capable(meta), "_meta")
	}
	return raw
}
