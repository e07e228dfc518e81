package telegram

import (
	"sync"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

// order makes what a card shows follow the order of what was done to it, although
// nothing is recorded later because the card is being drawn. It is safe for
// concurrent use.
type order struct {
	recording platforms.KeyedMutex
	drawings  platforms.KeyedMutex

	mu     sync.Mutex
	last   int64
	newest map[string]int64 // by card, until it is drawn
}

// drawing draws what was done to a card, unless something newer was done to it.
type drawing func(draw func() error) error

// inOrder records what a person did to a card, and returns what draws it.
func (p *poster) inOrder(card bridge.MessageRef, record func() (bridge.Verdict, error)) (bridge.Verdict, drawing, error) {
	key, o := card.Channel+"/"+card.Message, &p.order
	defer o.recording.Lock(key)()
	v, err := record()
	if err != nil {
		return v, nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.newest == nil {
		o.newest = map[string]int64{}
	}
	o.last++
	turn := o.last
	o.newest[key] = turn
	return v, func(draw func() error) error { return o.draw(key, turn, draw) }, nil
}

func (o *order) draw(key string, turn int64, draw func() error) error {
	defer o.drawings.Lock(key)()
	o.mu.Lock()
	stale := o.newest[key] > turn
	o.mu.Unlock()
	if stale {
		return nil
	}
	err := draw()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.newest[key] == turn {
		delete(o.newest, key)
	}
	return err
}
