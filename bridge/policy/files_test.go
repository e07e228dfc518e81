package policy

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestFiles checks the files that the machine of an agent has to look at.
func TestFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tool, input string
		want        []string
	}{
		{"Bash", `{"command":"cat a b/c /repo/d /etc/passwd ../e"}`, []string{"/repo/a", "/repo/b/c", "/repo/d"}},
		{"Bash", `{"command":"cd sub && head -5 a | sort"}`, []string{"/repo/sub", "/repo/sub/a"}},
		{"Bash", `{"command":"cd /repo/sub && wc a"}`, []string{"/repo/sub", "/repo/sub/a"}},
		{"Bash", `{"command":"bash -lc 'grep -n x a'"}`, []string{"/repo/a"}},
		{"Bash", `{"command":["bash","-lc","rg x dir"]}`, []string{"/repo/dir"}},
		{"Bash", `{"command":"make a && cat b"}`, []string{"/repo/b"}},
		{"Bash", `{"command":"git diff -- a"}`, []string{"/repo/a"}},
		{"run", `{"program":"/usr/bin/cat","argv":["cat","a"]}`, []string{"/repo/a"}},
		{"Read", `{"file_path":"/repo/docs/a"}`, []string{"/repo/docs/a"}},
		{"Write", `{"file_path":"docs/a","content":"x"}`, []string{"/repo/docs/a"}},
		{"Write", `{"file_path":"/srv/data/a","content":"x"}`, []string{"/srv/data/a"}},
		{"Write", `{"file_path":"/srv/../a","content":"x"}`, nil},
		{"Bash", `{"command":"ls","cwd":"/srv/data"}`, nil},
		{"Bash", `{"command":"cat $HOME"}`, nil},
	} {
		got := Files(bridge.Act{Tool: c.tool, Input: json.RawMessage(c.input), Where: "/repo"})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.input, got, c.want)
		}
	}
}
