package strictjson

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	experiment "github.com/go-json-experiment/json"

	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
)

// target has fields of every kind that decodes in its own way.
type target struct {
	Name  string            `json:"name"`
	Raw   json.RawMessage   `json:"raw"`
	Any   any               `json:"any"`
	Map   map[string]string `json:"map"`
	Deep  map[string]any    `json:"deep"`
	List  []target          `json:"list"`
	Next  *target           `json:"next"`
	Count int               `json:"count"`
	Own   own               `json:"own"`
}

// own decodes itself.
type own struct{ text string }

func (o *own) UnmarshalJSON(b []byte) error { o.text = string(b); return nil }

// checkedFirst checks the whole text, and then decodes it.
func checkedFirst(l Limits, raw []byte, v any, known bool) error {
	if err := l.Check(raw); err != nil {
		return err
	}
	if err := experiment.Unmarshal(raw, v, semantics, experiment.RejectUnknownMembers(known)); err != nil {
		return refused(err)
	}
	return nil
}

// TestDecodeChecks checks that decoding rejects what Check rejects, with the same
// error and without a value, on many broken texts.
func TestDecodeChecks(t *testing.T) {
	t.Parallel()
	seeds := []string{
		`{"name":"a","raw":{"a":1,"b":[1,2]},"any":{"x":{"y":1}},"map":{"k":"v"},"count":3,"own":{"p":1}}`,
		`{"list":[{"name":"x"},{"next":{"name":"y","deep":{"a":{"b":{}}}}}],"unknown":{"a":[{"a":1}]}}`,
		`{"next":null,"any":[1,"a",null,true,{"z":0}],"deep":{"l":[[],[[]]]},"name":"\u00e9\ud83d\ude00"}`,
	}
	parts := []string{`"a":1,`, `"name":"b",`, `,`, `{`, `}`, `[`, `]`, `"`, `\ud800`, "\xff", `null`, `{}`, ` `, `1e999`, `"own":{"p":1,"p":2},`, `"raw":{"a":1,"a":2},`,
		`"any":{"q":1,"q":1},`, `"unknown":{"q":1,"q":1},`, `"map":{"k":"v","k":"w"},`, `"deep":{"k":{"j":1,"j":1}},`}
	r := seed.Rand(t)
	rejected, texts := 0, level.Often(40_000, 8_000)
	for range texts {
		raw := seeds[r.IntN(len(seeds))]
		for range r.IntN(3) {
			at := r.IntN(len(raw) + 1)
			if r.IntN(2) == 0 {
				if n := strings.IndexAny(raw[at:], "{,"); n >= 0 {
					at += n + 1
				}
			}
			switch p := parts[r.IntN(len(parts))]; {
			case r.IntN(4) > 0:
				raw = raw[:at] + p + raw[at:]
			case at < len(raw):
				raw = raw[:at] + raw[min(len(raw), at+1+r.IntN(4)):]
			}
		}
		l := []Limits{{}, {Depth: 3}, {Depth: 30, Bytes: 100}, {Exact: true}}[r.IntN(4)]
		known := r.IntN(2) == 0
		var got, want target
		err, wrong := l.decode([]byte(raw), &got, known), checkedFirst(l, []byte(raw), &want, known)
		if (err == nil) != (wrong == nil) || err != nil && err.Error() != wrong.Error() {
			t.Fatalf("%q: %v, want %v", raw, err, wrong)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %+v, want %+v", raw, got, want)
		}
		if err != nil {
			rejected++
		}
	}
	if rejected < texts/40 {
		t.Errorf("only %d texts were rejected", rejected)
	}
}
