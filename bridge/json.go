package bridge

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge/removed"
	"github.com/nodbridge/nod/bridge/strictjson"
)

// exactJSON limits the JSON values that people decide on.
var exactJSON = strictjson.Limits{Depth: 512, Exact: true}

// CheckJSON returns CodeInvalid unless raw is exactly one JSON value that every
// parser reads in the same way. It rejects duplicate names, unpaired
// surrogates, and numbers that a float64 cannot represent exactly.
func CheckJSON(raw []byte) error {
	err := exactJSON.Check(raw)
	if err == nil {
		return nil
	}
	refused := Errorf(CodeInvalid, "json: %s", err)
	if e, ok := errors.AsType[*strictjson.Error](err); ok && e.Path != "" {
		refused.Message = e.Error()
	}
	if errors.Is(err, strictjson.ErrInexact) {
		refused.Hint = "send it as a string"
	}
	return refused
}

// DecodeBody decodes the body of a call. The JSON must have only one meaning
// and no unknown fields. DecodeBody returns CodeInvalid with the path of the
// problem. For a field that was removed from nod, the hint names the
// replacement.
func DecodeBody(raw []byte, v any) error {
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return Errorf(CodeInvalid, "body: must be an object, not null")
	}
	err := strictjson.DecodeKnown(raw, v)
	if err == nil {
		return nil
	}
	if own, ok := errors.AsType[*Error](err); ok {
		return own
	}
	e, ok := errors.AsType[*strictjson.Error](err)
	if !ok {
		return Errorf(CodeInvalid, "body: %s", err)
	}
	at := cmp.Or(e.Path, "body")
	refused := Errorf(CodeInvalid, "%s: %s", at, e.Reason)
	if instead, was := removed.Instead(removed.Field, fieldPath(e)); was {
		refused.Message, refused.Hint = fmt.Sprintf("%s: removed field %q", at, e.Unknown), instead
	}
	return refused
}

// EncodeBody returns the body of a call as JSON that every parser reads back
// unchanged. It returns CodeInvalid with the path of a text that is not valid
// UTF-8, because people would see a different text from the one that the caller
// has.
func EncodeBody(v any) ([]byte, error) {
	raw, err := strictjson.Encode(v)
	if e, ok := errors.AsType[*strictjson.Error](err); ok {
		return nil, Errorf(CodeInvalid, "%s: %s", cmp.Or(e.Path, "body"), e.Reason)
	}
	if err != nil {
		return nil, Wrap(CodeInvalid, err, "body")
	}
	return raw, nil
}

// fieldPath returns the path of an unknown field without indexes, or "".
func fieldPath(e *strictjson.Error) string {
	if e.Unknown == "" {
		return ""
	}
	var parts []string
	for part := range strings.SplitSeq(e.Path+"."+e.Unknown, ".") {
		if _, err := strconv.Atoi(part); err != nil && part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ".")
}

// EncodeJSON returns compact JSON. Unlike [json.Marshal], it does not escape <, >
// and &, because people and models read the result.
func EncodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// htmlEscapes maps the HTML escapes of [json.Marshal], which JSON does not
// require, to their characters.
var htmlEscapes = map[string]byte{`\u003c`: '<', `\u003e`: '>', `\u0026`: '&', `\u003C`: '<', `\u003E`: '>'}

// ReadableJSON returns valid JSON without escapes of <, > and &. The rest of it
// stays unchanged.
func ReadableJSON(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for n := 0; n < len(raw); n++ {
		if raw[n] != '\\' || n+1 == len(raw) {
			out = append(out, raw[n])
			continue
		}
		if n+6 <= len(raw) {
			if c, ok := htmlEscapes[string(raw[n:n+6])]; ok {
				out, n = append(out, c), n+5
				continue
			}
		}
		out = append(out, raw[n], raw[n+1])
		n++
	}
	return out
}
