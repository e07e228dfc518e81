package relay

import (
	"encoding/json"
	"maps"

	"github.com/nodbridge/nod/bridge"
)

// event holds the parameters that nod reads from notifications of the server.
type event struct {
	Thread  string          `json:"threadId"`
	Turn    string          `json:"turnId"`
	ItemID  string          `json:"itemId"`
	Item    item            `json:"item"`
	Status  status          `json:"status"`
	Request json.RawMessage `json:"requestId"`
	Started struct {
		ID string `json:"id"`
	} `json:"thread"`
	Of struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	} `json:"turn"`
}

// told handles a notification of the server.
func (a *attachment) told(m Message) error {
	var e event
	switch m.Method {
	case "thread/started", "thread/status/changed", "thread/closed", "item/started", "item/completed", "item/commandExecution/outputDelta",
		"turn/completed", "serverRequest/resolved":
		if limits.Decode(m.Params, &e) != nil {
			return nil
		}
	default:
		return nil
	}
	switch m.Method {
	case "thread/started":
		return a.meet(e.Started.ID)
	case "thread/status/changed":
		a.changed(e.Thread, e.Status)
		if e.Status.waits() {
			return a.follow(e.Thread)
		}
		if e.Status.Type != "active" {
			return a.leave(e.Thread)
		}
		return a.meet(e.Thread)
	case "thread/closed":
		a.changed(e.Thread, status{Type: "notLoaded"})
		delete(a.ignores, e.Thread)
		a.deafen(e.Thread)
		return a.leave(e.Thread)
	case "item/started":
		a.note(e.Thread, e.Turn, e.Item)
	case "item/completed":
		delete(a.changes, itemKey{e.Thread, e.Turn, e.Item.ID})
		if o := outcome(e.Item.Status); o != "" {
			a.found(o, func(r *raced) bool { return r.of(e.Thread, e.Turn, e.Item.ID) })
		}
	case "item/commandExecution/outputDelta":
		a.found(bridge.ReasonAllowed, func(r *raced) bool { return r.resolved && r.of(e.Thread, e.Turn, e.ItemID) })
	case "turn/completed":
		maps.DeleteFunc(a.changes, func(k itemKey, _ json.RawMessage) bool { return k.thread == e.Thread && k.turn == e.Of.ID })
		if e.Of.Status == "interrupted" {
			a.found(bridge.ReasonDismissed, func(r *raced) bool { return r.thread == e.Thread && r.turn == e.Of.ID })
		}
	case "serverRequest/resolved":
		id := idKey(cleanID(e.Request))
		a.each(a, func(r *raced) bool { return r.thread == e.Thread && idKey(r.id) == id && !r.resolved }, a.settle)
	}
	return nil
}

// meet looks up a thread that nod does not know yet.
func (a *attachment) meet(thread string) error {
	if a.Reporter == nil || thread == "" || a.observes[thread] != nil || a.ignores[thread] {
		return nil
	}
	return a.follow(thread)
}

// leave unsubscribes from a thread without a turn, so that Codex can unload it.
// Such a thread has no pending request.
func (a *attachment) leave(thread string) error {
	f := a.threads[thread]
	if f == nil {
		return nil
	}
	delete(a.threads, thread)
	maps.DeleteFunc(a.changes, func(k itemKey, _ json.RawMessage) bool { return k.thread == thread })
	a.each(a, func(r *raced) bool { return r.thread == thread && !r.resolved }, a.settle)
	if !f.subscribed {
		return nil
	}
	return a.call("thread/unsubscribe", named{thread}, func(Message) error { return nil })
}

// outcome returns the result of the approval according to the final status of
// an item. An item also fails if another client answered with an error.
func outcome(status string) string {
	switch status {
	case "completed":
		return bridge.ReasonAllowed
	case "declined":
		return bridge.ReasonDismissed
	}
	return ""
}

// found records the outcome of the matching requests, and closes the cards of
// resolved requests.
func (a *attachment) found(outcome string, matches func(*raced) bool) {
	a.each(a, matches, func(r *raced) {
		if r.outcome == "" {
			r.outcome = outcome
		}
		if r.resolved {
			a.conclude(r)
		}
	})
}
