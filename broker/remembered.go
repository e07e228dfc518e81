package broker

import (
	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/cache"
)

// Limits of remembered.
const (
	rememberedMany  = 4096
	rememberedBytes = 8 << 20 // of text
)

// remembered holds the interactions that this process has opened, each with the
// text that it stored. A record with the same text is not decoded again. Records
// share what they point to, so nobody may change it. It is safe for concurrent
// use.
type remembered struct {
	*cache.Cache[bridge.ID, known]
}

// known is an interaction and the text that it is decoded from.
type known struct {
	text        string
	interaction *bridge.Interaction
}

func newRemembered() remembered {
	return remembered{cache.Sized[bridge.ID](rememberedMany, rememberedBytes, func(k known) int { return len(k.text) })}
}

// add remembers an interaction that was stored as a text, if decoding the text
// gives the same interaction.
func (o remembered) add(i *bridge.Interaction, text []byte) {
	if bridge.Lasting(i) {
		o.Put(i.ID, known{string(text), i})
	}
}

// get returns the interaction that was stored as a text, or nil.
func (o remembered) get(id bridge.ID, text string) *bridge.Interaction {
	if k, ok := o.Get(id); ok && k.text == text {
		return k.interaction
	}
	return nil
}
