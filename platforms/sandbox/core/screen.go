package core

import (
	"maps"
	"slices"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// Message returns a copy of a message, including a private one, or nil.
func (b *Base) Message(channel, id string) raw.Object {
	b.Lock()
	defer b.Unlock()
	c := b.Chats[channel]
	if c == nil {
		return nil
	}
	if m := c.Message(id); m != nil {
		return raw.Copy(m)
	}
	m, _ := c.PrivateMessage(id)
	return raw.Copy(m)
}

// Sees returns the texts of a message.
func (b *Base) Sees(_ string, at Place) string { return raw.Texts(b.Message(at.Channel, at.Message)) }

// PrivatePlaces returns the places of a member's private messages, oldest first
// in each conversation.
func (b *Base) PrivatePlaces(as string) []Place {
	m, err := b.Member(as)
	if err != nil {
		return nil
	}
	b.Lock()
	defer b.Unlock()
	var out []Place
	for _, id := range slices.Sorted(maps.Keys(b.Chats)) {
		for _, p := range b.Chats[id].Private {
			if p.User == m.ID {
				out = append(out, Place{Service: b.name, Channel: id, Message: b.Chats[id].idOf(p.Message)})
			}
		}
	}
	return out
}

// Notes returns the texts of a member's private messages, oldest first in each
// conversation.
func (b *Base) Notes(as string) []string {
	var out []string
	for _, at := range b.PrivatePlaces(as) {
		out = append(out, b.Sees(as, at))
	}
	return out
}

// States returns copies of the conversations. The caller holds the lock.
func (b *Base) States() []ChatState {
	out := []ChatState{}
	for _, id := range slices.Sorted(maps.Keys(b.Chats)) {
		out = append(out, b.Chats[id].State())
	}
	return out
}
