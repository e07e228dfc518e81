package slack

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// workspace is the state of a Slack workspace. The lock of the hub guards it.
type workspace struct {
	*core.Base
	triggers  map[string]trigger
	stacks    map[string]stack       // open modals by user
	homes     map[string]*view       // Home tabs by user
	urls      map[string]responseURL // response URLs by the last part of their path
	address   string                 // address at which bots reach the sandbox
	entered   map[input][]string     // values that members have not submitted yet
	suggested map[input][]raw.Object // options that the app suggested
	deleted   map[string]bool        // deleted messages by channel and timestamp
	sessions  map[string]*session    // sessions of agents by channel and thread
	lastTS    int64
}

// input identifies an element for a member: on a message, by its channel and
// timestamp, or on a view. Clients keep the entered value while the IDs of the
// block and the element stay the same.
type input struct{ user, on, key string }

func newWorkspace(b *core.Base, o Options) *workspace {
	w := &workspace{
		Base: b, triggers: map[string]trigger{},
		stacks: map[string]stack{}, homes: map[string]*view{}, urls: map[string]responseURL{},
		entered: map[input][]string{}, suggested: map[input][]raw.Object{}, deleted: map[string]bool{},
		sessions: map[string]*session{},
	}
	w.add(Channel, "deploys")
	w.add(otherChannel, "oncall")
	return w
}

func (w *workspace) add(id, name string) *core.Chat {
	c := core.NewChat(id, name, func(m raw.Object) string { return raw.Str(m, "ts") })
	w.Chats[id] = &c
	return &c
}

// stamp returns a new message timestamp. Timestamps are unique and increasing.
func (w *workspace) stamp() string {
	w.lastTS = max(w.lastTS+1, time.Now().UnixMicro())
	return fmt.Sprintf("%d.%06d", w.lastTS/1e6, w.lastTS%1e6)
}

// channel finds a conversation by its ID, or by the name of a channel. A user
// ID refers to the direct message with the user.
func (w *workspace) channel(id string) *core.Chat {
	if c := w.Chats[id]; c != nil {
		return c
	}
	for _, c := range w.Chats {
		if c.User == "" && c.Name == strings.TrimPrefix(id, "#") {
			return c
		}
	}
	for _, user := range []string{id, "U" + strings.TrimPrefix(id, "D")} {
		if _, known := w.ByID(user); known {
			return w.direct(user)
		}
	}
	return nil
}

// remove deletes a message. If the message has replies, a tombstone remains,
// and its thread still accepts replies.
func (w *workspace) remove(c *core.Chat, ts string) {
	replies := slices.ContainsFunc(c.Messages, func(m raw.Object) bool { return raw.Str(m, "thread_ts") == ts })
	if replies {
		c.Messages[c.Find(ts)] = raw.Object{
			"type": "message", "subtype": "tombstone", "user": "USLACKBOT", "text": "This message was deleted.", "ts": ts,
		}
	} else {
		c.Remove(ts)
	}
	w.deleted[c.ID+" "+ts] = true
	w.Touch()
}

// standardAddress is the address of the sandbox before its first request.
const standardAddress = "http://127.0.0.1:8788"

// base returns the address of the sandbox without a slash.
func (w *workspace) base() string {
	if w.address == "" {
		return standardAddress
	}
	return w.address
}

func (w *workspace) direct(user string) *core.Chat {
	id := "D" + user[1:] // IDs of users start with U, or with W in an Enterprise Grid
	if c := w.Chats[id]; c != nil {
		return c
	}
	c := w.add(id, "direct message")
	c.User = user
	return c
}

// State is a copy of the channels and modals of the workspace.
type State struct {
	Connections int              `json:"connections"`
	Channels    []core.ChatState `json:"channels"`
	Views       []core.ViewState `json:"views"` // open modals; the visible modal of a member is last
	Homes       []core.ViewState `json:"homes"`
	Groups      []Group          `json:"groups"`
	Sessions    []SessionState   `json:"sessions"`
}

// Group is a user group with the IDs of its members.
type Group struct {
	ID    string   `json:"id"`
	Name  string   `json:"name"`
	Users []string `json:"users"`
}

// State returns a copy of the workspace. The caller holds the lock.
func (e *Emulator) State() State {
	st := State{
		Connections: e.Connections(), Channels: e.States(), Views: e.Modals(),
		Homes: []core.ViewState{}, Groups: e.userGroups(), Sessions: e.sessionStates(),
	}
	for _, user := range slices.Sorted(maps.Keys(e.homes)) {
		st.Homes = append(st.Homes, e.homes[user].state())
	}
	return st
}

// Modals returns a copy of the open modals. The caller holds the lock.
func (e *Emulator) Modals() []core.ViewState {
	all := []core.ViewState{}
	for _, user := range slices.Sorted(maps.Keys(e.stacks)) {
		for _, v := range e.stacks[user] {
			all = append(all, v.state())
		}
	}
	return all
}

func (v *view) state() core.ViewState {
	return core.ViewState{ID: v.ID, User: v.User, View: raw.Copy(v.View), Errors: v.Errors}
}

// AddChannel adds a channel and returns its ID. A different n adds a different
// channel.
func (e *Emulator) AddChannel(n int) string {
	e.Lock()
	defer e.Unlock()
	return e.add(fmt.Sprintf("C0MORE%04d", n), fmt.Sprintf("more-%d", n)).ID
}

// Connections returns the number of sockets of bots. The caller holds the lock.
func (e *Emulator) Connections() int { return len(e.delivery.sockets) }
