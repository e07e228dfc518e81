package bridge

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// encoder appends a value as encoding/json writes it. With html it escapes <, >
// and & like [json.Marshal]. The value must be addressable.
type encoder func(dst []byte, v reflect.Value, html bool) ([]byte, error)

// encoders holds the encoder of each type that was encoded. encoding/json looks
// up the encoder of each value, and parses the result of each MarshalJSON again.
// These encoders do neither. They leave to encoding/json what nod encodes rarely.
var encoders sync.Map // of reflect.Type

// scratch holds buffers for encoding. Larger ones than maxScratch are not kept.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

const maxScratch = 64 << 10

// encode returns v as JSON in the form of encoding/json.
func encode(v any, html bool) ([]byte, error) {
	var out []byte
	err := lend(v, html, func(raw []byte) { out = bytes.Clone(raw) })
	return out, err
}

// lend is encode for a caller that uses the text only until use returns, so that
// it is not copied.
func lend(v any, html bool, use func(raw []byte)) error {
	value := reflect.ValueOf(v)
	if !value.IsValid() {
		use([]byte("null"))
		return nil
	}
	if value.Kind() != reflect.Pointer {
		at := reflect.New(value.Type())
		at.Elem().Set(value)
		value = at.Elem()
	}
	buffer, _ := scratch.Get().(*[]byte) // the pool holds nothing else
	out, err := encoderOf(value.Type())((*buffer)[:0], value, html)
	if cap(out) <= maxScratch {
		*buffer = out
		defer scratch.Put(buffer)
	}
	if err == nil {
		use(out)
	}
	return err
}

func encoderOf(t reflect.Type) encoder {
	if e, ok := encoders.Load(t); ok {
		return e.(encoder) //nolint:forcetypeassert // the map holds nothing else
	}
	e := newEncoder(t)
	encoders.Store(t, e)
	return e
}

// later returns the encoder of a type that may contain itself.
func later(t reflect.Type) encoder {
	get := sync.OnceValue(func() encoder { return encoderOf(t) })
	return func(dst []byte, v reflect.Value, html bool) ([]byte, error) { return get()(dst, v, html) }
}

func newEncoder(t reflect.Type) encoder {
	switch t {
	case reflect.TypeFor[Interaction]():
		return encodeMembers(flatMembers())
	case reflect.TypeFor[time.Time]():
		return encodeTime
	case reflect.TypeFor[Duration]():
		return encodeSpan
	case reflect.TypeFor[json.RawMessage]():
		return encodeRaw
	case reflect.TypeFor[json.Number]():
		return encodeOther
	}
	if t.Kind() == reflect.Pointer {
		return encodePointer(later(t.Elem()))
	}
	if p := reflect.PointerTo(t); p.Implements(reflect.TypeFor[json.Marshaler]()) || p.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return encodeOther
	}
	switch t.Kind() {
	case reflect.String:
		return func(dst []byte, v reflect.Value, html bool) ([]byte, error) {
			return appendText(dst, v.String(), html), nil
		}
	case reflect.Bool:
		return func(dst []byte, v reflect.Value, _ bool) ([]byte, error) {
			return strconv.AppendBool(dst, v.Bool()), nil
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(dst []byte, v reflect.Value, _ bool) ([]byte, error) {
			return strconv.AppendInt(dst, v.Int(), 10), nil
		}
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			return encodeSlice(later(t.Elem()))
		}
	case reflect.Struct:
		if all, ok := membersOf(t); ok {
			return encodeMembers(all)
		}
	}
	return encodeOther
}

// encodeOther leaves a value to encoding/json.
func encodeOther(dst []byte, v reflect.Value, html bool) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(html)
	if err := enc.Encode(v.Addr().Interface()); err != nil {
		return dst, err
	}
	return b.Bytes()[:b.Len()-1], nil
}

func encodePointer(elem encoder) encoder {
	return func(dst []byte, v reflect.Value, html bool) ([]byte, error) {
		if v.IsNil() {
			return append(dst, "null"...), nil
		}
		return elem(dst, v.Elem(), html)
	}
}

func encodeSlice(elem encoder) encoder {
	return func(dst []byte, v reflect.Value, html bool) ([]byte, error) {
		if v.IsNil() {
			return append(dst, "null"...), nil
		}
		dst = append(dst, '[')
		var err error
		for n := range v.Len() {
			if n > 0 {
				dst = append(dst, ',')
			}
			if dst, err = elem(dst, v.Index(n), html); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	}
}

func encodeTime(dst []byte, v reflect.Value, _ bool) ([]byte, error) {
	dst, err := timeOf(v).AppendText(append(dst, '"'))
	return append(dst, '"'), err
}

func timeOf(v reflect.Value) time.Time {
	t, _ := v.Addr().Interface().(*time.Time) // it always is
	return *t
}

func encodeSpan(dst []byte, v reflect.Value, _ bool) ([]byte, error) {
	return append(append(append(dst, '"'), time.Duration(v.Int()).String()...), '"'), nil
}

// encodeRaw appends JSON without white space.
func encodeRaw(dst []byte, v reflect.Value, html bool) ([]byte, error) {
	if v.IsNil() {
		return append(dst, "null"...), nil
	}
	b := bytes.NewBuffer(dst)
	if err := json.Compact(b, v.Bytes()); err != nil {
		return encodeOther(dst, v, html)
	}
	if !html {
		return b.Bytes(), nil
	}
	raw := bytes.Clone(b.Bytes()[len(dst):])
	b.Truncate(len(dst))
	json.HTMLEscape(b, raw)
	return b.Bytes(), nil
}

// jsonMember is a field of a struct as a member of an object.
type jsonMember struct {
	name    string // with its quotes and colon
	index   []int
	omitted func(reflect.Value) bool // nil if it is always written
	encode  encoder
}

func encodeMembers(all []jsonMember) encoder {
	return func(dst []byte, v reflect.Value, html bool) ([]byte, error) {
		dst = append(dst, '{')
		var err error
		first := len(dst)
		for n := range all {
			m := &all[n]
			field := v.Field(m.index[0])
			for _, k := range m.index[1:] {
				field = field.Field(k)
			}
			if m.omitted != nil && m.omitted(field) {
				continue
			}
			if len(dst) > first {
				dst = append(dst, ',')
			}
			if dst, err = m.encode(append(dst, m.name...), field, html); err != nil {
				return dst, err
			}
		}
		return append(dst, '}'), nil
	}
}

// flatMembers returns the members of an interaction.
func flatMembers() []jsonMember {
	all, _ := membersOf(flat().of) // it has no field that membersOf refuses
	for n := range all {
		all[n].index = flat().fields[n]
	}
	return all
}

// membersOf returns the members of a struct. It reports false for a struct with
// a field that encoding/json treats in a special way.
func membersOf(t reflect.Type) ([]jsonMember, bool) {
	if t.Kind() != reflect.Struct {
		return nil, false
	}
	var all []jsonMember
	for n := range t.NumField() {
		f := t.Field(n)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous {
			inner, ok := membersOf(f.Type)
			if !ok || f.Tag != "" {
				return nil, false
			}
			for _, m := range inner {
				m.index = append([]int{n}, m.index...)
				all = append(all, m)
			}
			continue
		}
		if name == "-" && rest == "" || !f.IsExported() {
			continue
		}
		m := jsonMember{index: f.Index, encode: later(f.Type)}
		if k := f.Type.Kind(); k == reflect.String || k == reflect.Bool || k == reflect.Int || k == reflect.Int64 {
			m.encode = encoderOf(f.Type) // it cannot contain itself
		}
		for option := range strings.SplitSeq(rest, ",") {
			switch {
			case option == "omitempty":
				m.omitted = emptinessOf(f.Type)
			case option == "omitzero" && f.Type == reflect.TypeFor[time.Time]():
				m.omitted = func(v reflect.Value) bool { return timeOf(v).IsZero() }
			case option != "":
				return nil, false
			}
		}
		if name == "" {
			name = f.Name
		}
		m.name = string(appendText(nil, name, true)) + ":"
		all = append(all, m)
	}
	return all, distinct(all)
}

// distinct reports whether members have different names. encoding/json chooses
// between fields with the same name by rules that these encoders do not have.
func distinct(all []jsonMember) bool {
	seen := map[string]bool{}
	for _, m := range all {
		if seen[m.name] {
			return false
		}
		seen[m.name] = true
	}
	return true
}

// emptinessOf returns the function that reports whether omitempty leaves out a
// value of a type. It is nil if none is left out.
func emptinessOf(t reflect.Type) func(reflect.Value) bool {
	switch t.Kind() {
	case reflect.String:
		return func(v reflect.Value) bool { return v.String() == "" }
	case reflect.Bool:
		return func(v reflect.Value) bool { return !v.Bool() }
	case reflect.Array, reflect.Map, reflect.Slice:
		return func(v reflect.Value) bool { return v.Len() == 0 }
	case reflect.Pointer:
		return reflect.Value.IsNil
	case reflect.Struct:
		return nil
	}
	return reflect.Value.IsZero
}

const hexDigits = "0123456789abcdef"

// appendText appends a string as encoding/json writes it.
func appendText(dst []byte, s string, html bool) []byte {
	dst = append(dst, '"')
	start := 0
	for n := 0; n < len(s); {
		b := s[n]
		if b >= ' ' && b < utf8.RuneSelf && b != '"' && b != '\\' && (!html || b != '<' && b != '>' && b != '&') {
			n++
			continue
		}
		size, escaped := 1, ""
		if b < utf8.RuneSelf {
			escaped = escapeOf(b)
		} else {
			var r rune
			r, size = utf8.DecodeRuneInString(s[n:])
			switch {
			case r == utf8.RuneError && size == 1:
				escaped = `\ufffd`
			case r == '\u2028':
				escaped = `\u2028`
			case r == '\u2029':
				escaped = `\u2029`
			}
		}
		if escaped != "" {
			dst = append(append(dst, s[start:n]...), escaped...)
			start = n + size
		}
		n += size
	}
	return append(append(dst, s[start:]...), '"')
}

// escapeOf returns the escape of an ASCII character.
func escapeOf(b byte) string {
	switch b {
	case '"':
		return `\"`
	case '\\':
		return `\\`
	case '\b':
		return `\b`
	case '\f':
		return `\f`
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	return `\u00` + string([]byte{hexDigits[b>>4], hexDigits[b&0xF]})
}
