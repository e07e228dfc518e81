package rooms_test

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// wayMost is the limit for the lines of all files on one path, so that a reader
// can read them from beginning to end.
const wayMost = 1200

// TestWays checks that the first lines of the files on the path of a click and of a request
// name the next file, in the order that docs/architecture.md has, and that the
// files of each path have at most wayMost lines.
func TestWays(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{"request", "click"} {
		_, section, _ := strings.Cut(string(raw), "\n## Path of a "+way+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		files := regexp.MustCompile("(?m)^- `(\\S+\\.go)`$").FindAllStringSubmatch(section, -1)
		if len(files) < 8 {
			t.Errorf("the path of a %s has %d files", way, len(files))
		}
		lines := 0
		for n, f := range files {
			text, err := os.ReadFile("../../" + f[1])
			if err != nil {
				t.Error(err)
				continue
			}
			lines += strings.Count(string(text), "\n")
			head, _, _ := strings.Cut(string(text), "\n\n")
			head = strings.ReplaceAll(head, "\n// ", " ")
			next := "the last one"
			if n+1 < len(files) {
				next = path.Base(files[n+1][1])
			}
			if !strings.Contains(head, "Path of a") || !strings.Contains(head, way) || !strings.Contains(head, next) {
				t.Errorf("%s begins with %q; want the path of a %s, and %s", f[1], head, way, next)
			}
		}
		if way == "click" { // the other adapters begin like the first
			for _, other := range []string{"discord", "telegram"} {
				text, err := os.ReadFile("../../platforms/" + other + "/inbound.go")
				if err != nil || !strings.HasPrefix(string(text), "// Path of a click: this file → "+path.Base(files[1][1])+" of bridge/engine.") {
					t.Errorf("the file inbound.go of %s names another next one: %v", other, err)
				}
			}
		}
		if t.Logf("the path of a %s has %d lines", way, lines); lines > wayMost {
			t.Errorf("the path of a %s has %d lines (limit %d); move what most of them do not pass to a neighboring file", way, lines, wayMost)
		}
	}
}
