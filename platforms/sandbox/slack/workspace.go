package slack

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// workspace is the state of a Slack workspace. The lock of the hub guards it.
type workspace struct {
	*core.Base
	channels   map[string]*core.Chat
	triggers   map[string]time.Time // expiration times of unused triggers
	triggerTTL time.Duration
	views      map[string]*view
	homes      map[string]raw.Object  // Home tabs by user
	urls       map[string]responseURL // by the last part of their path
	host       string                 // of the newest API call
	entered    map[input][]string     // values of inputs that members have not submitted yet
	deleted    map[string]bool        // by channel and timestamp
	lastTS     int64
}

// input identifies an input of a message for one member. Clients keep the
// entered value while the ID of the block stays the same.
type input struct{ user, channel, ts, block string }

func newWorkspace(b *core.Base, triggerTTL time.Duration) *workspace {
	w := &workspace{
		Base: b, channels: map[string]*core.Chat{}, triggers: map[string]time.Time{}, triggerTTL: triggerTTL,
		views: map[string]*view{}, homes: map[string]raw.Object{}, urls: map[string]responseURL{}, deleted: map[string]bool{}, entered: map[input][]string{},
	}
	w.add(Channel, "deploys")
	w.add(otherChannel, "oncall")
	return w
}

func (w *workspace) add(id, name string) *core.Chat {
	c := core.NewChat(id, name, func(m raw.Object) string { return raw.Str(m, "ts") })
	w.channels[id] = &c
	return &c
}

// stamp returns a new message timestamp. Timestamps are unique and increasing.
func (w *workspace) stamp() string {
	w.lastTS = max(w.lastTS+1, time.Now().UnixMicro())
	return fmt.Sprintf("%d.%06d", w.lastTS/1e6, w.lastTS%1e6)
}

// channel finds a conversation. A user ID means the direct message with the
// user.
func (w *workspace) channel(id string) *core.Chat {
	if c := w.channels[id]; c != nil {
		return c
	}
	if _, known := w.ByID(id); known {
		return w.direct(id)
	}
	return nil
}

// remove deletes a message. If it has replies, a tombstone remains, and its
// thread still accepts replies.
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

func (w *workspace) direct(user string) *core.Chat {
	id := "D" + user[1:] // IDs of users begin with U, or with W in an Enterprise Grid
	if c := w.channels[id]; c != nil {
		return c
	}
	c := w.add(id, "direct message")
	c.User = user
	return c
}

// trigger returns a new trigger ID for a user.
func (w *workspace) trigger(user string) string {
	id := strconv.FormatInt(w.Next(), 10) + "." + user + "." + uuid.NewString()
	w.triggers[id] = time.Now().Add(w.triggerTTL)
	return id
}

func userOfTrigger(id string) string {
	parts := strings.Split(id, ".")
	if len(parts) < 2 {
		return ""
	}
	return parts[1]
}

// useTrigger consumes a trigger and returns its user. A trigger works once.
func (w *workspace) useTrigger(id string) (user string, bad raw.Object) {
	expires, ok := w.triggers[id]
	delete(w.triggers, id)
	switch {
	case !ok:
		return "", failure("exchanged_trigger_id")
	case time.Now().After(expires):
		return "", failure("expired_trigger_id")
	}
	return userOfTrigger(id), nil
}

// State is a copy of the channels and modals of the workspace.
type State struct {
	Connections int              `json:"connections"`
	Channels    []core.ChatState `json:"channels"`
	Views       []core.ViewState `json:"views"`
}

// State returns a copy of the workspace. The caller holds the lock.
func (e *Emulator) State() State {
	st := State{Connections: len(e.delivery.sockets), Channels: []core.ChatState{}, Views: []core.ViewState{}}
	for _, c := range e.channels {
		st.Channels = append(st.Channels, c.State())
	}
	slices.SortFunc(st.Channels, core.ByID)
	for _, v := range e.views {
		st.Views = append(st.Views, core.ViewState{ID: v.ID, User: v.User, View: raw.Copy(v.View), Errors: v.Errors})
	}
	return st
}
