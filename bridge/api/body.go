package api

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
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

// read decodes a body strictly; errNoBody if there is none.
func read(r *http.Request, v any) error {
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil && dec.More() {
		err = errors.New("more than one JSON value")
	}
	if err == nil {
		return nil
	}
	if big, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return bridge.Errorf(bridge.CodeInvalid, "body: is larger than %d bytes", big.Limit)
	}
	if be, ok := errors.AsType[*bridge.Error](err); ok {
		return be
	}
	if errors.Is(err, io.EOF) {
		return errNoBody
	}
	if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return bridge.Errorf(bridge.CodeInvalid, "%s: is a %s, want %s", typed.Field, typed.Value, typed.Type)
	}
	return bridge.Errorf(bridge.CodeInvalid, "body: %s", strings.TrimPrefix(err.Error(), "json: "))
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
	if err != nil {
		return nil, bridge.Errorf(bridge.CodeInvalid, "body: can not be read")
	}
	return b, nil
}
