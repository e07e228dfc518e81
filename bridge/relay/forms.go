package relay

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"
)

// responded handles a response of the server. In protocol version 2026-07-28,
// the server may ask for input before it runs a call.
func (w *Wrap) responded(m *Message) bool {
	w.mu.Lock()
	r, known := w.sent[string(m.ID)]
	delete(w.sent, string(m.ID))
	w.mu.Unlock()
	switch {
	case isNull(m.ID):
		return false
	case !known:
		w.Log.Warn("response of the server dropped: it does not belong to a request")
		return true
	case len(r.own) == 0:
		r.own = m.ID
	}
	var in struct {
		Type     string                     `json:"resultType"`
		State    json.RawMessage            `json:"requestState"`
		Requests map[string]json.RawMessage `json:"inputRequests"`
	}
	if r.message.Method == methodCall && limits.Decode(m.Result, &in) == nil && in.Type == "input_required" {
		if forms, ok := formsOf(in.Requests); ok {
			w.work.Go(func() { w.again(r, in.State, forms) })
			return true
		}
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

// again sends a call a second time, with people's answers and a new ID.
func (w *Wrap) again(r request, state json.RawMessage, forms map[string]json.RawMessage) {
	answers := map[string]json.RawMessage{}
	for name, params := range forms {
		answers[name] = w.elicit(r.ctx, params)
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

// elicit shows a form in chat. If chat cannot show the form, it returns a
// cancellation, which servers do not treat as an answer.
func (w *Wrap) elicit(ctx context.Context, params json.RawMessage) json.RawMessage {
	name, err := encode(w.Name)
	var answer json.RawMessage
	if err == nil {
		answer, err = w.Approver.Ask(ctx, "mcp_elicitation", w.Query, withMember(params, name, "serverName"))
	}
	if err != nil {
		if ctx.Err() == nil {
			w.Log.Warn("form cancelled", "error", err)
		}
		return json.RawMessage(`{"action":"cancel"}`)
	}
	return answer
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
