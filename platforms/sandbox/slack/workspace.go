package slack

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

func (e *Emulator) add(id, name string) *core.Chat {
	c := core.NewChat(id, name, func(m raw.Object) string { return raw.Str(m, "ts") })
	e.Chats[id] = &c
	return &c
}

// stamp returns a new message timestamp. Timestamps are unique and increasing.
func (e *Emulator) stamp() string {
	e.lastTS = max(e.lastTS+1, time.Now().UnixMicro())
	return fmt.Sprintf("%d.%06d", e.lastTS/1e6, e.lastTS%1e6)
}

// channel finds a conversation by its ID, or by the name of a channel. A user
// ID refers to the direct message with the user.
func (e *Emulator) channel(id string) *core.Chat {
	if c := e.Chats[id]; c != nil {
		return c
	}
	for _, c := range e.Chats {
		if c.User == "" && c.Name == strings.TrimPrefix(id, "#") {
			return c
		}
	}
	for _, user := range []string{id, "U" + strings.TrimPrefix(id, "D")} {
		if _, known := e.ByID(user); known {
			return e.direct(user)
		}
	}
	return nil
}

// remove deletes a message. If the message has replies, a tombstone remains,
// and its thread still accepts replies.
func (e *Emulator) remove(c *core.Chat, ts string) {
	replies := slices.ContainsFunc(c.Messages, func(m raw.Object) bool { return raw.Str(m, "thread_ts") == ts })
	if replies {
		c.Messages[c.Find(ts)] = raw.Object{
			"type": "message", "subtype": "tombstone", "user": "USLACKBOT", "text": "This message was deleted.", "ts": ts,
		}
	} else {
		c.Remove(ts)
	}
	e.deleted[c.ID+" "+ts] = true
	e.Touch()
}

func (e *Emulator) direct(user string) *core.Chat {
	id := "D" + user[1:] // IDs of users start with U, or with W in an Enterprise Grid
	if c := e.Chats[id]; c != nil {
		return c
	}
	c := e.add(id, "direct message")
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
		Homes: []core.ViewState{}, Groups: e.userGroups(), Sessions: []SessionState{},
	}
	for _, user := range slices.Sorted(maps.Keys(e.homes)) {
		st.Homes = append(st.Homes, e.homes[user].state())
	}
	for _, id := range slices.Sorted(maps.Keys(e.sessions)) {
		st.Sessions = append(st.Sessions, *e.sessions[id])
	}
	return st
}

// userGroups returns the user groups of the workspace. The caller holds the
// lock.
func (e *Emulator) userGroups() []Group {
	known := map[string]bool{UserGroup: true}
	for _, m := range e.Members {
		for _, id := range e.GroupsOf(m) {
			known[id] = true
		}
	}
	var out []Group
	for _, id := range slices.Sorted(maps.Keys(known)) {
		name := id
		if id == UserGroup {
			name = "sre"
		}
		members, _ := e.InGroup(id)
		out = append(out, Group{id, name, ids(members)})
	}
	return out
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
func (e *Emulator) Connections() int { return len(e.sockets) }

// Controls implements core.Screen.
func (e *Emulator) Controls(m raw.Object) []core.Control { return Controls(m) }

// Inputs implements core.Screen.
func (e *Emulator) Inputs(id string) ([]core.Input, bool) {
	e.Lock()
	defer e.Unlock()
	v := e.find(id)
	if v == nil {
		return nil, false
	}
	var out []core.Input
	for _, in := range slots(raw.Objects(raw.Copy(v.View), "blocks")) {
		out = append(out, core.Input{ID: in.key, Element: in.element})
	}
	return out, true
}

// Pick implements core.Screen. An input keeps the chosen options until the
// click. Any other element sends them at once.
func (e *Emulator) Pick(
	ctx context.Context, as string, at core.Place, labels []string, submit string,
) (core.Reaction, error) {
	menu, err := core.FindControl(e, at, "select", "")
	if err != nil {
		return core.Reaction{}, err
	}
	shown := raw.Objects(e.Message(at.Channel, at.Message), "blocks")
	found, _ := findControl(shown, menu.ID)
	for _, in := range slots(shown) {
		alone := in.key == menu.ID
		if !alone && !same(in.element, found.element) {
			continue
		}
		values, err := core.OptionValues(in.element, labels)
		if err != nil {
			return core.Reaction{}, err
		}
		given := map[string][]string{in.key: values}
		if alone {
			return core.PressWith(ctx, e, as, at, submit, given)
		}
		a := core.On(e, as, at, "press")
		a.Control, a.Values = menu.ID, given
		if r, err := e.Act(ctx, a); err != nil || r.Warning != "" {
			return r, err
		}
		return core.Press(ctx, e, as, at, submit)
	}
	return core.Reaction{}, e.Errorf("nothing to choose on %s", at.Message)
}
