package telegram

import (
	"context"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

// order draws the drafts on a card in the order in which people made them. A
// click and a job can draw the same card at the same time, and the job may have
// read an older draft. The zero value is ready to use. It is safe for concurrent
// use.
type order struct {
	drawings platforms.KeyedMutex

	mu     sync.Mutex
	newest map[string]change // by card
}

// change is the newest change of a draft on a card.
type change struct {
	revision, draft int64
	at              time.Time
}

// click passes a click to nod, and records the change that it made to the draft on
// the card.
func (o *order) click(ctx context.Context, sink bridge.Sink, c bridge.Click) (bridge.Verdict, error) {
	v, err := sink.Click(ctx, c)
	if err != nil || v.View == nil || v.View.Draft == nil {
		return v, err
	}
	key, now := onCard(*v.View), time.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	// a drawing of an older change lasts until [afterwards]
	maps.DeleteFunc(o.newest, func(_ string, c change) bool { return now.Sub(c.at) > 2*afterwards })
	if o.newest == nil {
		o.newest = map[string]change{}
	}
	if !o.overtaken(key, *v.View) {
		o.newest[key] = change{v.View.Record.Revision, v.View.Draft.Change, now}
	}
	return v, nil
}

// draw draws a view of a card, unless a person has changed the draft since the view
// was read.
func (o *order) draw(v bridge.View, draw func() error) error {
	defer o.drawings.Lock(onCard(v))()
	if o.stale(v) {
		return nil
	}
	return draw()
}

// stale reports whether a person has changed the draft on a card since the view
// was read.
func (o *order) stale(v bridge.View) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.overtaken(onCard(v), v)
}

func (o *order) overtaken(key string, v bridge.View) bool {
	c, changed := o.newest[key]
	return changed && c.revision == v.Record.Revision && v.Draft != nil && v.Draft.Change < c.draft
}

// onCard identifies a card. A person has a copy of a private request.
func onCard(v bridge.View) string {
	key := string(v.Record.Interaction.ID) + "/" + strconv.Itoa(v.Destination)
	if v.Record.Interaction.Private && v.Draft != nil {
		key += "/" + v.Draft.Actor.User
	}
	return key
}
