package telegram

import (
	"encoding/json"
	"maps"
	"sync"
	"time"
)

// handledFor is the time for which nod knows an update that it has handled. It
// is less than the week without an update after which Telegram may restart its numbers.
const handledFor = 24 * time.Hour

// maxHandled limits the number of updates that nod remembers.
const maxHandled = 10_000

// book keeps the numbers of updates: which ones are handled, and which ones
// Telegram may forget. It is safe for concurrent use.
type book struct {
	mu      sync.Mutex
	handled map[int64]time.Time
	batch   []int64 // the newest answer with updates, in its order
}

// add records the updates of an answer of Telegram, and returns those that are
// not handled yet.
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
		if _, done := b.handled[id]; !done {
			fresh = append(fresh, raw)
		}
		b.batch = append(b.batch, id)
	}
	return fresh
}

// done records that an update is handled.
func (b *book) done(id int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.handled == nil || len(b.handled) >= maxHandled {
		maps.DeleteFunc(b.handled, func(_ int64, at time.Time) bool { return now.Sub(at) > handledFor })
		if b.handled == nil || len(b.handled) >= maxHandled {
			b.handled = map[int64]time.Time{}
		}
	}
	b.handled[id] = now
}

// offset returns the number of the first update that Telegram must not forget: the
// first of the newest answer that is not handled, or else the one after the last.
// It can be lower than before, because Telegram restarts its numbers after a quiet week.
// It is zero before the first update.
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
