package rendertest

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// unseen lists fields that are invisible: IDs, which the tests of each platform
// check. The order of Telegram's entities is invisible too.
var unseen = []string{"block_id", "action_id", "custom_id"}

// notices checks that each change of a payload changes the text that the reader
// returns, so that the golden files show the change.
func notices(t *testing.T, read Reader, payload map[string]any, text string) {
	t.Helper()
	check := func(at string, undo func()) {
		t.Helper()
		if got, err := read.read(payload); err == nil && got == text {
			t.Errorf("no one notices %s", at)
		}
		undo()
	}
	var walk func(at string, v any, set func(any))
	walk = func(at string, v any, set func(any)) {
		change := func(what string, to any) {
			set(to)
			check(what+at, func() { set(v) })
		}
		switch v := v.(type) {
		case string:
			change("another text of ", v+"x")
		case bool:
			change("the opposite of ", !v)
		case float64:
			change("another number of ", v+60)
		case []any:
			for n, item := range v {
				change("the loss of an item of ", slices.Delete(slices.Clone(v), n, n+1))
				if n > 0 && !strings.HasSuffix(at, ".Entities") && !reflect.DeepEqual(v[n-1], item) {
					other := slices.Clone(v)
					other[n-1], other[n] = item, v[n-1]
					change("another order of ", other)
				}
				walk(at+".n", item, func(to any) { v[n] = to })
			}
		case map[string]any:
			v["new"] = "x"
			check("a field that the reader does not know in "+at, func() { delete(v, "new") })
			for _, key := range slices.Sorted(maps.Keys(v)) {
				was := v[key]
				if slices.Contains(unseen, key) || was == nil {
					continue
				}
				if !reflect.ValueOf(was).IsZero() {
					delete(v, key)
					check("the loss of "+at+"."+key, func() { v[key] = was })
				}
				walk(at+"."+key, was, func(to any) { v[key] = to })
			}
		}
	}
	walk("the payload", payload, func(any) {})
}
