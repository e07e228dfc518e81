package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// Events calls f for each event after a cursor or a time, until ctx ends or f
// returns an error. If after is "0", it starts with the oldest event. If after
// is empty, it starts with the next event. It reconnects automatically and
// misses no events.
func (c *Client) Events(ctx context.Context, after, session string, f func(bridge.Event) error) error {
	s := stream{client: c, after: after, session: session, follow: true, f: f}
	return c.poll(ctx, c.window(), s.read)
}

// History calls f for each past event after a cursor or a time.
func (c *Client) History(ctx context.Context, after, session string, f func(bridge.Event) error) error {
	s := stream{client: c, after: after, session: session, f: f}
	return c.poll(ctx, c.window(), s.read)
}

// callbackError is an error of the caller's function, which is not retried.
type callbackError struct{ error }

// stream is a stream of events. If a call is cut off, the next one continues it.
type stream struct {
	client         *Client
	after, session string
	follow         bool // wait for more events
	f              func(bridge.Event) error
}

// read makes one call, and reports whether the stream is complete. The next
// call continues after the last event. Until then, a stream that was cut off is
// incomplete.
func (s *stream) read(ctx context.Context, _ string) (done bool, err error) {
	q := url.Values{"session": {s.session}, "after": {s.after}, "follow": {strconv.FormatBool(s.follow)}}
	resp, err := s.client.start(ctx, http.MethodGet, "/v1/events?"+q.Encode(), nil, nil, http.StatusOK)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(make([]byte, 64<<10), 4<<20)
	cursor := "" // position after the current event
	some := false
	for ; lines.Scan(); some = true {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			cursor = id
		}
		if lines.Text() == "" && cursor != "" {
			s.after = cursor // even without an event, so that the next call misses none
		}
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e bridge.Event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return false, bridge.Wrap(bridge.CodeInternal, err, "invalid event")
		}
		if err := s.f(e); err != nil {
			return false, callbackError{err}
		}
		s.after = e.Cursor
	}
	switch {
	case !s.follow && lines.Err() == nil:
		return true, nil
	case errors.Is(lines.Err(), bufio.ErrTooLong):
		return false, bridge.Wrap(bridge.CodeInternal, lines.Err(), "invalid event")
	case some:
		return false, nil
	}
	return false, s.client.away(ctx, errors.Join(lines.Err(), io.ErrUnexpectedEOF))
}
