package strictjson_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge/strictjson"
)

type call struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Retries   int             `json:"retries"`
	Nested    struct {
		Items []string `json:"items"`
	} `json:"nested"`
}

// TestRefused checks that a value that two parsers could read differently is
// rejected with a reason.
func TestRefused(t *testing.T) {
	t.Parallel()
	for in, reason := range map[string]string{
		"":                                          "is empty",
		" \n":                                       "is empty",
		`{"name":"a","name":"b"}`:                   `duplicate field "name"`,
		`{"name":"a","\u006eame":"b"}`:              `duplicate field "name"`,
		`{"arguments":{"a":[{"b":1,"b":2}]}}`:       `arguments.a.0: duplicate field "b"`,
		`{"name":"a"} {"name":"b"}`:                 "is followed by more data",
		"{\"name\":\"a\"}\r{\"name\":\"b\"}":        "is followed by more data",
		`{"name":"a"}}`:                             "is followed by more data",
		"\ufeff{}":                                  "is not valid JSON",
		"{\"name\":\"\xff\"}":                       "is not valid JSON",
		`{"name":"\ud800"}`:                         "is not valid JSON",
		`{"name":"\udc00\ud800"}`:                   "is not valid JSON",
		"{\"name\":\"a\x00\"}":                      "is not valid JSON",
		"{\"name\":\"a\nb\"}":                       "is not valid JSON",
		`{'name':'a'}`:                              "is not valid JSON",
		`{"name":"a",}`:                             "is not valid JSON",
		`{"name":"a"`:                               "is not valid JSON",
		`{"name":NaN}`:                              "is not valid JSON",
		`{"name":01}`:                               "is not valid JSON",
		`{"name":"a"/*x*/}`:                         "is not valid JSON",
		`{"retries":"a"}`:                           "retries: is a string",
		`{"name":["a"]}`:                            "name: is an array",
		`{"nested":{"items":["a",1]}}`:              "nested.items.1: is a number",
		`[{"name":"a"}]`:                            "is an array",
		`{"arguments":` + nested(100) + `}`:         "nested more than 100 levels",
		`{"arguments":` + nested(10_001) + `}`:      "nested more than 100 levels",
		`"` + strings.Repeat("x", 33<<20) + `"`:     "is longer than",
		`{"name":"a","arguments":{"x":"\ud83d"}}`:   "is not valid JSON",
		`{"name":"a","retries":1e999}`:              "retries: ",
		`{"name":"a","arguments":{"x":1,"x":1}}`:    `arguments: duplicate field "x"`,
		`{"name":"a","arguments":[{},{"":1,"":2}]}`: `arguments.1: duplicate field ""`,
	} {
		var c call
		if err := strictjson.Decode([]byte(in), &c); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%.80q: %v, want %s", in, err, reason)
		}
	}
}

func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// TestNames checks that field names are case-sensitive, and that unknown fields
// are ignored or rejected as requested.
func TestNames(t *testing.T) {
	t.Parallel()
	const in = `{"name":"a","Name":"b","NAME":"c","n\u0061me2":"d","arguments":{"x":1}}`
	var c call
	if err := strictjson.Decode([]byte(in), &c); err != nil || c.Name != "a" || string(c.Arguments) != `{"x":1}` {
		t.Errorf("%+v, %v", c, err)
	}
	if err := strictjson.DecodeKnown([]byte(in), &c); err == nil || err.Error() != `unknown field "Name"` {
		t.Errorf("%v", err)
	}
	if err := strictjson.DecodeKnown([]byte(`{"nested":{"Items":[]}}`), &c); err == nil || err.Error() != `nested: unknown field "Items"` {
		t.Errorf("%v", err)
	}
	if err := strictjson.DecodeKnown([]byte(`{"name":"\u0061","retries":3,"nested":{"items":["x"]}}`), &c); err != nil || c.Name != "a" || c.Retries != 3 {
		t.Errorf("%+v, %v", c, err)
	}
	if err := (strictjson.Limits{Depth: 200}).Check([]byte(nested(200))); err != nil {
		t.Error(err)
	}
	if err := strictjson.Check([]byte(nested(100))); err != nil {
		t.Error(err)
	}
}

// TestCompact checks that the result is one line for every parser, and the same
// value.
func TestCompact(t *testing.T) {
	t.Parallel()
	out, err := strictjson.Compact([]byte("{ \"b\" : \"\\u0061\\/\u2028\u0085<&\\u0000\" ,\n \"a\":[1.0, 1E2, 12345678901234567890]}"))
	if want := `{"b":"a/\u2028\u0085<&\u0000","a":[1.0,1E2,12345678901234567890]}`; err != nil || string(out) != want {
		t.Errorf("%s, %v, want %s", out, err, want)
	}
	if _, err := strictjson.Compact([]byte(`{"a":1,"a":1}`)); err == nil {
		t.Error("duplicates are accepted")
	}
	if got := string(strictjson.Repair([]byte("{\"a\":\"\\ud83d\xff\"}"))); got != `{"a":"`+"\ufffd\ufffd"+`"}` {
		t.Errorf("repaired: %s", got)
	}
}

// FuzzCompact checks that accepted text has only one meaning: the standard
// decoder reads the same value from the original and from the result, and the
// result is stable.
func FuzzCompact(f *testing.F) {
	for _, s := range []string{`{"a":[1,"b",null,true]}`, `{"a":1,"A":2}`, `{"a":"\ud83d\ude00"}`, "{\"a\":\"\u2028\"}", `[1e2,-0,1.50]`, `{"a":1,"a":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		out, err := strictjson.Compact(raw)
		if err != nil {
			return
		}
		var a, b any
		if json.Unmarshal(raw, &a) != nil || json.Unmarshal(out, &b) != nil {
			if !strings.Contains(string(raw), "e") && !strings.Contains(string(raw), "E") && len(raw) < 300 { // an exponent may be out of range
				t.Fatalf("%q is accepted as %q, which is not JSON", raw, out)
			}
			return
		}
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		if string(x) != string(y) {
			t.Fatalf("%q became %q", raw, out)
		}
		if again, err := strictjson.Compact(out); err != nil || string(again) != string(out) {
			t.Fatalf("%q is not stable: %q, %v", out, again, err)
		}
		if strings.ContainsAny(string(out), "\n\r\u0085\u2028\u2029") {
			t.Fatalf("%q has more than one line", out)
		}
	})
}

// TestLimits checks that a value which exceeds the limits of its caller is rejected,
// whatever is done with it.
func TestLimits(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		l      strictjson.Limits
		in     string
		reason string
	}{
		"within":       {strictjson.Limits{Depth: 2, Bytes: 20, Exact: true}, `{"a": [1.5]}`, ""},
		"too deep":     {strictjson.Limits{Depth: 1}, `{"a":[1]}`, "more than 1 levels"},
		"too long":     {strictjson.Limits{Bytes: 3}, `{"a":1}`, "longer than 3 bytes"},
		"inexact":      {strictjson.Limits{Exact: true}, `{"a":9007199254740993}`, "not exact"},
		"two meanings": {strictjson.Limits{}, `{"a":1,"a":1}`, "duplicate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var v struct {
				A any `json:"a"`
			}
			_, compacted := x.l.Compact([]byte(x.in))
			for how, err := range map[string]error{
				"checked": x.l.Check([]byte(x.in)), "decoded": x.l.Decode([]byte(x.in), &v), "decoded, known": x.l.DecodeKnown([]byte(x.in), &v), "compacted": compacted,
			} {
				if (err == nil) != (x.reason == "") || err != nil && !strings.Contains(err.Error(), x.reason) {
					t.Errorf("%s: %v, want %q", how, err, x.reason)
				}
			}
		})
	}
	var known struct{}
	if err := (strictjson.Limits{}).Decode([]byte(`{"a":1}`), &known); err != nil {
		t.Errorf("an unknown field: %v", err)
	}
	if err := (strictjson.Limits{}).DecodeKnown([]byte(`{"a":1}`), &known); err == nil {
		t.Error("an unknown field is accepted where all must be known")
	}
}

// TestWrongKinds checks that an error says which kind of value is there, and which
// one is required.
func TestWrongKinds(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		into any
		in   string
		want string
	}{
		"text":    {new(string), `true`, "is a bool, not a string"},
		"flag":    {new(bool), `"x"`, "is a string, not true or false"},
		"list":    {new([]string), `{}`, "is an object, not an array"},
		"object":  {new(map[string]int), `[]`, "is an array, not an object"},
		"integer": {new(int), `"x"`, "is a string, not an integer"},
		"number":  {new(float64), `[]`, "is an array, not a number"},
		"digits":  {new(string), `1`, "is a number, not a string"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := strictjson.Decode([]byte(x.in), x.into); err == nil || err.Error() != x.want {
				t.Errorf("%s: %v, want %s", x.in, err, x.want)
			}
		})
	}
}

// TestSorted checks the forms in which values are compared, and what happens to
// a text that is not JSON.
func TestSorted(t *testing.T) {
	t.Parallel()
	const in = `{ "b": 1.0, "a": 1E2, "\u0063": "\u00e9" }`
	for name, x := range map[string]struct {
		form func([]byte) ([]byte, error)
		want string
	}{
		"canonical": {strictjson.Canonical, `{"a":100,"b":1,"c":"é"}`},
		"sorted":    {strictjson.Sorted, `{"a":1E2,"b":1.0,"c":"é"}`},
	} {
		if got, err := x.form([]byte(in)); err != nil || string(got) != x.want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, x.want)
		}
		if _, err := x.form([]byte(`{"a":1`)); err == nil || !strings.Contains(err.Error(), "ends too early") {
			t.Errorf("%s of half a value: %v", name, err)
		}
	}
	if got := strictjson.Repair([]byte(`{"a":1`)); string(got) != `{"a":1` {
		t.Errorf("half a value is repaired to %s", got)
	}
}
