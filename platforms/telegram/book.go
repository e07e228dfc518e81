package telegram

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"
)

// handledFor is the time for which nod remembers an update that it has handled.
// It is less than the week without an update after which Telegram may restart
// its numbers.
const handledFor = 24 * time.Hour

// maxHandled limits the number of updates that nod remembers.
const maxHandled = 10_000

// book keeps the numbers of updates: which ones are handled, and which ones
// Telegram may forget. It is safe for concurrent use.
type book struct {
	mu      sync.Mutex
	handled map[int64]time.Time
	begun   map[int64]bool // being handled
	batch   []int64        // newest response with updates, in order
	changed chan struct{}  // closed and replaced when an update is handled
}

// add records the updates in a response of Telegram, and returns those that are
// neither handled nor in progress. These then count as in progress.
func (b *book) add(batch []json.RawMessage) []json.RawMessage {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(batch) == 0 {
		return nil
	}
	b.batch = nil
	var fresh []json.RawMessage
	for _, raw := range batch {
		id := updateID(raw)
		if _, done := b.handled[id]; !done && !b.begun[id] {
			fresh = append(fresh, raw)
			if b.begun == nil {
				b.begun = map[int64]bool{}
			}
			b.begun[id] = true
		}
		b.batch = append(b.batch, id)
	}
	return fresh
}

// done records that an update is handled, or that it has to be handled again.
func (b *book) done(id int64, handled bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.begun, id)
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
	if !handled {
		return
	}
	now := time.Now()
	if b.handled == nil || len(b.handled) >= maxHandled {
		maps.DeleteFunc(b.handled, func(_ int64, at time.Time) bool { return now.Sub(at) > handledFor })
		if b.handled == nil || len(b.handled) >= maxHandled {
			b.handled = map[int64]time.Time{}
		}
	}
	b.handled[id] = now
}

// offset returns the number of the first update that Telegram must keep: the
// first unhandled update of the newest response, or the number after its last
// update. It can be lower than before, because Telegram restarts its numbers
// after a quiet week. It is zero before the first update.
func (b *book) offset() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range b.batch {
		if _, done := b.handled[id]; !done {
			return id
		}
	}
	if len(b.batch) == 0 {
		return 0
	}
	return b.batch[len(b.batch)-1] + 1
}

// settle waits up to d until the newest response is handled, so that the next
// poll confirms it.
func (b *book) settle(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for {
		b.mu.Lock()
		open := slices.ContainsFunc(b.batch, func(id int64) bool { return b.begun[id] })
		if b.changed == nil {
			b.changed = make(chan struct{})
		}
		changed := b.changed
		b.mu.Unlock()
		if !open {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
