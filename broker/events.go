package broker

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// eventBatch is the number of entries that are read at a time.
const eventBatch = 200

// events reads the events in the journal.
type events struct{ *core }

// Cursor returns the position after all events so far: that of the last entry of
// the journal. A time would skip the next event of the same millisecond.
func (ev *events) Cursor(ctx context.Context) (string, error) {
	last, err := ev.client.XRevRangeN(ctx, ev.keys.journal(), "+", "-", 1).Result()
	if err != nil {
		return "", unavailable(err)
	}
	if len(last) == 0 {
		return formatCursor(beginning), nil
	}
	return formatCursor(last[0].ID), nil
}

// CursorAt returns the position before all events at a time or later.
func (ev *events) CursorAt(at time.Time) string {
	return formatCursor(strconv.FormatInt(max(0, at.UnixMilli()-1), 10) + "-" + strconv.Itoa(math.MaxInt64))
}

// Events returns events after a cursor, oldest first. An empty cursor means the
// beginning. The cursor of each event resumes after it, without gap or repeat. It
// is not an error if there are no events.
func (ev *events) Events(ctx context.Context, cursor string, f bridge.EventFilter) ([]bridge.Event, string, error) {
	at, err := parseCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	for {
		read, err := ev.client.XRangeN(ctx, ev.keys.journal(), "("+at, "+", eventBatch).Result()
		if err != nil {
			return nil, "", unavailable(err)
		}
		var out []bridge.Event
		for _, m := range read {
			at = m.ID
			if t := m.Values["t"]; t == nil || t == "" {
				continue // an entry of the audit log alone
			}
			e, err := decodeEvent(m)
			if err != nil {
				return nil, "", err
			}
			if (f.Session == "" || e.SessionID == f.Session) && (f.Agent == "" || e.Agent == f.Agent) {
				e.Cursor = formatCursor(at)
				out = append(out, e)
			}
		}
		if len(out) > 0 || len(read) == 0 { // readers take an empty batch for the end
			return out, formatCursor(at), ev.fillIn(ctx, out)
		}
	}
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

// beginning is the ID before all entries of a stream.
const beginning = "0-0"

// parseCursor returns the ID of an entry that a cursor names.
func parseCursor(s string) (string, error) {
	if s == "" {
		return beginning, nil
	}
	ms, seq, ok := strings.Cut(s, ".")
	a, err1 := strconv.ParseUint(ms, 36, 63)
	c, err2 := strconv.ParseUint(seq, 36, 63)
	if !ok || err1 != nil || err2 != nil {
		return "", bridge.Errorf(bridge.CodeInvalid, "cursor: invalid value %q", s).
			WithHint("use the ID of an event, or leave it out to read from the beginning")
	}
	return strconv.FormatUint(a, 10) + "-" + strconv.FormatUint(c, 10), nil
}

func formatCursor(at string) string {
	ms, seq, _ := strings.Cut(at, "-")
	a, _ := strconv.ParseUint(ms, 10, 63)
	c, _ := strconv.ParseUint(seq, 10, 63)
	return strconv.FormatUint(a, 36) + "." + strconv.FormatUint(c, 36)
}
