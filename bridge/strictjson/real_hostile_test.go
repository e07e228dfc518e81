package strictjson_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/strictjson"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
)

// seeds are texts of the types that nod decodes, some of which decode themselves.
var seeds = map[string]reflect.Type{
	`{"prompt":"May I?","approval":{"tool":"bash","input":{"a":{"b":[1,{"c":"d"}]}},"scopes":["once"]},"timeout":"5m","join":true}`:                    reflect.TypeFor[bridge.Request](),
	`{"prompt":"?","questions":[{"id":"q","text":"t","options":[{"value":"v","label":"l"}]}],"initial":{"q":["a"]},"timeout":90}`:                      reflect.TypeFor[bridge.Request](),
	`{"decision":"once","answers":{"q":"a","r":["b","c"]},"others":{"q":"x"},"input":{"a":1},"terms":3}`:                                               reflect.TypeFor[bridge.Reply](),
	`{"interaction":{"id":"01a207da-1984-72be-a203-08674f5e110b","created":"2026-11-23T10:01:03Z","approval":{"input":{"x":[]}}},"messages":{"0":{}}}`: reflect.TypeFor[bridge.Record](),
	`{"result":"done","data":{"k":{"l":null}},"x":[[[]]]}`:                                                                                             reflect.TypeFor[map[string]any](),
}

// hostileParts are inserted at random places.
var hostileParts = []string{
	`"\u0061":1,"a":2,`, `"prompt":1,`, `"\u0070rompt":"x",`, `"approval":{"tool":"a","\u0074ool":"b"},`, `"input":{"a":1,"\u0061":2},`, `"k":{"l":{"m":1,"m":2}},`,
	`"q":"a","q":"b",`, `"unknown":{"x":1,"x":2},`, `"unknown":[{"":0,"":0}],`, `"PROMPT":"y",`, "\x00", "\xff", `\ud800`, `\udc00\ud800`, "\u2028", "{", "}", "[", "]", ",", ":", `"`, "1e400", "-", "\ufeff", " ",
	strings.Repeat(`{"d":`, 97) + "1" + strings.Repeat("}", 97), strings.Repeat("[", 98) + strings.Repeat("]", 98), strings.Repeat("[", 99) + strings.Repeat("]", 99),
	`"deep":` + strings.Repeat("[", 98) + strings.Repeat("]", 98) + ",", `"deep":` + strings.Repeat("[", 99) + strings.Repeat("]", 99) + ",", `"deep":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + ",",
}

// TestDecodeReal checks with the types that nod decodes that a text which Check
// rejects is never decoded, has the same error, and leaves nothing behind.
func TestDecodeReal(t *testing.T) {
	t.Parallel()
	r := seed.Rand(t)
	rejected, decoded := 0, 0
	for seed, kind := range seeds {
		for range 2000 {
			raw := seed
			for range 1 + r.IntN(2) {
				at := r.IntN(len(raw) + 1)
				if n := strings.IndexAny(raw[at:], "{,["); n >= 0 && r.IntN(4) > 0 {
					at += n + 1
				}
				raw = raw[:at] + hostileParts[r.IntN(len(hostileParts))] + raw[at:]
			}
			v := reflect.New(kind)
			err, wrong := strictjson.Decode([]byte(raw), v.Interface()), strictjson.Check([]byte(raw))
			switch {
			case wrong == nil:
			case err == nil || err.Error() != wrong.Error():
				t.Fatalf("%q is decoded as %+v, %v, although: %v", raw, v.Elem(), err, wrong)
			case !v.Elem().IsZero():
				t.Fatalf("%q leaves %+v", raw, v.Elem())
			}
			if err != nil {
				rejected++
				continue
			}
			decoded++
			if !json.Valid([]byte(raw)) {
				t.Fatalf("%q is decoded", raw)
			}
		}
	}
	if rejected < 500 || decoded < 500 {
		t.Errorf("%d rejected, %d decoded", rejected, decoded)
	}
}
