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
	for {
		err := c.retry(ctx, func(ctx context.Context) error { return c.stream(ctx, &after, session, true, f) })
		if err != nil {
			return err
		}
	}
}

// History calls f for each past event after a cursor or a time.
func (c *Client) History(ctx context.Context, after, session string, f func(bridge.Event) error) error {
	return c.retry(ctx, func(ctx context.Context) error { return c.stream(ctx, &after, session, false, f) })
}

// callbackError is an error of the caller's function, which is not retried.
type callbackError struct{ error }

func (c *Client) stream(ctx context.Context, after *string, session string, follow bool, f func(bridge.Event) error) error {
	q := url.Values{"session": {session}, "after": {*after}, "follow": {strconv.FormatBool(follow)}}
	resp, err := c.read(ctx, "/v1/events?"+q.Encode())
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(make([]byte, 64<<10), 4<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e bridge.Event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return bridge.Wrap(bridge.CodeInternal, err, "invalid event")
		}
		if err := f(e); err != nil {
			return callbackError{err}
		}
		*after = e.Cursor
	}
	if !follow && lines.Err() == nil {
		return nil
	}
	return away(errors.Join(lines.Err(), io.ErrUnexpectedEOF))
}
