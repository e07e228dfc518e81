package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/strictjson"
)

// errorBody is the body of every error.
type errorBody struct {
	Error *bridge.Error `json:"error"`
}

func fail(w http.ResponseWriter, e *bridge.Error) {
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
	}
	// The caller may have gone; there is nobody else to tell.
	_ = write(w, e.Code.HTTPStatus(), errorBody{e})
}

func write(w http.ResponseWriter, status int, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return bridge.Wrap(bridge.CodeInternal, err, "answer")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, err = w.Write(append(raw, '\n'))
	return err
}

var errNoBody = bridge.Errorf(bridge.CodeInvalid, "body: is empty")

// read decodes a body that has only one meaning and no unknown members. It
// returns errNoBody if there is none.
func read(r *http.Request, v any) error {
	raw, err := readRaw(r)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return errNoBody
	}
	err = strictjson.DecodeKnown(raw, v)
	if err == nil {
		return nil
	}
	if be, ok := errors.AsType[*bridge.Error](err); ok {
		return be
	}
	if e, ok := errors.AsType[*strictjson.Error](err); ok && e.Path != "" {
		return bridge.Errorf(bridge.CodeInvalid, "%s: %s", e.Path, e.Reason)
	}
	return bridge.Errorf(bridge.CodeInvalid, "body: %s", err)
}

// readOptional is read for a body that may be left out.
func readOptional(r *http.Request, v any) error {
	if err := read(r, v); !errors.Is(err, errNoBody) {
		return err
	}
	return nil
}

// readRaw is a body as it came, for what decodes it itself.
func readRaw(r *http.Request) ([]byte, error) {
	b, err := io.ReadAll(r.Body)
	if big, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, bridge.Errorf(bridge.CodeInvalid, "body: is larger than %d bytes", big.Limit)
	}
	if err != nil {
		return nil, bridge.Errorf(bridge.CodeInvalid, "body: can not be read")
	}
	return b, nil
}
