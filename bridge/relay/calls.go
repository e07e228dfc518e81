package relay

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/nodbridge/nod/bridge/dialect/acp"
)

// maxRemembered is the maximum number of tool calls whose details are kept for
// an agent.
const maxRemembered = 1000

// calls stores the details of the unfinished tool calls that an agent has
// reported, because a permission request does not repeat them. Agents reuse the
// IDs of calls, so a new call replaces an old call with the same ID. The
// details are removed at the end of the call and at the end of the turn. It is
// safe for concurrent use.
type calls struct {
	mu      sync.Mutex
	details map[callKey]json.RawMessage
	order   []callKey             // oldest first
	asked   map[string]sessionAsk // requests of the client without a response, by ID
	turns   map[string]int        // running turns, by session
	loads   map[string]int        // requests that load a session, during which the agent repeats its history
	folders map[string]string     // default directory of the calls of a session
}

// callKey identifies a call on a connection.
type callKey struct{ session, id string }

// sessionAsk is a request of the client about a session. The session may be
// new.
type sessionAsk struct{ method, session, cwd string }

func newCalls() *calls {
	return &calls{details: map[callKey]json.RawMessage{}, asked: map[string]sessionAsk{}, turns: map[string]int{}, loads: map[string]int{}, folders: map[string]string{}}
}

// begins records a request about a session that the client or nod sends to the
// agent.
func (c *calls) begins(m Message) {
	var p struct {
		Session string `json:"sessionId"`
	}
	var place struct {
		Cwd string `json:"cwd"`
	}
	if !m.IsRequest() || limits.Decode(m.Params, &p) != nil {
		return
	}
	_ = limits.Decode(m.Params, &place) // empty if the value is not a text
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m.Method {
	case "session/prompt":
		c.turns[p.Session]++
	case "session/load":
		c.loads[p.Session]++
	case "session/new", "session/resume", "session/fork":
	default:
		return
	}
	c.asked[idKey(m.ID)] = sessionAsk{m.Method, p.Session, place.Cwd}
}

// ends records the response to a request of the client. The end of the last
// turn of a session ends all of its calls.
func (c *calls) ends(m Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.asked[idKey(m.ID)]
	if !ok {
		return
	}
	delete(c.asked, idKey(m.ID))
	open := c.turns
	switch a.method {
	case "session/prompt":
	case "session/load":
		open = c.loads
		c.begun(a, m)
	default:
		c.begun(a, m)
		return
	}
	if open[a.session]--; open[a.session] <= 0 {
		delete(open, a.session)
		c.forget(func(k callKey) bool { return k.session == a.session })
	}
}

// begun records the default directory of the calls of a session. The caller
// holds the lock.
func (c *calls) begun(a sessionAsk, m Message) {
	var r struct {
		Session string `json:"sessionId"`
	}
	_ = limits.Decode(m.Result, &r) // only a new session has an ID in the response
	if session := cmp.Or(r.Session, a.session); session != "" && len(m.Error) == 0 {
		c.folders[session] = a.cwd
	}
}

// folder returns the default directory of the calls of a session.
func (c *calls) folder(session string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.folders[session]
}

// prompted returns the session of the turn that a request of the client
// started.
func (c *calls) prompted(id json.RawMessage) (session string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.asked[idKey(id)]
	return a.session, ok && a.method == "session/prompt"
}

// reported stores the details of a call from an update.
func (c *calls) reported(m Message) {
	var p struct {
		Session string          `json:"sessionId"`
		Update  json.RawMessage `json:"update"`
	}
	var call struct {
		Kind   string `json:"sessionUpdate"`
		ID     string `json:"toolCallId"`
		Status string `json:"status"`
	}
	if m.Method != "session/update" || limits.Decode(m.Params, &p) != nil || limits.Decode(p.Update, &call) != nil || call.ID == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := callKey{p.Session, call.ID}
	if call.Kind == "tool_call" {
		c.forget(func(k callKey) bool { return k == key })
	}
	if c.loads[p.Session] > 0 {
		return
	}
	switch call.Status {
	case "completed", "failed", "cancelled":
		c.forget(func(k callKey) bool { return k == key })
		return
	}
	if m.repaired { // people would see bytes that differ from those of the agent
		p.Update = acp.Unreadable
	}
	c.keep(key, p.Update)
}

// keep adds an update to the details of a call. The caller holds the lock.
func (c *calls) keep(key callKey, told json.RawMessage) {
	was, known := c.details[key]
	if !known {
		c.order = append(c.order, key)
		if len(c.order) > maxRemembered {
			delete(c.details, c.order[0])
			c.order = c.order[1:]
		}
	}
	details, err := acp.Update(was, told)
	if err != nil {
		details, _ = acp.Update(was, acp.Unreadable) // both values can be read
	}
	c.details[key] = details
}

// forget drops the details of calls. The caller holds the lock.
func (c *calls) forget(which func(callKey) bool) {
	maps.DeleteFunc(c.details, func(k callKey, _ json.RawMessage) bool { return which(k) })
	c.order = slices.DeleteFunc(c.order, which)
}

// known returns the details of a call, or nil.
func (c *calls) known(session, id string) json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.details[callKey{session, id}]
}
