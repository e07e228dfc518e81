package api

import (
	"bytes"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"strconv"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// errorBody is the body of every error.
type errorBody struct {
	Error *bridge.Error `json:"error"`
}

func fail(w http.ResponseWriter, e *bridge.Error) {
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
	}
	// The caller may have disconnected, so no one may receive the error.
	_ = write(w, e.Code.HTTPStatus(), errorBody{e})
}

func write(w http.ResponseWriter, status int, v any) error {
	raw, err := bridge.EncodeJSON(v)
	if err != nil {
		return bridge.Wrap(bridge.CodeInternal, err, "answer")
	}
	h := w.Header()
	h["Content-Type"] = contentJSON
	h["Content-Length"] = []string{strconv.Itoa(len(raw) + 1)} // otherwise the body is sent in chunks
	w.WriteHeader(status)
	_, err = w.Write(append(raw, '\n'))
	return err
}

// Values of headers and bodies that many responses share. They must not be
// changed.
var (
	contentJSON  = []string{"application/json"}
	noSniff      = []string{"nosniff"}
	daemonHeader = []string{"1"}
	noStore      = []string{"no-store"}
)

var errNoBody = bridge.Errorf(bridge.CodeInvalid, "body: required")

// read decodes a body that has only one meaning and no unknown fields. It
// returns errNoBody if the body is empty.
func read(r *http.Request, v any) error {
	raw, err := readRaw(r)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return errNoBody
	}
	return bridge.DecodeBody(raw, v)
}

// readOptional is like read, but accepts an empty body.
func readOptional(r *http.Request, v any) error {
	if err := read(r, v); !errors.Is(err, errNoBody) {
		return err
	}
	return nil
}

// readRaw returns the undecoded body, without a byte-order mark.
func readRaw(r *http.Request) ([]byte, error) {
	b, err := io.ReadAll(r.Body)
	if err = bodyError(err); err != nil {
		return nil, err
	}
	return dialect.TrimBOM(b), nil
}

// bodyError returns an error that names the body.
func bodyError(err error) error {
	if err == nil {
		return nil
	}
	if big, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return bridge.Errorf(bridge.CodeInvalid, "body: larger than %d bytes", big.Limit)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) { // the network was slow, so the caller can retry
		return bridge.Errorf(bridge.CodeUnavailable, "body: it did not arrive within %s", bodyTimeout)
	}
	return bridge.Errorf(bridge.CodeInvalid, "body: cannot be read")
}
