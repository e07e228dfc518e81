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

// eventBatch is the number of events of a partition that are read at a time.
const eventBatch = 200

// events reads the events in the journals of the partitions.
type events struct{ *core }

// Cursor returns the position after all events so far: that of the last entry of
// each journal. A time would skip the next event of the same millisecond.
func (ev *events) Cursor(ctx context.Context) (string, error) {
	last := make([]*redis.XMessageSliceCmd, ev.partitions)
	_, err := ev.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for n := range last {
			last[n] = p.XRevRangeN(ctx, ev.keys.journal(n), "+", "-", 1)
		}
		return nil
	})
	if err != nil {
		return "", unavailable(err)
	}
	at := make([]string, ev.partitions)
	for n, c := range last {
		at[n] = "0-0"
		if m := c.Val(); len(m) > 0 {
			at[n] = m[0].ID
		}
	}
	return formatCursor(at), nil
}

// CursorAt returns the position before all events at a time or later.
func (ev *events) CursorAt(at time.Time) string {
	return ev.everywhere(strconv.FormatInt(max(0, at.UnixMilli()-1), 10) + "-" + strconv.Itoa(math.MaxInt64))
}

// everywhere returns the cursor with the same stream ID in every partition.
func (ev *events) everywhere(id string) string {
	at := make([]string, ev.partitions)
	for p := range at {
		at[p] = id
	}
	return formatCursor(at)
}

// Events returns events after a cursor, oldest first within a partition, and
// therefore within a session. An empty cursor means the beginning. The cursor
// of each event resumes after it, without gap or repeat, whatever was read from
// other partitions. It is not an error if there are no events.
func (ev *events) Events(ctx context.Context, cursor string, f bridge.EventFilter) ([]bridge.Event, string, error) {
	at, err := ev.parseCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	only := -1
	if f.Session != "" {
		only = ev.partition(f.Session, "")
	}
	for {
		out, more, err := ev.page(ctx, at, only, f)
		if err != nil {
			return nil, "", err
		}
		if len(out) > 0 || !more { // readers take an empty batch for the end
			return out, formatCursor(at), ev.fillIn(ctx, out)
		}
	}
}

// page reads the next entries of all partitions, or of only one if it is not
// negative, and moves their positions on. It reports whether there were any.
func (ev *events) page(ctx context.Context, at []string, only int, f bridge.EventFilter) (out []bridge.Event, more bool, err error) {
	cmds := make([]*redis.XMessageSliceCmd, ev.partitions)
	_, err = ev.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for n := range cmds {
			if only < 0 || n == only {
				cmds[n] = p.XRangeN(ctx, ev.keys.journal(n), "("+at[n], "+", eventBatch)
			}
		}
		return nil
	})
	if err != nil {
		return nil, false, unavailable(err)
	}
	read := mergeEvents(cmds)
	for _, m := range read {
		at[m.partition] = m.ID
		if t := m.Values["t"]; t == nil || t == "" {
			continue // an entry of the audit log alone
		}
		e, err := decodeEvent(m.XMessage)
		if err != nil {
			return nil, false, err
		}
		if (f.Session != "" && e.SessionID != f.Session) || (f.Agent != "" && e.Agent != f.Agent) {
			continue
		}
		e.Cursor = formatCursor(at)
		out = append(out, e)
	}
	return out, len(read) > 0, nil
}

// fillIn adds the data of openings and responses from the records, where it
// does not change. Events that outlived their record have none.
func (ev *events) fillIn(ctx context.Context, events []bridge.Event) error {
	fields := map[bridge.EventType]string{bridge.EventRequest: fieldOpened, bridge.EventResponse: fieldResponse}
	cmds := make([]*redis.StringCmd, len(events))
	_, err := ev.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for k, e := range events {
			if field := fields[e.Type]; field != "" {
				cmds[k] = p.HGet(ctx, ev.keys.record(e.InteractionID), field)
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
			n, _ := strconv.ParseInt(ms, 10, 64) // Redis generated it
			all = append(all, located{m, p, n})
		}
	}
	slices.SortStableFunc(all, func(x, y located) int { return int(x.at - y.at) })
	return all
}

// decodeEvent decodes an event. Its time is that of its ID in the stream.
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
	// That of a response is in the record as well, if it is still stored.
	if d := get("d"); d != "" && e.Type != bridge.EventResponse {
		e.Data = json.RawMessage(d)
	}
	return e, nil
}

// parseCursor parses a cursor, which is one stream position per partition, so
// that it resumes exactly even when the clocks of a Cluster's nodes differ.
func (ev *events) parseCursor(s string) ([]string, error) {
	at := make([]string, ev.partitions)
	for n := range at {
		at[n] = "0-0"
	}
	if s == "" {
		return at, nil
	}
	bad := bridge.Errorf(bridge.CodeInvalid, "cursor: invalid value %q", s).
		WithHint("use the ID of an event, or leave it out to read from the beginning")
	parts := strings.Split(s, "_")
	if len(parts) != ev.partitions {
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
