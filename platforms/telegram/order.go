package telegram

import (
	"maps"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

// order applies changes to a card in the order in which people made them, so
// that no change is recorded later only because the card is being drawn. It is
// safe for concurrent use.
type order struct {
	recording platforms.KeyedMutex
	drawings  platforms.KeyedMutex

	mu     sync.Mutex
	last   int64
	newest map[string]change // by card
}

// change is the newest change of a card. It is kept after it was drawn, because the
// drawing of an older change may begin later, until [afterwards] ends that drawing.
type change struct {
	turn int64
	at   time.Time
}

// drawing draws a change of a card, unless there is a newer change.
type drawing func(draw func() error) error

// inOrder records a change that a person made to a card. It returns a function
// that draws the change.
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
		o.newest = map[string]change{}
	}
	o.last++
	turn, now := o.last, time.Now()
	maps.DeleteFunc(o.newest, func(_ string, c change) bool { return now.Sub(c.at) > 2*afterwards })
	o.newest[key] = change{turn, now}
	return v, func(draw func() error) error { return o.draw(key, turn, draw) }, nil
}

func (o *order) draw(key string, turn int64, draw func() error) error {
	defer o.drawings.Lock(key)()
	o.mu.Lock()
	stale := o.newest[key].turn > turn
	o.mu.Unlock()
	if stale {
		return nil
	}
	return draw()
}
