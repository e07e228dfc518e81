package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/strictjson"
)

// maxBody limits a response, in bytes. It allows a page of the largest records.
const maxBody = 256 << 20

const contentJSON = "application/json"

// checked returns the address of a daemon without the parts that a caller may
// add. It returns "" if the address is not the URL of a daemon: the token is
// the only credential.
func checked(base string) string {
	base = strings.TrimRight(strings.TrimSpace(base), "/")
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" || u.User != nil || strings.ContainsAny(base, "?#") || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	if _, err := strconv.ParseUint(u.Port(), 10, 16); err != nil && u.Port() != "" {
		return ""
	}
	return base
}

// request returns a call of the daemon.
func (c *Client) request(ctx context.Context, method, path string, header http.Header, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil || c.base == "" {
		return nil, bridge.Errorf(bridge.CodeInvalid, "invalid daemon URL").
			WithHint("set NOD_URL to a URL such as http://127.0.0.1:8787, without a user, a query and a fragment")
	}
	if strings.ContainsFunc(c.token, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return nil, bridge.Errorf(bridge.CodeInvalid, "the token contains a space or a line break").WithHint("set NOD_TOKEN to the whole token, and to nothing else")
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	if c.Trace != "" {
		req.Header.Set("Traceparent", c.Trace)
	}
	if body != nil {
		req.Header.Set("Content-Type", contentJSON)
	}
	for name, values := range header {
		// the HTTP client would report this like an outage
		if strings.ContainsFunc(strings.Join(values, ""), func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return nil, bridge.Errorf(bridge.CodeInvalid, "%s: contains a line break or another control character", name)
		}
		req.Header[name] = values
	}
	return req, nil
}

// start makes a call whose response has one of the statuses. The caller closes the
// body.
func (c *Client) start(ctx context.Context, method, path string, header http.Header, body []byte, statuses ...int) (*http.Response, error) {
	req, err := c.request(ctx, method, path, header, body)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.away(ctx, err)
	}
	if err := c.expected(resp, statuses...); err != nil {
		defer resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// reply is a complete response.
type reply struct {
	status int
	header http.Header
	raw    []byte
}

// send makes a call within the time limit of one call, and returns the complete
// response. If the response is incomplete, the call may be repeated.
func (c *Client) send(ctx context.Context, method, path string, header http.Header, body []byte, statuses ...int) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, c.window()+c.grace())
	defer cancel()
	resp, err := c.start(ctx, method, path, header, body, statuses...)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	var raw bytes.Buffer
	if resp.ContentLength <= maxBody {
		_, err = raw.ReadFrom(io.LimitReader(resp.Body, maxBody+1))
	}
	if err == nil && max(resp.ContentLength, int64(raw.Len())) > maxBody {
		err = errors.New("the response is too long")
	}
	if err != nil {
		return reply{}, c.away(ctx, err)
	}
	return reply{resp.StatusCode, resp.Header, raw.Bytes()}, nil
}

// kind returns the media type of a response.
func (r reply) kind() string {
	text := r.header.Get("Content-Type")
	if text == contentJSON {
		return text
	}
	kind, _, err := mime.ParseMediaType(text)
	if err != nil {
		return ""
	}
	return kind
}

// decode decodes a response. It rejects text that only a lenient decoder accepts,
// because a daemon never sends that.
func (r reply) decode(out any) error {
	limits := strictjson.Limits{Depth: 1000, Bytes: maxBody}
	if r.kind() != contentJSON || limits.Decode(r.raw, out) != nil {
		return foreign()
	}
	return nil
}

// call is one operation of the API.
type call struct {
	method, path string
	query        url.Values
	header       http.Header
	body         any  // encoded as JSON; nil sends none
	again        bool // retry while the daemon is unreachable, because a repeat has no further effect
}

// at returns the path of an operation. It escapes the parts.
func at(parts ...string) string {
	path := "/v1"
	for _, p := range parts {
		path += "/" + url.PathEscape(p)
	}
	return path
}

// do makes a call, and decodes the response unless out is nil.
func (c *Client) do(ctx context.Context, o call, out any) error {
	if o.again {
		o.again = false
		return c.retry(ctx, func(ctx context.Context) error { return c.do(ctx, o, out) })
	}
	if len(o.query) > 0 {
		o.path += "?" + o.query.Encode()
	}
	var body []byte
	if o.body != nil {
		var err error
		if body, err = bridge.EncodeBody(o.body); err != nil {
			return err
		}
	}
	answer, err := c.send(ctx, o.method, o.path, o.header, body, http.StatusOK, http.StatusCreated, http.StatusNoContent)
	if err == nil && out != nil {
		err = answer.decode(out)
	}
	return err
}

// result makes a call, and returns the decoded response.
func result[T any](ctx context.Context, c *Client, o call) (T, error) {
	var out T
	err := c.do(ctx, o, &out)
	return out, err
}

// items makes a call whose response is a list, and returns its items.
func items[T any](ctx context.Context, c *Client, o call) ([]T, error) {
	page, err := result[bridge.Page[T]](ctx, c, o)
	return page.Items, err
}

// record makes a call whose response is the record of the request with an ID,
// or of any request if id is empty.
func (c *Client) record(ctx context.Context, id bridge.ID, o call) (bridge.Record, error) {
	rec, err := result[bridge.Record](ctx, c, o)
	if err == nil {
		err = whole(rec, id)
	}
	return rec, err
}
