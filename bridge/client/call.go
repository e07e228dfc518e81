package client

import (
	"bytes"
	"context"
	"mime"
	"net/http"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

func (c *Client) request(ctx context.Context, method, path string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil || req.URL.Host == "" || req.URL.Scheme != "http" && req.URL.Scheme != "https" {
		return nil, c.invalidURL()
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
	return req, nil
}

func (c *Client) do(ctx context.Context, method, path string, header http.Header, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, pollFor+pollGrace)
	defer cancel()
	var body []byte
	if in != nil {
		var err error
		if body, err = bridge.EncodeBody(in); err != nil {
			return err
		}
	}
	req, err := c.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	for k, v := range header {
		req.Header[k] = v
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return c.away(err)
	}
	defer resp.Body.Close()
	if err := c.expected(resp, http.StatusOK, http.StatusCreated, http.StatusNoContent); err != nil {
		return err
	}
	if out == nil {
		return nil
	}
	if !isJSON(resp) {
		return foreign()
	}
	raw, err := readBody(resp, maxPage+1)
	if err != nil {
		return c.away(err) // retry an incomplete response
	}
	if len(raw) > maxPage {
		return foreign()
	}
	return readAnswer(raw, out)
}

// isJSON reports whether a response is JSON by its own account.
func isJSON(resp *http.Response) bool {
	text := resp.Header.Get("Content-Type")
	if text == contentJSON {
		return true
	}
	kind, _, err := mime.ParseMediaType(text)
	return err == nil && kind == contentJSON
}

const contentJSON = "application/json"
