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
	historyFirst = 64   // entries of a partition that are read first
	historyMost  = 1024 // that are read at a time later, unless more have the same millisecond
	// eventLag is the time by which an event can be dated later than its record.
	// The stream's clock is read after that of the script.
	eventLag = time.Second
)

// history reads the openings of all partitions backward from the journals,
// which hold each for as long as its record lives.
type history struct {
	*core
	at    place // only what is after it is returned
	parts []*earlier
}

// earlier holds the openings of a partition.
type earlier struct {
	partition int
	found     []place // read but not returned, newest first
	until     int64   // ms up to which the next read goes
	count     int     // entries of the next read
	done      bool
}

func newHistory(c *core, at place) *history {
	h := &history{core: c, at: at}
	for p := range c.partitions {
		h.parts = append(h.parts, &earlier{partition: p, until: at.ms, count: historyFirst})
	}
	return h
}

// next returns the next places, at most the given number. It returns none at
// the end.
func (h *history) next(ctx context.Context, most int) ([]place, error) {
	var out []place
	for len(out) < most {
		if err := h.fill(ctx); err != nil {
			return nil, err
		}
		var newest *earlier
		for _, p := range h.parts {
			if len(p.found) > 0 && (newest == nil || p.found[0].before(newest.found[0])) {
				newest = p
			}
		}
		if newest == nil {
			return out, nil
		}
		out, newest.found = append(out, newest.found[0]), newest.found[1:]
	}
	return out, nil
}

// fill reads until each partition has a place or is at its end.
func (h *history) fill(ctx context.Context) error {
	for {
		var empty []*earlier
		for _, p := range h.parts {
			if len(p.found) == 0 && !p.done {
				empty = append(empty, p)
			}
		}
		if len(empty) == 0 {
			return nil
		}
		streams := make([]*redis.XMessageSliceCmd, len(empty))
		_, err := h.client.Pipelined(ctx, func(c redis.Pipeliner) error {
			for k, p := range empty {
				streams[k] = c.XRevRangeN(ctx, h.keys.journal(p.partition), strconv.FormatInt(p.until, 10), "-", int64(p.count))
			}
			return nil
		})
		if err != nil {
			return unavailable(err)
		}
		for k, p := range empty {
			p.take(h.at, opened(streams[k].Val()))
		}
	}
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
func (p *earlier) take(at place, read []place) {
	last := int64(-1)
	if len(read) == p.count {
		last = read[len(read)-1].ms
		if last == read[0].ms {
			p.count *= 2
			return
		}
		p.count, p.until = max(p.count, min(2*p.count, historyMost)), last
	}
	for _, q := range read {
		if q.id != "" && q.ms != last && at.before(q) {
			p.found = append(p.found, q)
		}
	}
	slices.SortFunc(p.found, place.compare)
	p.done = last < 0
}
