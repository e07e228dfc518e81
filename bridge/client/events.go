package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// Events calls f for each event after a cursor or a time, until ctx ends or f
// returns an error. If after is "0", it starts with the oldest event, and if it
// is empty, with the next one. It reconnects automatically and misses no
// events.
func (c *Client) Events(ctx context.Context, after, session string, f func(bridge.Event) error) error {
	s := stream{client: c, after: after, session: session, follow: true, f: f}
	for {
		if err := c.retry(ctx, s.read); err != nil {
			return err
		}
	}
}

// History calls f for each past event after a cursor or a time.
func (c *Client) History(ctx context.Context, after, session string, f func(bridge.Event) error) error {
	s := stream{client: c, after: after, session: session, f: f}
	return c.retry(ctx, s.read)
}

// callbackError is an error of the caller's function, which is not retried.
type callbackError struct{ error }

// stream is a stream of events, which several calls can read.
type stream struct {
	client         *Client
	after, session string
	follow         bool // wait for more events
	f              func(bridge.Event) error
}

// read makes one call. The next one continues after the last event.
func (s *stream) read(ctx context.Context) error {
	q := url.Values{"session": {s.session}, "after": {s.after}, "follow": {strconv.FormatBool(s.follow)}}
	resp, err := s.client.read(ctx, "/v1/events?"+q.Encode())
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(make([]byte, 64<<10), 4<<20)
	cursor := "" // the position after what is being read
	for lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			cursor = id
		}
		if lines.Text() == "" && cursor != "" {
			s.after = cursor // also without an event, so that the next call misses none
		}
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e bridge.Event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return bridge.Wrap(bridge.CodeInternal, err, "invalid event")
		}
		if err := s.f(e); err != nil {
			return callbackError{err}
		}
		s.after = e.Cursor
	}
	if !s.follow && lines.Err() == nil {
		return nil
	}
	return s.client.away(errors.Join(lines.Err(), io.ErrUnexpectedEOF))
}
