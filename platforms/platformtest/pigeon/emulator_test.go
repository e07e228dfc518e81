package pigeon

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// Emulated makes emulators of lofts.
var Emulated = sandbox.Kind{
	Name: Kind.Name, Account: account, Controls: controls,
	New: func(h *core.Hub, members []core.Account, o sandbox.Options) core.Service {
		e := &emulator{Base: core.NewBase(h, Kind.Name, members), callback: o.Callbacks[Kind.Name]}
		e.add("loft-1")
		return e
	},
}

// account returns the perch of a member.
func account(m sandbox.Member) string { return "P" + strconv.FormatInt(m.Telegram, 10) }

// emulator is a sandbox's loft: it keeps the messages, and lets members click.
type emulator struct {
	*core.Base
	callback string
}

func (e *emulator) add(id string) *core.Chat {
	c := core.NewChat(id, id, func(m raw.Object) string { return raw.Str(m, "id") })
	e.Chats[id] = &c
	return &c
}

// ServeHTTP implements http.Handler: a bot sends a message, or changes the one that
// has an ID.
func (e *emulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	failed := func(status int, name string) { http.Error(w, name, status) }
	if w = e.Misbehave(w, r, "send", func(int) { failed(http.StatusTooManyRequests, "slower") }, failed); w == nil {
		return
	}
	var m raw.Object
	if r.Header.Get("Authorization") != "Bearer grain" || json.NewDecoder(r.Body).Decode(&m) != nil {
		http.Error(w, "forbidden", http.StatusForbidden)
		return
	}
	if e.put(m) {
		raw.Write(w, http.StatusOK, m)
	} else {
		http.Error(w, "no such message", http.StatusNotFound)
	}
	core.Lose(w)
}

// put stores a message, and reports whether it is new or exists.
func (e *emulator) put(m raw.Object) bool {
	e.Lock()
	defer e.Unlock()
	c := e.Chats[raw.Str(m, "to")]
	if c == nil {
		c = e.add(raw.Str(m, "to"))
	}
	if raw.Str(m, "id") == "" {
		m["id"] = "m" + strconv.FormatInt(e.Next(), 10)
		c.Add(m)
	} else if n := c.Find(raw.Str(m, "id")); n >= 0 {
		c.Messages[n] = m
	} else {
		return false
	}
	e.Touch()
	return true
}

func controls(m raw.Object) []core.Control {
	var out []core.Control
	for _, b := range raw.Objects(m, "buttons") {
		out = append(out, core.Control{ID: raw.Str(b, "token"), Label: raw.Str(b, "label"), Kind: "button"})
	}
	return out
}

// Controls implements core.Screen.
func (e *emulator) Controls(m raw.Object) []core.Control { return controls(m) }

// Inputs implements core.Screen: there are no modals.
func (e *emulator) Inputs(string) ([]core.Input, bool) { return nil, false }

// Pick implements core.Screen: there are no options.
func (e *emulator) Pick(context.Context, string, core.Place, []string, string) (core.Reaction, error) {
	return core.Reaction{}, e.CannotDo("pick")
}

// Act implements core.Service: a member clicks a button.
func (e *emulator) Act(ctx context.Context, a core.Action) (core.Reaction, error) {
	m, err := e.Member(a.As)
	if err != nil || a.Do != "press" {
		return core.Reaction{}, e.CannotDo(a.Do)
	}
	body, err := json.Marshal(click{m.ID, a.Control, a.Channel, a.Message})
	if err != nil {
		return core.Reaction{}, err
	}
	times, err := e.Event(ctx, "event_drop")
	if err != nil {
		return core.Reaction{Warning: core.Loading}, nil
	}
	var said []byte
	for range times {
		resp, answer, err := e.Post(ctx, e.callback, http.Header{"Authorization": {"Bearer grain"}}, body)
		if err != nil || resp.StatusCode != http.StatusOK {
			return core.Reaction{Warning: core.Loading}, nil
		}
		said = answer
	}
	return core.Reaction{OK: true, Toast: string(said)}, nil
}

// Disconnect implements core.Service: there are no connections.
func (e *emulator) Disconnect(int) error { return e.CannotDo("disconnect") }

// AddChannel implements core.Service.
func (e *emulator) AddChannel(n int) string {
	e.Lock()
	defer e.Unlock()
	return e.add("loft-" + strconv.Itoa(n+2)).ID
}

// Connections implements core.Service.
func (e *emulator) Connections() int { return 0 }
