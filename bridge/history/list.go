package history

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

const (
	listDefault = 50
	listMost    = 200
	listBatch   = 256 // number of records; more than a session creates in a millisecond
)

// place is a position in the order of lists: newest first, then by ID.
type place struct {
	ms int64
	id string
}

func (p place) before(q place) bool { return p.ms > q.ms || p.ms == q.ms && p.id > q.id }

func (p place) compare(q place) int { return cmp.Or(cmp.Compare(q.ms, p.ms), cmp.Compare(q.id, p.id)) }

// later returns the later of two places in a list.
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
// earlier page. For any other cursor, List returns CodeInvalid.
func (r *Reader) List(ctx context.Context, f bridge.ListFilter) (bridge.List, error) {
	limit := f.Limit
	if limit <= 0 {
		limit = listDefault
	}
	limit = min(limit, listMost)
	at, err := parsePlace(f.Cursor)
	if err != nil {
		return bridge.List{}, err
	}
	if !f.Until.IsZero() {
		at = later(at, place{ms: f.Until.Add(eventLag).UnixMilli()})
	}
	past := newOpenings(r.db, at)
	out, last := bridge.List{Items: []bridge.Record{}}, place{}
	unread := 0                     // after last; at the limit, the next page counts them
	most := min(listBatch, limit+1) // usually enough; if the filter drops some records, more are read
	for {
		places, err := r.newest(ctx, f, past, at, most)
		if err != nil || len(places) == 0 {
			out.Unreadable += unread
			return out, err
		}
		most = listBatch
		ids := make([]bridge.ID, len(places))
		for k, p := range places {
			ids[k] = bridge.ID(p.id)
		}
		found, err := r.core.Read(ctx, ids)
		if err != nil {
			return bridge.List{}, err
		}
		for k, docs := range found {
			if at = places[k]; !f.Since.IsZero() && at.ms < f.Since.UnixMilli() {
				out.Unreadable += unread
				return out, nil
			}
			rec, hidden := r.record(docs, f)
			if hidden {
				unread++
			}
			if rec == nil {
				continue
			}
			if len(out.Items) == limit {
				out.Next = last.String()
				return out, nil
			}
			if within(f, rec.Interaction.Created) && f.Match(*rec) {
				out.Items, last = append(out.Items, *rec), at
				out.Unreadable, unread = out.Unreadable+unread, 0
			}
		}
	}
}

// within reports whether a request was opened in the time range of a filter.
func within(f bridge.ListFilter, created time.Time) bool {
	ms := created.UnixMilli()
	return (f.Since.IsZero() || ms >= f.Since.UnixMilli()) && (f.Until.IsZero() || ms < f.Until.UnixMilli())
}

// newest returns the next places after at that can match the filter. They come
// from the index of a session, from the deadlines, or from the history. At the
// end, it returns none.
func (r *Reader) newest(ctx context.Context, f bridge.ListFilter, past *openings, at place, most int) ([]place, error) {
	db := r.db
	switch {
	case f.Session != "" && f.Agent != "":
		found, err := db.Range(ctx, broker.Query{Index: life.SessionIndex(f.Agent, f.Session), To: time.UnixMilli(at.ms), Newest: true, N: listBatch})
		return first(at, found, func(m broker.Member) place { return place{m.At.UnixMilli(), m.Name} }, most), documents.Public(err)
	case f.State == bridge.StatePending:
		// An index by creation time would add a cost to every opening and every
		// resolution. Reading all IDs for a list costs less.
		due, err := db.Range(ctx, broker.Query{Index: life.Deadlines})
		return first(at, due, func(m broker.Member) place { return place{bridge.ID(m.Name).Time().UnixMilli(), m.Name} }, most), documents.Public(err)
	default:
		return past.next(ctx, most)
	}
}

// first returns the first places after at among the members, sorted.
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
	historyFirst = 256  // number of entries in the first read
	historyMost  = 4096 // number of entries in a later read, unless more have the same millisecond
	// eventLag is the longest time between a record and its event.
	eventLag = time.Second
)

// openings reads the openings backward from the journal. The journal keeps an
// opening for as long as its record exists.
type openings struct {
	db    broker.Store
	at    place   // only places after this one are returned
	found []place // places that were read but not returned, newest first
	until int64   // time in ms up to which the next read goes
	count int     // number of entries in the next read
	done  bool
}

func newOpenings(db broker.Store, at place) *openings {
	return &openings{db: db, at: at, until: at.ms, count: historyFirst}
}

// next returns up to a number of places. At the end, it returns none.
func (h *openings) next(ctx context.Context, most int) ([]place, error) {
	for len(h.found) == 0 && !h.done {
		read, err := h.db.Newest(ctx, broker.Journal, strconv.FormatInt(h.until+1, 10)+"-0", h.count)
		if err != nil {
			return nil, documents.Public(err)
		}
		h.take(openingsOf(read))
	}
	out := h.found[:min(most, len(h.found))]
	h.found = h.found[len(out):]
	return out, nil
}

// openingsOf returns the places of the entries that are openings. Only openings
// have an ID.
func openingsOf(entries []broker.Entry) []place {
	out := make([]place, len(entries))
	for k, e := range entries {
		out[k].ms = documents.TimeOf(e.ID)
		if e.Get("t") == string(bridge.EventRequest) {
			out[k].id = e.Get("i")
		}
	}
	return out
}

// take keeps the openings among the entries that were read. The next read
// repeats the last millisecond, because that millisecond may have more
// openings.
func (h *openings) take(read []place) {
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

// record returns the record of an interaction for a filter. It returns nil if the
// retention of the record has passed, or if nod cannot read it. hidden means that a list
// lacks the record because nod cannot read or trust it.
func (r *Reader) record(f core.Found, filter bridge.ListFilter) (rec *bridge.Record, hidden bool) {
	switch {
	case bridge.ErrorCode(f.Err) == bridge.CodeNotFound:
		return nil, false
	case f.Err != nil:
		return nil, true
	}
	stored := f.Record(r.db.Now())
	if filter.AsStored || stored.Unverified == "" {
		return stored, false
	}
	hidden = filter.Match(*stored)
	stored.Distrust()
	return stored, hidden && !filter.Match(*stored)
}
