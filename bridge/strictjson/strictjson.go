// Package strictjson decodes JSON that another program may also read, so that
// no two parsers find different values in the same bytes. Field names are
// case-sensitive. The package rejects duplicate names at any depth, invalid UTF-8,
// unpaired surrogates, data after the value, and values that are too deep or
// too large. It does not know the types of nod. Start with [Limits.Decode].
package strictjson

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Default limits of a value.
const (
	MaxDepth = 100      // nested objects and arrays
	MaxBytes = 32 << 20 // size of the text
)

// Error is the error for a value that was rejected.
type Error struct {
	// Path is the location of the rejected part, such as params.items.2. It is
	// empty for the value itself.
	Path string
	// Reason completes the sentence "The value …", such as "is not valid JSON".
	Reason string
	// Unknown is the name of the unknown field in Path, if that is the reason.
	Unknown string
	// Cause is ErrInexact, or an error from an UnmarshalJSON method. It may be
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

// Limits are limits on a value. A zero field means the default.
type Limits struct {
	Depth, Bytes int
	// Exact rejects numbers that a double cannot represent exactly, because
	// parsers round them differently.
	Exact bool
}

// Check returns an error unless raw is exactly one value that every parser
// reads in the same way.
func Check(raw []byte) error { return Limits{}.Check(raw) }

// Decode decodes raw into v. Unknown fields are checked like all others and
// then ignored.
func Decode(raw []byte, v any) error { return Limits{}.decode(raw, v, false) }

// DecodeKnown decodes raw into v and rejects unknown fields.
func DecodeKnown(raw []byte, v any) error { return Limits{}.decode(raw, v, true) }

// Decode decodes raw into v with these limits. Unknown fields are ignored.
func (l Limits) Decode(raw []byte, v any) error { return l.decode(raw, v, false) }

// DecodeKnown decodes raw into v with these limits and rejects unknown fields.
func (l Limits) DecodeKnown(raw []byte, v any) error { return l.decode(raw, v, true) }

// Check is like the function Check, with these limits.
func (l Limits) Check(raw []byte) error {
	maxDepth, maxBytes := l.limits()
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
			return &Error{Path: pathOf(dec.StackPointer()), Reason: fmt.Sprintf("the number %s is not exact in double precision", clipped(token.String())), Cause: ErrInexact}
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

// semantics holds the options of encoding/json, except that field names are
// case-sensitive.
var semantics = json.JoinOptions(
	jsonv1.DefaultOptionsV1(),
	jsonv1.ReportErrorsWithLegacySemantics(false),
	json.MatchCaseInsensitiveNames(false),
	jsontext.AllowDuplicateNames(false),
	jsontext.AllowInvalidUTF8(false),
)

// Encode returns a value as JSON that every parser reads back unchanged. It
// returns an error with the path of a text that is not valid UTF-8, which
// encoding/json would replace.
func Encode(v any) ([]byte, error) {
	// keep the character < as one byte
	raw, err := json.Marshal(v, semantics, jsontext.EscapeForHTML(false), jsontext.EscapeForJS(false))
	if err == nil {
		return raw, nil
	}
	e := refused(err)
	if own, ok := errors.AsType[*Error](e); ok && notUTF8(err) {
		own.Reason = "is not valid UTF-8"
	}
	return nil, e
}

// notUTF8 reports whether a value was refused because of its bytes.
func notUTF8(err error) bool {
	s, ok := errors.AsType[*jsontext.SyntacticError](err)
	return ok && s.Err != nil && strings.Contains(s.Err.Error(), "invalid UTF-8")
}

func (l Limits) decode(raw []byte, v any, known bool) error {
	if l.Exact || !l.shallow(raw) {
		if err := l.Check(raw); err != nil {
			return err
		}
	}
	err := json.Unmarshal(raw, v, semantics, json.RejectUnknownMembers(known))
	if err == nil {
		return nil
	}
	// Check describes the problem with a text, regardless of its type. v keeps
	// no part of an invalid text.
	if wrong := l.Check(raw); wrong != nil {
		if at := reflect.ValueOf(v); at.Kind() == reflect.Pointer && !at.IsNil() {
			at.Elem().SetZero()
		}
		return wrong
	}
	return refused(err)
}

// shallow reports whether all values in a text are within the limits, because
// it is short and has few brackets. Then decoding checks everything that Check
// does.
func (l Limits) shallow(raw []byte) bool {
	maxDepth, maxBytes := l.limits()
	return len(raw) <= maxBytes && bytes.Count(raw, []byte{'{'})+bytes.Count(raw, []byte{'['}) <= maxDepth
}

func (l Limits) limits() (depth, size int) {
	return cmp.Or(max(l.Depth, 0), MaxDepth), cmp.Or(max(l.Bytes, 0), MaxBytes)
}

// Compact returns a value that Check accepts in the form in which nod forwards
// it: without white space, with only the necessary escapes, and without
// characters that some parsers treat as a line break. Fields keep their order and
// numbers their notation.
func Compact(raw []byte) ([]byte, error) {
	if err := Check(raw); err != nil {
		return nil, err
	}
	return compact(raw)
}

// Compact is like the function Compact, with these limits.
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
	// Some parsers treat U+0085 as a line break. In valid JSON, it occurs in
	// strings only.
	return bytes.ReplaceAll(out, []byte("\u0085"), []byte(`\u0085`)), nil
}

// Canonical returns a value in the canonical form of RFC 8785, which rounds
// numbers to doubles.
func Canonical(raw []byte) ([]byte, error) {
	out := jsontext.Value(bytes.Clone(raw))
	if err := out.Canonicalize(); err != nil {
		return nil, refused(err)
	}
	return out, nil
}

// Sorted is like Canonical, but keeps the digits of numbers.
func Sorted(raw []byte) ([]byte, error) {
	out, err := jsontext.AppendFormat(nil, raw, jsontext.ReorderRawObjects(true), jsontext.PreserveRawStrings(false),
		jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	if err != nil {
		return nil, refused(err)
	}
	return out, nil
}

// Repair replaces unpaired surrogates and invalid UTF-8 with U+FFFD. It is for
// text that only people read, such as the output of a tool.
func Repair(raw []byte) []byte {
	out, err := jsontext.AppendFormat(nil, raw, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return raw // Check rejects it
	}
	return out
}

// refused returns an Error with a reason that does not depend on the decoder.
func refused(err error) error {
	if own, ok := errors.AsType[*Error](err); ok {
		return own
	}
	if s, ok := errors.AsType[*json.SemanticError](err); ok {
		path := pathOf(s.JSONPointer)
		switch {
		case errors.Is(err, json.ErrUnknownName):
			at, name := cut(path)
			return &Error{Path: at, Reason: fmt.Sprintf("unknown field %q", name), Unknown: name}
		case errors.Is(s.Err, strconv.ErrSyntax):
			return &Error{Path: path, Reason: "must be a whole number", Cause: s.Err}
		case errors.Is(s.Err, strconv.ErrRange):
			return &Error{Path: path, Reason: "is out of range", Cause: s.Err}
		case s.Err != nil:
			return &Error{Path: path, Reason: s.Err.Error(), Cause: s.Err}
		}
		return &Error{Path: path, Reason: "is " + kindOf(s.JSONKind) + wanted(s.GoType)}
	}
	if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		path := pathOf(s.JSONPointer)
		if errors.Is(err, jsontext.ErrDuplicateName) {
			at, name := cut(path)
			return &Error{Path: at, Reason: fmt.Sprintf("duplicate field %q", name)}
		}
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			return &Error{Path: path, Reason: fmt.Sprintf("is not valid JSON at byte %d", s.ByteOffset+1) + unicode(s.Err)}
		}
		return &Error{Path: path, Reason: endsEarly}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return &Error{Reason: endsEarly}
	}
	return &Error{Reason: "is not valid JSON"}
}

// unicode describes the problem with a text that is not valid Unicode.
func unicode(err error) string {
	switch words := fmt.Sprint(err); {
	case strings.Contains(words, "surrogate"):
		return ": half of a surrogate pair"
	case strings.Contains(words, "UTF-8"):
		return ": not valid UTF-8"
	}
	return ""
}

const endsEarly = "is not valid JSON: it ends too early"

// maxPath limits the excerpt of the value or path in an error.
const maxPath = 100

func pathOf(p jsontext.Pointer) string {
	var parts []string
	for t := range p.Tokens() {
		parts = append(parts, t)
	}
	s := strings.Join(parts, ".")
	return clipped(s)
}

// clipped shortens an excerpt of the value.
func clipped(s string) string {
	if len(s) > maxPath {
		s = strings.ToValidUTF8(s[:maxPath], "") + "…"
	}
	return s
}

// cut splits off the last name of a path.
func cut(path string) (at, name string) {
	if n := strings.LastIndex(path, "."); n >= 0 {
		return path[:n], path[n+1:]
	}
	return "", path
}

// wanted describes the kind of JSON value that a type requires.
func wanted(t reflect.Type) string {
	if t == nil {
		return ""
	}
	switch t.Kind() {
	case reflect.String:
		return ", not a string"
	case reflect.Bool:
		return ", not true or false"
	case reflect.Slice, reflect.Array:
		return ", not an array"
	case reflect.Struct, reflect.Map:
		return ", not an object"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return ", not an integer"
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
