package setup

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestAppend checks that nod init adds to a list, however it is written, and keeps
// what is in it.
func TestAppend(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{}": "[bo]", "a: [ana]": "[ana, bo]", "a: ana": "[ana, bo]", "a: bo": "[bo]", "x: &x [ana]\na: *x": "[ana, bo]", "x: &x ana\na: *x": "[ana, bo]",
	} {
		path := filepath.Join(t.TempDir(), "nod.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := openDraft(path, "")
		if err != nil {
			t.Fatal(err)
		}
		d.appendTo([]string{"a"}, "bo")
		var got, expected struct{ A []string }
		raw, err := yaml.Marshal(&d.doc)
		if err == nil {
			err = yaml.Unmarshal(raw, &got)
		}
		if err != nil || yaml.Unmarshal([]byte("a: "+want), &expected) != nil || !slices.Equal(got.A, expected.A) {
			t.Errorf("%q becomes\n%s(%v), want %s", text, raw, err, want)
		}
	}
}
