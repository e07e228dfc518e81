package setup

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of agents into docs/agents/README.md")

// TestAgentTable checks that the documentation has the table of agents.
func TestAgentTable(t *testing.T) {
	t.Parallel()
	const path, begin, end = "../../../docs/agents/README.md", "<!-- table of agents -->\n\n", "\n<!-- end of the table -->"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(raw), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no table of agents", path)
	}
	want := before + begin + agentTable() + end + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(raw) != want {
		t.Errorf("%s is out of date; run make reference", path)
	}
}

func agentTable() string {
	var b strings.Builder
	b.WriteString("| Agent and its files | What `nod init all` adds | Best level in `nod doctor --agents` |\n|---|---|---|\n")
	m := machine{home: "~", config: "~/.config", apps: "~/.config", moved: func(string) string { return "" }}
	for _, a := range agents() {
		var files []string
		for _, f := range a.edits {
			files = append(files, "`"+filepath.ToSlash(f.file(m))+"`")
		}
		where := strings.Join(files, ", ")
		if a.moved != "" {
			where += " (`" + a.moved + "` moves them)"
		}
		best := a.best
		if a.tested != "" {
			best += " (tested with " + a.tested + ")"
		}
		fmt.Fprintf(&b, "| [%s](%s): %s | %s | %s |\n", a.title, a.page, where, a.adds, best)
	}
	return b.String()
}

// TestTableIsComplete checks that each agent of the table has a page, files that
// nod init and nod doctor use, and, if its hooks are among them, hooks that nod
// answers.
func TestTableIsComplete(t *testing.T) {
	t.Parallel()
	m := machine{home: "h", config: "c", apps: "a", moved: func(string) string { return "" }}
	for _, a := range agents() {
		if _, err := os.Stat(filepath.Join("../../../docs/agents", a.page)); err != nil {
			t.Errorf("%s: %v", a.name, err)
		}
		if a.title == "" || a.folder(m) == "" || len(a.edits) == 0 || a.survey == nil || a.adds == "" || a.best == "" {
			t.Errorf("%s is not complete: %+v", a.name, a)
		}
		if a.server.value != nil && len(a.servers) == 0 {
			t.Errorf("%s: nod init mcp does not know its file", a.name)
		}
	}
}
