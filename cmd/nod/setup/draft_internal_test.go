package setup

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestAppend checks that nod init adds to a list, however it is written, and
// changes nothing else of the file.
func TestAppend(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{}":                                 "r: {d: {p: [bo]}}",
		"r: ~":                               "r: {d: {p: [bo]}}",
		"r: {d: {p: [ana]}}":                 "r: {d: {p: [ana, bo]}}",
		"r: {d: {p: ana}}":                   "r: {d: {p: [ana, bo]}}",
		"r: {d: {p: bo}}":                    "r: {d: {p: [bo]}}",
		"r: {d: {q: 1}, e: [2]}":             "r: {d: {q: 1, p: [bo]}, e: [2]}",
		"x: &x [ana]\nr: {d: {p: *x}}":       "x: [ana]\nr: {d: {p: [ana, bo]}}",
		"x: &x ana\nr: {d: {p: *x}}":         "x: ana\nr: {d: {p: [ana, bo]}}",
		"x: &x {p: [ana], q: 1}\nr: {d: *x}": "x: {p: [ana], q: 1}\nr: {d: {p: [ana, bo], q: 1}}",
		"x: &x {d: {p: ana, q: 1}}\nr: *x":   "x: {d: {p: ana, q: 1}}\nr: {d: {p: [ana, bo], q: 1}}",
		"x: &x {p: [ana], q: 1}\nr: {d: {<<: *x, q: 2}}":            "x: {p: [ana], q: 1}\nr: {d: {p: [ana, bo], q: 2}}",
		"x: &x {d: {p: [ana], q: 1}}\nr: {<<: *x}":                  "x: {d: {p: [ana], q: 1}}\nr: {d: {p: [ana, bo], q: 1}}",
		"x: &x {p: [ana]}\ny: &y {p: [cy]}\nr: {d: {<<: [*x, *y]}}": "x: {p: [ana]}\ny: {p: [cy]}\nr: {d: {p: [ana, bo]}}",
		"x: &x {p: [ana]}\ny: &y {<<: *x}\nr: {d: {<<: *y}}":        "x: {p: [ana]}\ny: {p: [ana]}\nr: {d: {p: [ana, bo]}}",
		"r: {d: &d {p: [ana]}, e: *d}":                              "r: {d: {p: [ana, bo]}, e: {p: [ana]}}",
		"r: {d: &d {p: [ana]}, e: {<<: *d, q: 1}}":                  "r: {d: {p: [ana, bo]}, e: {p: [ana], q: 1}}",
		"r: {d: {p: &p [ana]}, e: {p: *p}, f: {p: *p}}":             "r: {d: {p: [ana, bo]}, e: {p: [ana]}, f: {p: [ana]}}",
		"r: &r {d: &d {p: &p [ana]}, e: *d}\nx: *r\ny: *p":          "r: {d: {p: [ana, bo]}, e: {p: [ana]}}\nx: {d: {p: [ana]}, e: {p: [ana]}}\ny: [ana]",
		"x: &x {p: &p [ana], q: *p}\nr: {d: *x, e: *p}":             "x: {p: [ana], q: [ana]}\nr: {d: {p: [ana, bo], q: [ana]}, e: [ana]}",
	} {
		path := filepath.Join(t.TempDir(), "nod.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := openDraft(path, "")
		if err != nil {
			t.Fatal(err)
		}
		d.appendTo([]string{"r", "d", "p"}, "bo")
		var got, expected any
		raw, err := yaml.Marshal(&d.doc)
		if err == nil {
			err = yaml.Unmarshal(raw, &got)
		}
		if err != nil || yaml.Unmarshal([]byte(want), &expected) != nil || !reflect.DeepEqual(got, expected) {
			t.Errorf("%q becomes\n%s(%v), want %s", text, raw, err, want)
		}
	}
}
