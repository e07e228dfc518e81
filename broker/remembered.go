package broker

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/nodbridge/nod/bridge"
)

// Limits of remembered. The interaction that is not used for the longest time
// leaves first.
const (
	rememberedMany  = 4096
	rememberedBytes = 8 << 20 // of text
)

// remembered holds the interactions that this process has opened, each with the
// text that it stored. A record with the same text is not decoded again. Records
// share what they point to, so nobody may change it. It is safe for concurrent
// use.
type remembered struct {
	mu    sync.Mutex
	kept  *simplelru.LRU[bridge.ID, known]
	bytes int
}

// known is an interaction and the text that it is decoded from.
type known struct {
	text        string
	interaction *bridge.Interaction
}

func newRemembered() *remembered {
	o := &remembered{}
	kept, err := simplelru.NewLRU(rememberedMany, func(_ bridge.ID, k known) { o.bytes -= len(k.text) })
	if err != nil {
		panic(err) // only for a size below 1
	}
	o.kept = kept
	return o
}

// add remembers an interaction that was stored as a text, if decoding the text
// gives the same interaction.
func (o *remembered) add(i *bridge.Interaction, text []byte) {
	if len(text) > rememberedBytes || !bridge.Lasting(i) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept.Remove(i.ID)
	o.kept.Add(i.ID, known{string(text), i})
	o.bytes += len(text)
	for o.bytes > rememberedBytes {
		o.kept.RemoveOldest()
	}
}

// get returns the interaction that was stored as a text, or nil.
func (o *remembered) get(id bridge.ID, text string) *bridge.Interaction {
	o.mu.Lock()
	defer o.mu.Unlock()
	if k, ok := o.kept.Get(id); ok && k.text == text {
		return k.interaction
	}
	return nil
}
