package core

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

const (
	listDefault = 50
	listMax     = 200
	listBatch   = 256 // records; more than a session creates in a millisecond
)

// lists reads pages of records, newest first.
type lists struct{ in *interactions }

// place is a position in the order of lists: newest first, then by ID.
type place struct {
	ms int64
	id string
}

func (p place) before(q place) bool { return p.ms > q.ms || p.ms == q.ms && p.id > q.id }

func (p place) compare(q place) int { return cmp.Or(cmp.Compare(q.ms, p.ms), cmp.Compare(q.id, p.id)) }

// later returns the place that is later in a list.
func later(p, q place) place {
	if p.before(q) {
		return q
	}
	return p
}

func (p place) String() string { return strconv.FormatInt(p.ms, 36) + "." + p.id }

func parsePlace(s string) (place, error) {
	if s == "" {
		return place{ms: 1 << 53}, nil
	}
	ms, id, ok := strings.Cut(s, ".")
	n, err := strconv.ParseInt(ms, 36, 64)
	if !ok || err != nil {
		return place{}, bridge.Errorf(bridge.CodeInvalid, "cursor: invalid value %q", s).WithHint("use next of the previous page, or leave it out to begin with the newest")
	}
	return place{n, id}, nil
}

// List returns a page of records, newest first. A cursor must come from an
// earlier page; List returns CodeInvalid for any other.
func (ls *lists) List(ctx context.Context, f bridge.ListFilter) (bridge.List, error) {
	limit := f.Limit
	if limit <= 0 {
		limit = listDefault
	}
	limit = min(limit, listMax)
	at, err := parsePlace(f.Cursor)
	if err != nil {
		return bridge.List{}, err
	}
	if !f.Until.IsZero() {
		at = later(at, place{ms: f.Until.Add(eventLag).UnixMilli()})
	}
	past := newHistory(ls.in.db, at)
	out, last := bridge.List{Items: []bridge.Record{}}, place{}
	most := min(listBatch, limit+1) // usually enough; if the filter drops some, more are read at a time
	for {
		places, err := ls.newest(ctx, f, past, at, most)
		if err != nil || len(places) == 0 {
			return out, err
		}
		most = listBatch
		ids := make([]bridge.ID, len(places))
		for k, p := range places {
			ids[k] = bridge.ID(p.id)
		}
		records, err := ls.in.loadAll(ctx, ids, f.AsStored)
		if err != nil {
			return bridge.List{}, err
		}
		for k, r := range records {
			if at = places[k]; !f.Since.IsZero() && at.ms < f.Since.UnixMilli() {
				return out, nil
			}
			if r == nil {
				continue // its retention has passed
			}
			if len(out.Items) == limit {
				out.Next = last.String()
				return out, nil
			}
			if within(f, r.Interaction.Created) && f.Match(*r) {
				out.Items, last = append(out.Items, *r), at
			}
		}
	}
}

// within reports whether a request was opened in the time of a filter.
func within(f bridge.ListFilter, created time.Time) bool {
	ms := created.UnixMilli()
	return (f.Since.IsZero() || ms >= f.Since.UnixMilli()) && (f.Until.IsZero() || ms < f.Until.UnixMilli())
}

// newest returns the next places after at that can hold matches of the filter:
// from the index of a session, from the deadlines, or from the history. It
// returns none at the end.
func (ls *lists) newest(ctx context.Context, f bridge.ListFilter, past *history, at place, most int) ([]place, error) {
	db := ls.in.db
	switch {
	case f.Session != "" && f.Agent != "":
		found, err := db.Range(ctx, broker.Query{Index: life.SessionIndex(f.Agent, f.Session), To: time.UnixMilli(at.ms), Newest: true, N: listBatch})
		return first(at, found, func(m broker.Member) place { return place{m.At.UnixMilli(), m.Name} }, most), public(err)
	case f.State == bridge.StatePending:
		// An index by creation would cost every opening and every resolution more
		// than a listing pays for reading all IDs.
		due, err := db.Range(ctx, broker.Query{Index: life.Deadlines})
		return first(at, due, func(m broker.Member) place { return place{bridge.ID(m.Name).Time().UnixMilli(), m.Name} }, most), public(err)
	default:
		return past.next(ctx, most)
	}
}

// first returns the first places after at of some members, sorted.
func first(at place, members []broker.Member, of func(broker.Member) place, most int) []place {
	var all []place
	for _, m := range members {
		if p := of(m); at.before(p) {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, place.compare)
	return all[:min(most, len(all))]
}

const (
	historyFirst = 256  // entries that are read first
	historyMost  = 4096 // that are read at a time later, unless more have the same millisecond
	// eventLag is the time by which an event can be dated later than its record.
	eventLag = time.Second
)

// history reads the openings backward from the journal, which holds each for as
// long as its record lives.
type history struct {
	db    broker.Store
	at    place   // only what is after it is returned
	found []place // read but not returned, newest first
	until int64   // ms up to which the next read goes
	count int     // entries of the next read
	done  bool
}

func newHistory(db broker.Store, at place) *history {
	return &history{db: db, at: at, until: at.ms, count: historyFirst}
}

// next returns the next places, at most the given number. It returns none at
// the end.
func (h *history) next(ctx context.Context, most int) ([]place, error) {
	for len(h.found) == 0 && !h.done {
		read, err := h.db.Newest(ctx, broker.Journal, strconv.FormatInt(h.until+1, 10)+"-0", h.count)
		if err != nil {
			return nil, public(err)
		}
		h.take(openings(read))
	}
	out := h.found[:min(most, len(h.found))]
	h.found = h.found[len(out):]
	return out, nil
}

// openings returns the places of entries. Only openings have an ID.
func openings(entries []broker.Entry) []place {
	out := make([]place, len(entries))
	for k, e := range entries {
		out[k].ms = streamTime(e.ID)
		if e.Get("t") == string(bridge.EventRequest) {
			out[k].id = e.Get("i")
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
