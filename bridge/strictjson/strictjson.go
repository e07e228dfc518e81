// Package strictjson decodes JSON that another program may read too, so that
// no two readers can find different values in the same bytes. Member names are
// case-sensitive. Duplicate names at any depth, invalid UTF-8, unpaired
// surrogates, data after the value, and values that are too deep or too large
// are refused.
package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Default limits of a value.
const (
	MaxDepth = 100      // objects and arrays inside each other
	MaxBytes = 32 << 20 // of the text
)

// Error is the error of a value that was refused.
type Error struct {
	// Path leads to the refused part, such as params.items.2. It is empty for
	// the value itself.
	Path string
	// Reason completes the sentence "The value …", such as "is not valid JSON".
	Reason string
	// Cause is ErrInexact, or the error of an UnmarshalJSON method. It may be
	// nil.
	Cause error
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Error implements error.
func (e *Error) Error() string {
	if e.Path == "" {
		return e.Reason
	}
	return e.Path + ": " + e.Reason
}

// Limits bounds a value. A zero field means the default.
type Limits struct {
	Depth, Bytes int
	// Exact refuses numbers that a double does not hold exactly, as readers
	// round them in different ways.
	Exact bool
}

// Check returns an error if raw is not exactly one value that every reader
// understands in the same way.
func Check(raw []byte) error { return Limits{}.Check(raw) }

// Decode reads raw into v. Unknown members are ignored, but they are checked
// like all others.
func Decode(raw []byte, v any) error { return Limits{}.decode(raw, v, false) }

// DecodeKnown reads raw into v. Unknown members are refused.
func DecodeKnown(raw []byte, v any) error { return Limits{}.decode(raw, v, true) }

// Decode reads raw into v under the limits. Unknown members are ignored.
func (l Limits) Decode(raw []byte, v any) error { return l.decode(raw, v, false) }

// DecodeKnown reads raw into v under the limits. Unknown members are refused.
func (l Limits) DecodeKnown(raw []byte, v any) error { return l.decode(raw, v, true) }

// Check is the function Check under other limits.
func (l Limits) Check(raw []byte) error {
	maxDepth, maxBytes := MaxDepth, MaxBytes
	if l.Depth > 0 {
		maxDepth = l.Depth
	}
	if l.Bytes > 0 {
		maxBytes = l.Bytes
	}
	if len(raw) > maxBytes {
		return &Error{Reason: fmt.Sprintf("is longer than %d bytes", maxBytes)}
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(false), jsontext.AllowInvalidUTF8(false))
	for {
		token, err := dec.ReadToken()
		if err != nil {
			if errors.Is(err, io.EOF) && dec.InputOffset() == 0 {
				return &Error{Reason: "is empty"}
			}
			return refused(err)
		}
		if l.Exact && token.Kind() == '0' && !isDouble(token.String()) {
			return &Error{Path: pathOf(dec.StackPointer()), Reason: fmt.Sprintf("the number %s cannot be kept exactly", clipped(token.String())), Cause: ErrInexact}
		}
		if dec.StackDepth() > maxDepth {
			return &Error{Reason: fmt.Sprintf("is nested more than %d levels deep", maxDepth)}
		}
		if dec.StackDepth() == 0 {
			break
		}
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return &Error{Reason: "is followed by more data"}
	}
	return nil
}

// semantics are those of encoding/json, except that names match only in their
// own spelling.
var semantics = json.JoinOptions(
	jsonv1.DefaultOptionsV1(),
	jsonv1.ReportErrorsWithLegacySemantics(false),
	json.MatchCaseInsensitiveNames(false),
	jsontext.AllowDuplicateNames(false),
	jsontext.AllowInvalidUTF8(false),
)

func (l Limits) decode(raw []byte, v any, known bool) error {
	if err := l.Check(raw); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, v, semantics, json.RejectUnknownMembers(known)); err != nil {
		return refused(err)
	}
	return nil
}

// Compact writes a value that Check accepts in the one way in which nod
// forwards it: without white space, with only the escapes that are necessary,
// and without a character that a reader of lines could take for the end of a
// line. The members keep their order and the numbers their spelling.
func Compact(raw []byte) ([]byte, error) {
	if err := Check(raw); err != nil {
		return nil, err
	}
	return compact(raw)
}

// Compact is the function Compact under other limits.
func (l Limits) Compact(raw []byte) ([]byte, error) {
	if err := l.Check(raw); err != nil {
		return nil, err
	}
	return compact(raw)
}

func compact(raw []byte) ([]byte, error) {
	out, err := jsontext.AppendFormat(nil, raw, jsontext.EscapeForJS(true), jsontext.AllowDuplicateNames(false),
		jsontext.PreserveRawStrings(false), jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	if err != nil {
		return nil, refused(err)
	}
	// U+0085 ends a line for some readers; valid JSON holds it in strings only.
	return bytes.ReplaceAll(out, []byte("\u0085"), []byte(`\u0085`)), nil
}

// Repair replaces unpaired surrogates and invalid UTF-8 by U+FFFD. It is for text
// that people only read, such as the output of a tool.
func Repair(raw []byte) []byte {
	out, err := jsontext.AppendFormat(nil, raw, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return raw // Check refuses it
	}
	return out
}

// refused puts the error of a decoder into words that do not depend on it.
func refused(err error) error {
	if own, ok := errors.AsType[*Error](err); ok {
		return own
	}
	if s, ok := errors.AsType[*json.SemanticError](err); ok {
		path := pathOf(s.JSONPointer)
		switch {
		case errors.Is(err, json.ErrUnknownName):
			at, name := cut(path)
			return &Error{Path: at, Reason: fmt.Sprintf("unknown member %q", name)}
		case s.Err != nil:
			return &Error{Path: path, Reason: s.Err.Error(), Cause: s.Err}
		}
		return &Error{Path: path, Reason: "is " + kindOf(s.JSONKind) + wanted(s.GoType)}
	}
	if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		path := pathOf(s.JSONPointer)
		if errors.Is(err, jsontext.ErrDuplicateName) {
			at, name := cut(path)
			return &Error{Path: at, Reason: fmt.Sprintf("duplicate member %q", name)}
		}
		return &Error{Path: path, Reason: "is not valid JSON: " + strings.TrimPrefix(fmt.Sprint(s.Err), "jsontext: ")}
	}
	return &Error{Reason: "is not valid JSON: " + strings.TrimPrefix(err.Error(), "jsontext: ")}
}

// maxPath bounds what an error repeats of the value or of a path in it.
const maxPath = 100

func pathOf(p jsontext.Pointer) string {
	var parts []string
	for t := range p.Tokens() {
		parts = append(parts, t)
	}
	s := strings.Join(parts, ".")
	return clipped(s)
}

// clipped shortens what an error repeats of the value.
func clipped(s string) string {
	if len(s) > maxPath {
		s = strings.ToValidUTF8(s[:maxPath], "") + "…"
	}
	return s
}

// cut splits the last name off a path.
func cut(path string) (at, name string) {
	if n := strings.LastIndex(path, "."); n >= 0 {
		return path[:n], path[n+1:]
	}
	return "", path
}

// wanted names the kind of JSON value that fits a type.
func wanted(t reflect.Type) string {
	if t == nil {
		return ""
	}
	switch t.Kind() {
	case reflect.String:
		return ", not a string"
	case reflect.Bool:
		return ", not a bool"
	case reflect.Slice, reflect.Array:
		return ", not an array"
	case reflect.Struct, reflect.Map:
		return ", not an object"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return ", not an integer that fits"
	case reflect.Float32, reflect.Float64:
		return ", not a number"
	}
	return ""
}

func kindOf(k jsontext.Kind) string {
	switch k {
	case 't', 'f':
		return "a bool"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return "null"
}
