package core

import (
	"slices"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// Chat is a conversation with its messages, oldest first. The lock of the hub
// guards it.
type Chat struct {
	ID       string
	Name     string
	User     string // ID of the member of a direct message
	Parent   string // ID of the channel of a thread
	Closed   bool   // invisible to non-members
	Messages []raw.Object
	Private  []PrivateState // messages that only one user sees

	idOf func(raw.Object) string
}

// NewChat returns a conversation without messages. The function idOf returns
// the ID of a message.
func NewChat(id, name string, idOf func(raw.Object) string) Chat {
	return Chat{ID: id, Name: name, idOf: idOf}
}

// Find returns the index of a message, or -1.
func (c *Chat) Find(id string) int {
	return slices.IndexFunc(c.Messages, func(m raw.Object) bool { return c.idOf(m) == id })
}

// Message returns a message that everyone sees, or nil.
func (c *Chat) Message(id string) raw.Object {
	if n := c.Find(id); n >= 0 {
		return c.Messages[n]
	}
	return nil
}

// PrivateMessage returns a message that one user sees, and the ID of that user.
func (c *Chat) PrivateMessage(id string) (m raw.Object, user string) {
	for _, p := range c.Private {
		if c.idOf(p.Message) == id {
			return p.Message, p.User
		}
	}
	return nil, ""
}

// Seen returns a message if a user sees it, or nil.
func (c *Chat) Seen(id, user string) raw.Object {
	if m := c.Message(id); m != nil {
		return m
	}
	if m, of := c.PrivateMessage(id); of == user {
		return m
	}
	return nil
}

// Add appends a message.
func (c *Chat) Add(m raw.Object) { c.Messages = append(c.Messages, m) }

// AddPrivate appends a message that one user sees.
func (c *Chat) AddPrivate(user string, m raw.Object) {
	c.Private = append(c.Private, PrivateState{user, m})
}

// Remove deletes a message, public or private.
func (c *Chat) Remove(id string) {
	c.Messages = slices.DeleteFunc(c.Messages, func(m raw.Object) bool { return c.idOf(m) == id })
	c.Private = slices.DeleteFunc(c.Private, func(p PrivateState) bool { return c.idOf(p.Message) == id })
}

// State returns a copy of the conversation.
func (c *Chat) State() ChatState {
	out := ChatState{ID: c.ID, Name: c.Name, User: c.User, Parent: c.Parent, Messages: copies(c.Messages)}
	for _, p := range c.Private {
		out.Private = append(out.Private, PrivateState{p.User, raw.Copy(p.Message)})
	}
	return out
}

func copies(messages []raw.Object) []raw.Object {
	out := make([]raw.Object, len(messages))
	for n, m := range messages {
		out[n] = raw.Copy(m)
	}
	return out
}

// ChatState is a copy of a channel or chat. Messages have the format of the
// service's API.
type ChatState struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	User     string         `json:"user,omitempty"`   // ID of the member of a direct message
	Parent   string         `json:"parent,omitempty"` // ID of the channel of a thread
	Messages []raw.Object   `json:"messages"`
	Private  []PrivateState `json:"private,omitempty"`
}

// PrivateState is a message that one user sees.
type PrivateState struct {
	User    string     `json:"user"`
	Message raw.Object `json:"message"`
}

// ViewState is an open modal.
type ViewState struct {
	ID     string            `json:"id"`
	User   string            `json:"user"`
	View   raw.Object        `json:"view"`
	Errors map[string]string `json:"errors,omitempty"`
}
