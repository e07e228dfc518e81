package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/nodbridge/nod/bridge"
)

const (
	eventPoll = 200 * time.Millisecond
	// keepAlive is the time between comments that keep proxies from closing the
	// connection.
	keepAlive = 15 * time.Second
)

// position returns the cursor at which a stream of events starts: after an
// event ID, at the oldest event ("0"), at a time (RFC 3339), or now if after is
// empty.
func (s shared) position(ctx context.Context, after string) (string, error) {
	switch after {
	case "0":
		return "", nil
	case "":
		return s.reader.Cursor(ctx)
	}
	if at, err := time.Parse(time.RFC3339, after); err == nil {
		return s.reader.CursorAt(at), nil
	}
	return after, nil
}

// events streams events as server-sent events. The stream starts after
// Last-Event-ID or ?after=, and otherwise now. With ?follow=false it ends after
// the events that have happened so far.
func (s streams) events(w http.ResponseWriter, r *http.Request, p Principal) error {
	f := bridge.EventFilter{Session: r.URL.Query().Get("session")}
	if p.Agent != nil {
		f.Agent = p.Agent.Name
	}
	cursor := r.Header.Get("Last-Event-ID")
	if cursor == "" {
		cursor = r.URL.Query().Get("after")
	}
	follow := r.URL.Query().Get("follow") != "false"
	cursor, err := s.position(r.Context(), cursor)
	if err != nil {
		return err
	}
	from := cursor
	batch, cursor, err := s.readableEvents(r.Context(), p, cursor, f) // report an invalid cursor before the stream starts
	if err != nil {
		return err
	}
	startStream(w)
	if _, err := fmt.Fprintf(w, ": nod events\nid: %s\n\n", streamID(from)); err != nil {
		return nil
	}
	stream := eventStream{s: s, w: w, r: r, p: p, filter: f, follow: follow, still: still(r.Context())}
	stream.run(batch, cursor)
	return nil
}

// eventStream is an event stream whose response has started.
type eventStream struct {
	s      streams
	w      http.ResponseWriter
	r      *http.Request
	p      Principal
	filter bridge.EventFilter
	follow bool
	still  func() bool // returned by still
}

// run writes a batch and the events after its cursor until the stream ends.
func (x eventStream) run(batch []bridge.Event, cursor string) {
	rc, last, checked := http.NewResponseController(x.w), time.Now(), time.Now()
	for {
		if len(batch) > 0 || time.Since(last) > keepAlive {
			last = time.Now()
			if !emit(x.w, batch, cursor) {
				return
			}
		}
		if rc.Flush() != nil || !x.follow && len(batch) == 0 {
			return
		}
		if x.follow && !x.s.pauseEvents(x.r.Context()) {
			return
		}
		if x.still != nil && time.Since(checked) > stillEvery {
			if checked = time.Now(); !x.still() {
				return
			}
		}
		next, at, err := x.s.readableEvents(x.r.Context(), x.p, cursor, x.filter)
		switch {
		case err == nil:
			batch, cursor = next, at
		case x.r.Context().Err() != nil:
			return
		case !x.follow:
			// If the stream ended in the regular way, an incomplete history
			// would look complete.
			x.s.log.Warn("events cannot be read; closing the stream", "error", err)
			panic(http.ErrAbortHandler)
		default:
			x.s.log.Warn("events cannot be read; retrying", "error", err)
			batch = nil // keep the cursor
		}
	}
}

// withoutMetadata returns the data of an event in the form that people read;
// see forReader.
func withoutMetadata(data json.RawMessage) json.RawMessage {
	const name = "metadata"
	if !bytes.Contains(data, []byte(`"`+name+`"`)) {
		return data
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil || members[name] == nil {
		return data // no request
	}
	delete(members, name)
	raw, err := bridge.EncodeJSON(members)
	if err != nil {
		return nil
	}
	return raw
}

// readableEvents returns the next events after a cursor that the caller may
// read. It skips the others, so an empty batch means that there are no more
// events.
func (s shared) readableEvents(ctx context.Context, p Principal, cursor string, f bridge.EventFilter) ([]bridge.Event, string, error) {
	for {
		batch, next, err := s.reader.Events(ctx, cursor, f)
		if p.Agent == nil {
			for n := range batch {
				batch[n].Data = withoutMetadata(batch[n].Data)
			}
		}
		if err != nil || len(batch) == 0 || p.Agent != nil || p.Auditor {
			return batch, next, err
		}
		out := batch[:0:0]
		for _, e := range batch {
			rec, err := s.engine.Get(ctx, e.InteractionID)
			if bridge.ErrorCode(err) == bridge.CodeNotFound || rec.Unverified != "" {
				// The request, with its list of readers, was deleted after its
				// retention, or was changed outside nod.
				continue
			}
			may := false
			if err == nil {
				may, err = s.mayRead(ctx, p, rec.Interaction)
			}
			if err != nil {
				return nil, "", err
			}
			if may {
				out = append(out, e)
			}
		}
		if cursor = next; len(out) > 0 {
			return out, next, nil
		}
	}
}

// startStream starts a response with server-sent events. It asks proxies not to
// hold back or to change what it sends.
func startStream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store, no-transform")
	w.Header().Set("X-Accel-Buffering", "no")
	requestRead(w)
	w.WriteHeader(http.StatusOK)
}

// streamID returns a cursor as the ID of an event. A client that reconnects
// sends it as Last-Event-ID. An empty ID would mean now.
func streamID(cursor string) string { return cmp.Or(cursor, "0") }

// emit writes events, or the cursor and a comment if there are none, and reports
// whether the write succeeded.
func emit(w io.Writer, batch []bridge.Event, cursor string) bool {
	if len(batch) == 0 {
		_, err := fmt.Fprintf(w, ": keep-alive\nid: %s\n\n", streamID(cursor))
		return err == nil
	}
	for _, e := range batch {
		raw, err := bridge.EncodeJSON(e)
		if err != nil {
			return false
		}
		if _, err := fmt.Fprintf(w, "id: %s\nevent: %s\ndata: %s\n\n", e.Cursor, e.Type, raw); err != nil {
			return false
		}
	}
	return true
}

// comment writes a comment, which keeps proxies from closing the connection.
func comment(w io.Writer) bool {
	_, err := fmt.Fprint(w, ": keep-alive\n\n")
	return err == nil
}

// pauseEvents waits before the next read. It returns false if the stream has to
// end.
func (s shared) pauseEvents(ctx context.Context) bool {
	t := time.NewTimer(eventPoll)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-s.closing.Done():
		return false
	case <-t.C:
		return true
	}
}
