package broker

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

const (
	listDefault = 50
	listMax     = 200
	listBatch   = 256 // entries; more than a session creates in a millisecond
)

// lists reads pages of records, newest first.
type lists struct{ *core }

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
	past := newHistory(ls.core, at)
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
		records, err := ls.loadAll(ctx, ids)
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
	switch {
	case f.Session != "" && f.Agent != "":
		return ls.ofSession(ctx, f, at, most)
	case f.State == bridge.StatePending:
		due, err := ls.pending(ctx)
		if err != nil {
			return nil, err
		}
		all := make([]place, len(due))
		for k, q := range due {
			all[k] = place{bridge.ID(q.id).Time().UnixMilli(), q.id}
		}
		return first(slices.DeleteFunc(all, func(q place) bool { return !at.before(q) }), most), nil
	default:
		return past.next(ctx, most)
	}
}

// ofSession returns the next places after at of a session.
func (ls *lists) ofSession(ctx context.Context, f bridge.ListFilter, at place, most int) ([]place, error) {
	key := ls.keys.session(f.Agent, f.Session)
	until := &redis.ZRangeBy{Max: strconv.FormatInt(at.ms, 10), Min: "-inf", Count: listBatch}
	found, err := ls.client.ZRevRangeByScoreWithScores(ctx, key, until).Result()
	if err != nil {
		return nil, unavailable(err)
	}
	return first(slices.DeleteFunc(indexed(found), func(q place) bool { return !at.before(q) }), most), nil
}

// indexed returns the places of members of an index, with their scores.
func indexed(entries []redis.Z) []place {
	out := make([]place, len(entries))
	for k, z := range entries {
		id, _ := z.Member.(string) // every member is a string
		out[k] = place{int64(z.Score), id}
	}
	return out
}

// first sorts places and returns the first of them.
func first(all []place, most int) []place {
	slices.SortFunc(all, place.compare)
	return all[:min(most, len(all))]
}

// pending returns all pending interactions, the next deadline first. The places
// hold the deadlines. A separate index would cost every opening and every
// resolution more than a listing pays for reading 36 bytes of each.
func (ls *lists) pending(ctx context.Context) ([]place, error) {
	found, err := ls.client.ZRangeWithScores(ctx, ls.keys.deadlines(), 0, -1).Result()
	if err != nil {
		return nil, unavailable(err)
	}
	return indexed(found), nil
}
