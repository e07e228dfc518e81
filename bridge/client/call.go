package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
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
		return nil, bridge.Errorf(bridge.CodeInvalid, "the token has a space or a line break inside").WithHint("set NOD_TOKEN to the whole token, and to nothing else")
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	if c.Trace != "" {
		req.Header.Set("Traceparent", c.Trace)
	}
	if body != nil {
		req.Header.Set("Content-Type", contentJSON)
	}
	maps.Copy(req.Header, header)
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

// do makes a call with JSON, and decodes the response unless out is nil.
func (c *Client) do(ctx context.Context, method, path string, header http.Header, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = bridge.EncodeBody(in); err != nil {
			return err
		}
	}
	answer, err := c.send(ctx, method, path, header, body, http.StatusOK, http.StatusCreated, http.StatusNoContent)
	if err == nil && out != nil {
		err = answer.decode(out)
	}
	return err
}
