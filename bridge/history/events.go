package history

import (
	"context"
	"encoding/json"
	"math"
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

// eventBatch is the number of entries that are read at a time.
const eventBatch = 200

// Cursor returns the position after all events so far, which is the ID of the
// last entry of the journal. A time would skip the next event of the same
// millisecond.
func (r *Reader) Cursor(ctx context.Context) (string, error) {
	last, err := r.db.Newest(ctx, broker.Journal, "", 1)
	if err != nil {
		return "", documents.Public(err)
	}
	if len(last) == 0 {
		return formatCursor(beginning), nil
	}
	return formatCursor(last[0].ID), nil
}

// CursorAt returns the position before all events at a time or later.
func (r *Reader) CursorAt(at time.Time) string {
	return formatCursor(strconv.FormatInt(max(0, at.UnixMilli()-1), 10) + "-" + strconv.Itoa(math.MaxInt64))
}

// Events returns events after a cursor, oldest first. An empty cursor means the
// beginning. The cursor of an event resumes after it, without a gap or a
// repetition. If there are no events, Events returns no error.
func (r *Reader) Events(ctx context.Context, cursor string, f bridge.EventFilter) ([]bridge.Event, string, error) {
	at, err := parseCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	for {
		read, err := r.db.Entries(ctx, broker.Journal, at, eventBatch)
		if err != nil {
			return nil, "", documents.Public(err)
		}
		var out []bridge.Event
		for _, m := range read {
			at = m.ID
			if m.Get("t") == "" {
				continue // an entry that is only in the audit log
			}
			e, err := decodeEvent(m)
			if err != nil { // nod did not write it
				r.log.Warn("event skipped because it cannot be read", "entry", m.ID, "error", err)
				continue
			}
			if (f.Session == "" || e.SessionID == f.Session) && (f.Agent == "" || e.Agent == f.Agent) {
				e.Cursor = formatCursor(at)
				out = append(out, e)
			}
		}
		out, err = r.verified(ctx, out)
		if err != nil || len(out) > 0 || len(read) == 0 { // readers interpret an empty batch as the end
			return out, formatCursor(at), err
		}
	}
}

// verified returns the events that agree with the documents. This check is
// necessary because the journal has no seal. Openings, responses, closings,
// votes, deferrals, and events about asking more people are compared with the
// record. If they are about the request or the response, their data comes from
// the record. Events whose record is gone have no data. Votes also have a
// signature. Other events are not checked. The replicas have confirmed
// everything that people did: decisions, votes and deferrals with their
// records, and stops.
func (r *Reader) verified(ctx context.Context, events []bridge.Event) ([]bridge.Event, error) {
	var ids []bridge.ID
	var at []int
	stops := false
	for k, e := range events {
		switch e.Type {
		case bridge.EventRequest, bridge.EventWidened, bridge.EventResponse, bridge.EventVoted, bridge.EventQueued:
			ids, at = append(ids, e.InteractionID), append(at, k)
		case bridge.EventStopped, bridge.EventResumed:
			stops = true
		default:
			if e.State.Final() {
				ids, at = append(ids, e.InteractionID), append(at, k)
			}
		}
	}
	all, err := r.core.Read(ctx, ids)
	if err == nil && stops {
		err = documents.Public(r.db.Confirm(ctx))
	}
	if err != nil {
		return nil, err
	}
	out := events[:0]
	for k, e := range events {
		good := true
		if n := slices.Index(at, k); n >= 0 {
			if good, err = r.confirmed(&e, all[n]); err != nil {
				return nil, err
			}
		}
		good = good && (e.Type != bridge.EventVoted || r.voted(&e))
		if !good {
			r.log.Warn("event skipped because it does not verify", "id", e.InteractionID, "event", e.Type)
			continue
		}
		out = append(out, e)
	}
	return out, nil
}

// confirmed reports whether an event agrees with the stored documents. It adds
// their data to the event.
func (r *Reader) confirmed(e *bridge.Event, f core.Found) (good bool, err error) {
	shows := e.Type == bridge.EventRequest || e.Type == bridge.EventWidened
	switch {
	case bridge.ErrorCode(f.Err) == bridge.CodeNotFound: // the retention of the record has passed
		if shows {
			e.Data = nil
		}
		return shows || !e.State.Decided(), nil
	case f.Err != nil:
		return false, f.Err
	case f.Problem != "", f.Life.Agent != e.Agent, f.Life.Session != e.SessionID, e.State.Final() && f.Life.State != e.State:
		return false, nil
	case shows:
		e.Data = f.BodyDoc.Value
	case e.Type == bridge.EventResponse && f.Life.Response == nil:
		return false, nil
	case e.Type == bridge.EventResponse:
		e.Data, err = bridge.EncodeJSON(f.Life.Response)
	}
	return err == nil, err
}

// voted reports whether a daemon signed the vote of an event. If so, the vote
// stays the data of the event.
func (r *Reader) voted(e *bridge.Event) bool {
	_, why := r.core.Signer().EntryProblem(bridge.AuditEntry{
		Type: bridge.AuditVote, Timestamp: e.Timestamp.UnixMilli(), ID: e.InteractionID, Agent: e.Agent, Session: e.SessionID, State: e.State, Data: e.Data,
	})
	var v bridge.Vote
	if why != "" || json.Unmarshal(e.Data, &v) != nil {
		return false
	}
	var err error
	e.Data, err = bridge.EncodeJSON(&v)
	return err == nil
}

// decodeEvent decodes an event. The time of the event is the time of its ID in
// the stream.
func decodeEvent(m broker.Entry) (bridge.Event, error) {
	e := bridge.Event{
		Type: bridge.EventType(m.Get("t")), Timestamp: time.UnixMilli(documents.TimeOf(m.ID)).UTC(), InteractionID: bridge.ID(m.Get("i")), SessionID: m.Get("s"),
		Agent: m.Get("a"), State: bridge.State(m.Get("st")),
	}
	if x := m.Get("x"); x != "" {
		var c life.CorrelationIDs
		if err := json.Unmarshal([]byte(x), &c); err != nil {
			return e, err
		}
		e.ToolCallID, e.TurnID, e.ResponseID = c.ToolCall, c.Turn, c.ResponseID
	}
	// The response is also in the record while the record is stored.
	if d := m.Get("d"); d != "" && e.Type != bridge.EventResponse {
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
