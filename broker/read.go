package broker

import (
	"context"
	"encoding/json"
	"errors"
	"math"
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
	listBatch   = 256 // more than one partition creates in a millisecond
	eventBatch  = 200
)

// place is a position in the order of lists: newest first, then by id.
type place struct {
	ms int64
	id string
}

func (p place) before(q place) bool { return p.ms > q.ms || p.ms == q.ms && p.id > q.id }

func (p place) String() string { return strconv.FormatInt(p.ms, 36) + "." + p.id }

func parsePlace(s string) (place, error) {
	if s == "" {
		return place{ms: 1 << 53}, nil
	}
	ms, id, ok := strings.Cut(s, ".")
	n, err := strconv.ParseInt(ms, 36, 64)
	if !ok || err != nil {
		return place{}, bridge.Errorf(bridge.CodeInvalid, "cursor: is not one of ours")
	}
	return place{n, id}, nil
}

// List returns a page of records, newest first. Cursors come from an earlier
// page; CodeInvalid for any other.
func (b *Broker) List(ctx context.Context, f bridge.ListFilter) (bridge.List, error) {
	limit := f.Limit
	if limit <= 0 {
		limit = listDefault
	}
	limit = min(limit, listMax)
	at, err := parsePlace(f.Cursor)
	if err != nil {
		return bridge.List{}, err
	}
	out, last := bridge.List{Items: []bridge.Record{}}, place{}
	most := min(listBatch, limit+1) // often enough; where the filter drops some, more at a time
	for {
		places, err := b.newest(ctx, f, at, most)
		if err != nil || len(places) == 0 {
			return out, err
		}
		most = listBatch
		ids := make([]bridge.ID, len(places))
		for k, p := range places {
			ids[k] = bridge.ID(p.id)
		}
		records, err := b.loadAll(ctx, ids)
		if err != nil {
			return bridge.List{}, err
		}
		for k, r := range records {
			if at = places[k]; r == nil {
				continue // outlived its retention
			}
			if len(out.Items) == limit {
				out.Next = last.String()
				return out, nil
			}
			if f.Match(*r) {
				out.Items, last = append(out.Items, *r), at
			}
		}
	}
}

// loadAll reads records together; nil where there is none.
func (b *Broker) loadAll(ctx context.Context, ids []bridge.ID) ([]*bridge.Record, error) {
	cmds := make([]*redis.MapStringStringCmd, len(ids))
	_, err := b.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for k, id := range ids {
			cmds[k] = p.HGetAll(ctx, b.keys.record(id))
		}
		return nil
	})
	if err != nil {
		return nil, unavailable(err)
	}
	out := make([]*bridge.Record, len(ids))
	for k, id := range ids {
		r, err := readRecord(id, cmds[k])
		switch {
		case err == nil:
			out[k] = &r
		case bridge.ErrorCode(err) != bridge.CodeNotFound:
			return nil, err
		}
	}
	return out, nil
}

// newest returns the next places after at, merged from the indexes that can
// hold what the filter asks for; none at the end.
func (b *Broker) newest(ctx context.Context, f bridge.ListFilter, at place, most int) ([]place, error) {
	var names []string
	switch {
	case f.Session != "" && f.Agent != "":
		names = []string{b.keys.session(b.partition(f.Session, ""), f.Agent, f.Session)}
	case f.State == bridge.StatePending:
		all, err := b.pending(ctx)
		if err != nil {
			return nil, err
		}
		return first(slices.DeleteFunc(all, func(q place) bool { return !at.before(q) }), most), nil
	default:
		for p := range b.partitions {
			names = append(names, b.keys.all(p))
		}
	}
	cmds := make([]*redis.ZSliceCmd, len(names))
	_, err := b.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for k, name := range names {
			cmds[k] = p.ZRevRangeByScoreWithScores(ctx, name, &redis.ZRangeBy{Max: strconv.FormatInt(at.ms, 10), Min: "-inf", Count: listBatch})
		}
		return nil
	})
	if err != nil {
		return nil, unavailable(err)
	}
	var all []place
	for _, c := range cmds {
		for _, z := range c.Val() {
			if q := (place{int64(z.Score), z.Member.(string)}); at.before(q) {
				all = append(all, q)
			}
		}
	}
	return first(all, most), nil
}

// first sorts places, and returns the first of them.
func first(all []place, most int) []place {
	slices.SortFunc(all, func(x, y place) int {
		if x.before(y) {
			return -1
		}
		return 1
	})
	return all[:min(most, len(all))]
}

// pending are the places of all that is pending, in no order: that is what has
// a deadline. An index of its own would cost every opening and every end more
// than reading 36 bytes each costs who lists them.
func (b *Broker) pending(ctx context.Context) ([]place, error) {
	cmds := make([]*redis.StringSliceCmd, b.partitions)
	_, err := b.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for n := range cmds {
			cmds[n] = p.ZRange(ctx, b.keys.deadlines(n), 0, -1)
		}
		return nil
	})
	if err != nil {
		return nil, unavailable(err)
	}
	var all []place
	for _, c := range cmds {
		for _, id := range c.Val() {
			all = append(all, place{bridge.ID(id).Time().UnixMilli(), id})
		}
	}
	return all, nil
}

// Cursor returns the position after everything that has happened.
func (b *Broker) Cursor(ctx context.Context) (string, error) {
	now, err := b.client.Time(ctx).Result()
	if err != nil {
		return "", unavailable(err)
	}
	return b.everywhere(strconv.FormatInt(now.UnixMilli(), 10) + "-0"), nil
}

// CursorAt returns the position before everything that happened at a time or
// later.
func (b *Broker) CursorAt(at time.Time) string {
	return b.everywhere(strconv.FormatInt(max(0, at.UnixMilli()-1), 10) + "-" + strconv.Itoa(math.MaxInt64))
}

// everywhere is the cursor that stands at one id in every partition.
func (b *Broker) everywhere(id string) string {
	at := make([]string, b.partitions)
	for p := range at {
		at[p] = id
	}
	return formatCursor(at)
}

// Events returns events after a cursor, oldest first within a partition, and
// thereby within a session. An empty cursor is the beginning. Each event's
// own cursor resumes after it, without gap or repeat, whatever was read from
// other partitions. No events is not an error.
func (b *Broker) Events(ctx context.Context, cursor string, f bridge.EventFilter) ([]bridge.Event, string, error) {
	at, err := b.parseCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	only := -1
	if f.Session != "" {
		only = b.partition(f.Session, "")
	}
	cmds := make([]*redis.XMessageSliceCmd, b.partitions)
	_, err = b.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for n := range cmds {
			if only < 0 || n == only {
				cmds[n] = p.XRangeN(ctx, b.keys.events(n), "("+at[n], "+", eventBatch)
			}
		}
		return nil
	})
	if err != nil {
		return nil, "", unavailable(err)
	}
	var out []bridge.Event
	for _, m := range mergeEvents(cmds) {
		at[m.partition] = m.ID
		e, err := decodeEvent(m.XMessage)
		if err != nil {
			return nil, "", err
		}
		if (f.Session != "" && e.SessionID != f.Session) || (f.Agent != "" && e.Agent != f.Agent) {
			continue
		}
		e.Cursor = formatCursor(at)
		out = append(out, e)
	}
	return out, formatCursor(at), b.fillIn(ctx, out)
}

// fillIn adds the data of openings and ends, which is in the records: it does
// not change there. Events that outlived their record have none.
func (b *Broker) fillIn(ctx context.Context, events []bridge.Event) error {
	fields := map[bridge.EventType]string{bridge.EventRequest: fieldOpened, bridge.EventResponse: fieldResponse}
	cmds := make([]*redis.StringCmd, len(events))
	_, err := b.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for k, e := range events {
			if field := fields[e.Type]; field != "" {
				cmds[k] = p.HGet(ctx, b.keys.record(e.InteractionID), field)
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return unavailable(err)
	}
	for k, c := range cmds {
		if c == nil {
			continue
		}
		raw, err := c.Bytes()
		switch {
		case err == nil:
			events[k].Data = raw
		case !errors.Is(err, redis.Nil):
			return unavailable(err)
		}
	}
	return nil
}

type located struct {
	redis.XMessage
	partition int
	at        int64
}

func mergeEvents(cmds []*redis.XMessageSliceCmd) []located {
	var all []located
	for p, c := range cmds {
		if c == nil {
			continue
		}
		for _, m := range c.Val() {
			ms, _, _ := strings.Cut(m.ID, "-")
			n, _ := strconv.ParseInt(ms, 10, 64) // Redis made it
			all = append(all, located{m, p, n})
		}
	}
	slices.SortStableFunc(all, func(x, y located) int { return int(x.at - y.at) })
	return all
}

// decodeEvent reads an event; its time is that of its place in the stream.
func decodeEvent(m redis.XMessage) (bridge.Event, error) {
	get := func(k string) string { s, _ := m.Values[k].(string); return s }
	ms, _, _ := strings.Cut(m.ID, "-")
	e := bridge.Event{
		Type: bridge.EventType(get("t")), Timestamp: millis(ms), InteractionID: bridge.ID(get("i")), SessionID: get("s"),
		Agent: get("a"), State: bridge.State(get("st")),
	}
	if x := get("x"); x != "" {
		var c correlationIDs
		if err := json.Unmarshal([]byte(x), &c); err != nil {
			return e, bridge.Wrap(bridge.CodeInternal, err, "stored event %s", m.ID)
		}
		e.ToolCallID, e.TurnID, e.ResponseID = c.ToolCall, c.Turn, c.ResponseID
	}
	if d := get("d"); d != "" {
		e.Data = json.RawMessage(d)
	}
	return e, nil
}

// A cursor is one stream position per partition, so that it resumes exactly
// even when the clocks of a Cluster's nodes differ.
func (b *Broker) parseCursor(s string) ([]string, error) {
	at := make([]string, b.partitions)
	for n := range at {
		at[n] = "0-0"
	}
	if s == "" {
		return at, nil
	}
	bad := bridge.Errorf(bridge.CodeInvalid, "cursor: is not one of ours").WithHint("use the id of an event, or leave it out to read from the beginning")
	parts := strings.Split(s, "_")
	if len(parts) != b.partitions {
		return nil, bad
	}
	for n, part := range parts {
		ms, seq, ok := strings.Cut(part, ".")
		a, err1 := strconv.ParseUint(ms, 36, 63)
		c, err2 := strconv.ParseUint(seq, 36, 63)
		if !ok || err1 != nil || err2 != nil {
			return nil, bad
		}
		at[n] = strconv.FormatUint(a, 10) + "-" + strconv.FormatUint(c, 10)
	}
	return at, nil
}

func formatCursor(at []string) string {
	parts := make([]string, len(at))
	for n, s := range at {
		ms, seq, _ := strings.Cut(s, "-")
		a, _ := strconv.ParseUint(ms, 10, 63)
		c, _ := strconv.ParseUint(seq, 10, 63)
		parts[n] = strconv.FormatUint(a, 36) + "." + strconv.FormatUint(c, 36)
	}
	return strings.Join(parts, "_")
}

// Tidy removes what has outlived the retention from indexes and streams.
func (b *Broker) Tidy(ctx context.Context) error {
	now, err := b.client.Time(ctx).Result()
	if err != nil {
		return unavailable(err)
	}
	// The longest life: a timeout, an escalation, a hold.
	oldest := strconv.FormatInt(now.Add(-b.retention-3*bridge.MaxTimeout).UnixMilli(), 10)
	_, err = b.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for n := range b.partitions {
			p.ZRemRangeByScore(ctx, b.keys.all(n), "-inf", "("+oldest)
			p.XTrimMinID(ctx, b.keys.events(n), oldest)
			p.XTrimMinID(ctx, b.keys.late(n), oldest)
		}
		return nil
	})
	return unavailable(err)
}

// TidyEvery is how often Tidy needs to run.
const TidyEvery = time.Hour
