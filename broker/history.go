package broker

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

const (
	historyFirst = 256  // entries that are read first
	historyMost  = 4096 // that are read at a time later, unless more have the same millisecond
	// eventLag is the time by which an event can be dated later than its record.
	// The stream's clock is read after that of the script.
	eventLag = time.Second
)

// history reads the openings backward from the journal, which holds each for as
// long as its record lives.
type history struct {
	*core
	at    place   // only what is after it is returned
	found []place // read but not returned, newest first
	until int64   // ms up to which the next read goes
	count int     // entries of the next read
	done  bool
}

func newHistory(c *core, at place) *history {
	return &history{core: c, at: at, until: at.ms, count: historyFirst}
}

// next returns the next places, at most the given number. It returns none at
// the end.
func (h *history) next(ctx context.Context, most int) ([]place, error) {
	for len(h.found) == 0 && !h.done {
		read, err := h.client.XRevRangeN(ctx, h.keys.journal(), strconv.FormatInt(h.until, 10), "-", int64(h.count)).Result()
		if err != nil {
			return nil, unavailable(err)
		}
		h.take(opened(read))
	}
	out := h.found[:min(most, len(h.found))]
	h.found = h.found[len(out):]
	return out, nil
}

// opened returns the places of entries of a stream. Only openings have an ID.
func opened(entries []redis.XMessage) []place {
	out := make([]place, len(entries))
	for k, m := range entries {
		ms, _, _ := strings.Cut(m.ID, "-")
		out[k].ms, _ = strconv.ParseInt(ms, 10, 64) // Redis writes it
		if m.Values["t"] == string(bridge.EventRequest) {
			out[k].id, _ = m.Values["i"].(string) // every field is a string
		}
	}
	return out
}

// take keeps the openings among what was read. Those of the last millisecond
// are read again, as there may be more of them.
func (h *history) take(read []place) {
	last := int64(-1)
	if len(read) == h.count {
		last = read[len(read)-1].ms
		if last == read[0].ms {
			h.count *= 2
			return
		}
		h.count, h.until = max(h.count, min(2*h.count, historyMost)), last
	}
	for _, q := range read {
		if q.id != "" && q.ms != last && h.at.before(q) {
			h.found = append(h.found, q)
		}
	}
	slices.SortFunc(h.found, place.compare)
	h.done = last < 0
}
