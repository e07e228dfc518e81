package client

import (
	"bytes"
	"io"
	"net/http"

	"github.com/nodbridge/nod/bridge/strictjson"
)

// maxPage limits a JSON response, in bytes. It allows a page of the largest
// records.
const maxPage = 256 << 20

// usualBody is the size of most responses, in bytes.
const usualBody = 64 << 10

// readBody returns at most limit bytes of a response. It reserves memory for the
// length that the response states, unless that is unusually long.
func readBody(resp *http.Response, limit int64) ([]byte, error) {
	var b bytes.Buffer
	if n := resp.ContentLength; n > 0 {
		b.Grow(int(min(n, usualBody)) + bytes.MinRead)
	}
	_, err := b.ReadFrom(io.LimitReader(resp.Body, limit))
	return b.Bytes(), err
}

// answers are the limits of a daemon's response, which may be a page of
// records.
var answers = strictjson.Limits{Depth: 1000, Bytes: maxPage}

// readAnswer decodes a daemon's response. It rejects text that only a lenient
// decoder accepts, because a daemon never sends that.
func readAnswer(raw []byte, out any) error {
	if err := answers.Decode(raw, out); err != nil {
		return foreign()
	}
	return nil
}
