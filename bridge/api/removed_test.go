package api

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/removed"
)

// TestRemovedFields checks that a removed field of a body is an error with its
// path, whose hint says what replaces it.
func TestRemovedFields(t *testing.T) {
	t.Parallel()
	for _, row := range removed.All(removed.Field) {
		var got []error
		for _, body := range []any{&bridge.Request{}, &bridge.Reply{}} {
			raw := nested(reflect.TypeOf(body), strings.Split(row.Name, "."))
			err := read(httptest.NewRequest(http.MethodPost, "/", strings.NewReader(raw)), body)
			got = append(got, err)
			e := bridge.PublicError(err)
			if e.Code == bridge.CodeInvalid && strings.Contains(e.Message, ": removed field ") && e.Hint == row.Instead {
				got = nil
				break
			}
		}
		if got != nil {
			t.Errorf("%s: %v", row.Name, got)
		}
	}
}

// nested returns the JSON of a type with a value at a path.
func nested(t reflect.Type, path []string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Slice {
		return "[" + nested(t.Elem(), path) + "]"
	}
	if len(path) == 0 {
		return "{}"
	}
	inner := t
	if t.Kind() == reflect.Struct {
		f, _ := t.FieldByNameFunc(func(name string) bool {
			f, _ := t.FieldByName(name)
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			return key == path[0]
		})
		if f.Type != nil {
			inner = f.Type
		}
	}
	if inner == t {
		return `{"` + path[0] + `":{}}` // the removed field
	}
	return `{"` + path[0] + `":` + nested(inner, path[1:]) + `}`
}

// TestRemovedRoutes checks that a removed path is not found, and that the hint
// says what replaces it.
func TestRemovedRoutes(t *testing.T) {
	t.Parallel()
	s := New(Options{})
	for _, row := range removed.All(removed.Route) {
		method, path, _ := strings.Cut(row.Name, " ")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), row.Name+" was removed") || !strings.Contains(w.Body.String(), row.Instead) {
			t.Errorf("%s: %d %s", row.Name, w.Code, w.Body)
		}
	}
}
