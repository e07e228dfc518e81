package bridge_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
)

// filler fills values at random, with much that JSON does not keep.
type filler struct{ *rand.Rand }

func pick[T any](f filler, of ...T) T { return of[f.IntN(len(of))] }

func (f filler) fill(v reflect.Value, depth int) {
	if depth > 6 || f.IntN(3) == 0 {
		return
	}
	switch v.Interface().(type) {
	case time.Time:
		day := time.Date(2026, 11, 1, 2, 3, 4, 5678, time.UTC)
		v.Set(reflect.ValueOf(pick(f, day, day, day, day, time.Now(), day.In(time.FixedZone("", 3600)), day.In(time.FixedZone("UTC", 0)),
			time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC))))
		return
	case bridge.Duration:
		v.SetInt(int64(pick(f, 0, time.Second, time.Hour, 90*time.Second, time.Nanosecond, -time.Second, 1<<62)))
		return
	case json.RawMessage:
		v.SetBytes([]byte(pick(f, `{"a":"b c"}`, `{"a":"\" "}`, `{"a": 1}`, "null", "", "[1,\n2]", "\"é<\"", `{}`, "{")))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(pick(f, "a", "b c", "é", "\xff", "<&>", "\u2028", "\x00", `"`, ""))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(pick[int64](f, 0, 1, -1, 1<<40))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), f.IntN(2), 2))
		for n := range v.Len() {
			f.fill(v.Index(n), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		if f.IntN(4) == 0 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(key, depth+1)
			f.fill(value, depth+1)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for n := range v.NumField() {
			if v.Type().Field(n).IsExported() && v.Type().Field(n).Tag.Get("json") != "-" {
				f.fill(v.Field(n), depth+1)
			}
		}
	}
}

// lasts checks that a value is decoded as it was if Lasting says so, and returns
// what it says.
func lasts[T any](t *testing.T, v *T) bool {
	t.Helper()
	if !bridge.Lasting(v) {
		return false
	}
	raw, err := bridge.EncodeJSON(v)
	if err != nil {
		t.Fatal(err)
	}
	var again T
	if err := json.Unmarshal(raw, &again); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(*v, again) {
		t.Fatalf("%s is decoded differently:\n%s", raw, cmp.Diff(*v, again))
	}
	return true
}

// TestLasting checks that whatever lasts is decoded as it was.
func TestLasting(t *testing.T) {
	t.Parallel()
	interactions, responses := 0, 0
	for seed := range uint64(40_000) {
		f := filler{rand.New(rand.NewPCG(seed, 2))}
		var i bridge.Interaction
		var r bridge.Response
		for _, v := range []reflect.Value{reflect.ValueOf(&i).Elem(), reflect.ValueOf(&r).Elem()} {
			for range 1 + f.IntN(5) { // a few fields, so that some values last
				field := v.Field(f.IntN(v.NumField()))
				if field.Type() == reflect.TypeFor[bridge.Times]() {
					continue // not in JSON
				}
				if field.Kind() == reflect.Struct && field.Type() != reflect.TypeFor[time.Time]() {
					field = field.Field(f.IntN(field.NumField()))
				}
				f.fill(field, 1)
			}
		}
		if lasts(t, &i) {
			interactions++
		}
		if lasts(t, &r) {
			responses++
		}
	}
	if interactions < 4000 || responses < 4000 {
		t.Errorf("only %d interactions and %d responses last", interactions, responses)
	}
}

// TestLastingUsual checks that what agents usually send lasts.
func TestLastingUsual(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 1, 2, 3, 4, 5678, time.UTC)
	i := bridge.Interaction{
		ID: "i", Ask: bridge.Ask{
			Kind: bridge.KindApproval, Prompt: "Deploy?", Hold: bridge.Duration(time.Hour),
			Approval: &bridge.Approval{Tool: "deploy", Input: []byte(`{"a":"b c"}`), Scopes: []bridge.Scope{bridge.ScopeOnce}},
		},
		Placement: bridge.Placement{Destinations: []bridge.Destination{{Platform: "chat"}}},
		Schedule:  bridge.Schedule{Created: at, Deadline: at},
	}
	r := bridge.Response{State: bridge.StateApproved, Annotations: map[string]bridge.Annotation{}, Actor: &bridge.Actor{User: "U"}, At: at}
	if !lasts(t, &i) || !lasts(t, &r) {
		t.Error("it does not last")
	}
	i.Created = time.Now()
	if lasts(t, &i) {
		t.Error("a monotonic clock lasts")
	}
}

// TestLastingFields checks that the only field that JSON leaves out of an
// interaction or a response is one that decoding a record sets.
func TestLastingFields(t *testing.T) {
	t.Parallel()
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(of.Elem())
		case reflect.Struct:
			for n := 0; n < of.NumField() && !seen[of]; n++ {
				f := of.Field(n)
				if f.Tag.Get("json") == "-" && f.Name != "Stated" {
					t.Errorf("%s.%s is lost; Lasting must be false if it is set", of, f.Name)
				}
				if of != reflect.TypeFor[time.Time]() {
					walk(f.Type)
				}
			}
			seen[of] = true
		}
	}
	walk(reflect.TypeFor[bridge.Interaction]())
	walk(reflect.TypeFor[bridge.Response]())
}
