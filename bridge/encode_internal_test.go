package bridge

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
)

// fill sets every field of a value to a random one.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	texts := []string{"", "a", "<b> & \"c\" \\", "é\u2028\u2029\ufffd", "bad \xff\xc3", "tab\t\n\r\b\f\x00\x1f\x7f", strings.Repeat("x", 70)}
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		at := []time.Time{{}, time.UnixMilli(r.Int64N(1e13)).UTC(), time.Unix(r.Int64N(1e9), r.Int64N(1e9)).In(time.FixedZone("x", 5400))}
		v.Set(reflect.ValueOf(at[r.IntN(len(at))]))
		return
	case reflect.TypeFor[json.RawMessage]():
		raw := []string{``, `{ "a" : [1, 2.50, "<&>\u2028` + "\u2029" + `"] }`, `"x"`, `null`}
		v.SetBytes([]byte(raw[r.IntN(len(raw))]))
		if v.Len() == 0 {
			v.SetZero()
		}
		return
	case reflect.TypeFor[Answer]():
		v.Set(reflect.ValueOf([]Answer{TextAnswer("<x>"), {}}[r.IntN(2)]))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(texts[r.IntN(len(texts))])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt([]int64{0, 1, -1, 100, int64(90 * time.Second)}[r.IntN(5)] % (1 << (v.Type().Bits() - 1)))
	case reflect.Float64:
		v.SetFloat(float64(r.IntN(3)) / 2)
	case reflect.Pointer:
		if depth > 0 && r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), depth-1)
		}
	case reflect.Slice:
		if n := r.IntN(4); n > 0 && depth > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
			for k := range n - 1 {
				fill(r, v.Index(k), depth-1)
			}
		}
	case reflect.Map:
		if n := r.IntN(4); n > 0 && depth > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n - 1 {
				key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				fill(r, key, depth-1)
				fill(r, value, depth-1)
				v.SetMapIndex(key, value)
			}
		}
	case reflect.Struct:
		for n := range v.NumField() {
			if v.Field(n).CanSet() {
				fill(r, v.Field(n), depth)
			}
		}
	}
}

// plainly encodes a value with encoding/json only.
func plainly(t *testing.T, v any, html bool) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// flatRecord is a record that encoding/json encodes without MarshalJSON of its
// interaction.
func flatRecord(r Record) any {
	v := reflect.ValueOf(&r).Elem()
	var fields []reflect.StructField
	for n := range v.NumField() {
		f := v.Type().Field(n)
		if f.Type == reflect.TypeFor[Interaction]() {
			f.Type = reflect.TypeFor[any]()
		}
		fields = append(fields, f)
	}
	out := reflect.New(reflect.StructOf(fields)).Elem()
	for n := range v.NumField() {
		out.Field(n).Set(v.Field(n))
	}
	out.FieldByName("Interaction").Set(reflect.ValueOf(r.Interaction.Flat()))
	return out.Addr().Interface()
}

// TestEncode checks that nod encodes random values as encoding/json does, byte
// for byte.
func TestEncode(t *testing.T) {
	t.Parallel()
	r := seed.Rand(t)
	for range level.Often(3000, 400) {
		var rec Record
		var req Request
		fill(r, reflect.ValueOf(&rec).Elem(), 4)
		fill(r, reflect.ValueOf(&req).Elem(), 4)
		for _, c := range []struct{ got, want any }{
			{&rec, flatRecord(rec)}, {rec, flatRecord(rec)}, {&rec.Interaction, rec.Interaction.Flat()}, {rec.Interaction.Flat(), rec.Interaction.Flat()},
			{rec.Response, rec.Response}, {rec.Votes, rec.Votes}, {req, req}, {map[string]Record{"<": rec}, map[string]any{"<": flatRecord(rec)}},
		} {
			for _, html := range []bool{false, true} {
				got, err := encode(c.got, html)
				if err != nil {
					t.Fatal(err)
				}
				if want := plainly(t, c.want, html); !bytes.Equal(got, want) {
					t.Fatalf("html %v, %T:\n%s\nwant\n%s", html, c.got, got, want)
				}
			}
		}
	}
}

type twin struct{ A, B string }

// TestEncodeOthers checks values that nod leaves to encoding/json.
func TestEncodeOthers(t *testing.T) {
	t.Parallel()
	type both struct { // A is in both
		Times
		twin
		A string
	}
	type embedded struct {
		Times
		A int `json:",string"`
		B float64
		c int
	}
	for _, v := range []any{
		nil, 1, "a<b", []string(nil), []byte("x"), json.Number("1.50"), 2.5, map[int]string{2: "b", 1: "a"}, embedded{c: 1}, &embedded{}, both{A: "outer"},
		struct {
			A any       `json:"-"`
			B any       `json:"b&"`
			C time.Time `json:",omitempty"`
			D [2]int    `json:"d,omitzero"`
			E struct{}  `json:"e<,omitempty"`
		}{A: 1}, (*Record)(nil), Duration(90 * time.Second), []any{1, nil, Duration(1)}, ID("x"),
	} {
		for _, html := range []bool{false, true} {
			got, err := encode(v, html)
			if want := plainly(t, v, html); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%T: %s %v, want %s", v, got, err, want)
			}
		}
	}
	for _, v := range []any{make(chan int), json.RawMessage(`{`), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), []any{make(chan int)}} {
		if got, err := encode(v, false); err == nil {
			t.Errorf("%T is encoded as %s", v, got)
		}
	}
}

// TestEncodeAllocates checks that a record takes few allocations to encode.
func TestEncodeAllocates(t *testing.T) {
	var rec Record
	fill(seed.Rand(t), reflect.ValueOf(&rec).Elem(), 3)
	rec.Messages, rec.Failures, rec.Late, rec.Response, rec.Votes, rec.Completion = nil, nil, nil, nil, nil, nil
	rec.Interaction.Initial, rec.Interaction.Questions, rec.Interaction.Approval = nil, nil, nil
	if n := testing.AllocsPerRun(100, func() { _, _ = EncodeJSON(&rec) }); n > 60 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkEncode(b *testing.B) {
	now := time.Now().UTC()
	rec := Record{State: StatePending, Revision: 1, Interaction: Interaction{
		ID: "01a207bf-8023-71da-b5f9-6e4dd8623105", Agent: "bench", Digest: strings.Repeat("a", 64),
		Ask:       Ask{Kind: KindApproval, Prompt: "Deploy version 2 to production?", Approval: &Approval{Tool: "deploy", Input: []byte(`{"command":"kubectl apply -f v2.yaml"}`)}},
		Placement: Placement{Destinations: []Destination{{Platform: "slack", Channel: "C"}}, Responders: []Responder{{Person: "ana", Platform: "slack", User: "U"}}},
		Schedule:  Schedule{Created: now, Deadline: now.Add(time.Minute)},
	}}
	for name, f := range map[string]func(any) ([]byte, error){"encoding-json": json.Marshal, "nod": MarshalJSON} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f(&rec); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
