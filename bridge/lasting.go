package bridge

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// lasting reports whether decoding the JSON of a value gives the value again.
// The value must be addressable. If in doubt it is false.
type lasting func(v reflect.Value) bool

var lastings sync.Map // of reflect.Type

// maxLastingRaw is the maximum size of raw JSON that is examined. Larger JSON is
// doubtful.
const maxLastingRaw = 4 << 10

// Lasting reports whether decoding the JSON that [EncodeJSON] makes of v gives the
// same value. If in doubt it is false: for example if v has a map with members,
// text that is not UTF-8, or a time outside of UTC. Fields that JSON leaves out
// are not examined. A caller that stores v can then use v itself instead of
// decoding what it stored.
func Lasting[T any](v *T) bool { return lastingOf(reflect.TypeFor[T]())(reflect.ValueOf(v).Elem()) }

func lastingOf(t reflect.Type) lasting {
	if l, ok := lastings.Load(t); ok {
		return l.(lasting) //nolint:forcetypeassert // the map holds nothing else
	}
	l := newLasting(t)
	lastings.Store(t, l)
	return l
}

func newLasting(t reflect.Type) lasting {
	switch t {
	case reflect.TypeFor[time.Time]():
		return func(v reflect.Value) bool { return lastingTime(timeOf(v)) }
	case reflect.TypeFor[Duration]():
		return func(v reflect.Value) bool { return v.Int() >= 0 && v.Int()%int64(time.Second) == 0 }
	case reflect.TypeFor[json.RawMessage]():
		return func(v reflect.Value) bool { return v.IsNil() || lastingRaw(v.Bytes()) }
	case reflect.TypeFor[Interaction](): // its MarshalJSON writes its fields
		return lastingStruct(t)
	}
	if p := reflect.PointerTo(t); p.Implements(reflect.TypeFor[json.Marshaler]()) || p.Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return reflect.Value.IsZero
	}
	switch t.Kind() {
	case reflect.String:
		return func(v reflect.Value) bool { return utf8.ValidString(v.String()) }
	case reflect.Bool, reflect.Int, reflect.Int64:
		return func(reflect.Value) bool { return true }
	case reflect.Pointer:
		elem := laterLasting(t.Elem())
		return func(v reflect.Value) bool { return v.IsNil() || elem(v.Elem()) }
	case reflect.Slice:
		return lastingSlice(t)
	case reflect.Struct:
		return lastingStruct(t)
	}
	return reflect.Value.IsZero
}

// laterLasting returns the check of a type that may contain itself.
func laterLasting(t reflect.Type) lasting {
	get := sync.OnceValue(func() lasting { return lastingOf(t) })
	return func(v reflect.Value) bool { return get()(v) }
}

// lastingTime reports whether a time stays the same: RFC 3339 has neither a
// monotonic clock nor the name of a zone.
func lastingTime(t time.Time) bool {
	return t == t.Round(0) && t.Location() == time.UTC && t.Year() >= 0 && t.Year() <= 9999
}

// lastingRaw reports whether JSON is encoded unchanged.
func lastingRaw(raw []byte) bool {
	return len(raw) <= maxLastingRaw && !slices.ContainsFunc(raw, func(b byte) bool { return b <= ' ' && b != ' ' }) &&
		string(raw) != "null" && json.Valid(raw) && isCompact(raw)
}

// isCompact reports whether valid JSON has no space outside of strings.
func isCompact(raw []byte) bool {
	quoted := false
	for n := 0; n < len(raw); n++ {
		switch {
		case raw[n] == '"':
			quoted = !quoted
		case raw[n] == '\\':
			n++
		case raw[n] == ' ' && !quoted:
			return false
		}
	}
	return true
}

func lastingSlice(t reflect.Type) lasting {
	if t.Elem().Kind() == reflect.Uint8 {
		return reflect.Value.IsZero
	}
	elem := laterLasting(t.Elem())
	return func(v reflect.Value) bool {
		for n := range v.Len() {
			if !elem(v.Index(n)) {
				return false
			}
		}
		return v.IsNil() || v.Len() > 0
	}
}

func lastingStruct(t reflect.Type) lasting {
	type member struct {
		index int
		lasts lasting
	}
	var all []member
	for n := range t.NumField() {
		f := t.Field(n)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" && options == "" {
			continue
		}
		m := member{n, laterLasting(f.Type)}
		switch {
		case !f.IsExported() && !f.Anonymous, name == "" && !f.Anonymous:
			m.lasts = func(reflect.Value) bool { return false }
		case f.Type.Kind() == reflect.Map && options == "": // an empty one is not left out
			m.lasts = func(v reflect.Value) bool { return v.Len() == 0 }
		}
		all = append(all, m)
	}
	return func(v reflect.Value) bool {
		for _, m := range all {
			if !m.lasts(v.Field(m.index)) {
				return false
			}
		}
		return true
	}
}
