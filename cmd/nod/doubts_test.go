package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/cmd/nod/caller"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// linked returns a project with links that lead out of it, and some that do not.
func linked(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	project := filepath.Join(root, "project")
	for _, dir := range []string{"project/sub", "outside", "project-2"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"project/file", "project/sub/file", "outside/file", "project-2/file"} {
		if err := os.WriteFile(filepath.Join(root, file), []byte("text\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"out": "../outside", "file-out": "../outside/file", "twice": "out", "near": "../project-2", "abs": filepath.Join(root, "outside", "file"),
		"nothing": "../outside/new", "loop": "loop", "in": "sub", "file-in": "sub/file", "abs-in": filepath.Join(project, "file"), "sub/up": "../file", "sub/far": "../../outside/file",
	} {
		if err := os.Symlink(to, filepath.Join(project, link)); err != nil {
			t.Fatal(err)
		}
	}
	return project
}

// linkCases has operations in such a project, and whether a file that they name is
// elsewhere.
var linkCases = []struct {
	tool, input string
	out         bool
}{
	{"Bash", `{"command":"cat file"}`, false},
	{"Bash", `{"command":"cat PROJECT/file in/file file-in abs-in sub/up"}`, false},
	{"Bash", `{"command":"cat missing in/missing"}`, false},
	{"Bash", `{"command":"git diff -- sub"}`, false},
	{"Bash", `{"command":"cat file-out"}`, true},
	{"Bash", `{"command":"cat PROJECT/abs"}`, true},
	{"Bash", `{"command":"cat nothing"}`, true},
	{"Bash", `{"command":"cat loop"}`, true},
	{"Bash", `{"command":"head -3 file | sort - out/file"}`, true},
	{"Bash", `{"command":"grep -rn x twice"}`, true},
	{"Bash", `{"command":"ls near"}`, true},
	{"Bash", `{"command":"cd sub && cat far"}`, true},
	{"Bash", `{"command":"cd out && cat file"}`, true},
	{"Bash", `{"command":"bash -lc 'cut -c1 file-out'"}`, true},
	{"run", `{"program":"/usr/bin/diff","argv":["diff","file","file-out"]}`, true},
	{"Read", `{"file_path":"PROJECT/file"}`, false},
	{"Read", `{"file_path":"PROJECT/out/file"}`, true},
	{"Write", `{"file_path":"PROJECT/new","content":"x"}`, false},
	{"Write", `{"file_path":"PROJECT/out/new","content":"x"}`, true},
	{"Write", `{"file_path":"PROJECT/nothing","content":"x"}`, true},
}

// TestLinksAreDoubts checks that nod notices files of a project that are elsewhere.
func TestLinksAreDoubts(t *testing.T) {
	t.Parallel()
	project := linked(t)
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Symlink(project, moved); err != nil {
		t.Fatal(err)
	}
	for _, where := range []string{project, moved} { // the project itself may be a link
		for _, c := range linkCases {
			input := json.RawMessage(strings.ReplaceAll(c.input, "PROJECT", where))
			got := caller.DoubtsOf(bridge.Act{Tool: c.tool, Input: input, Where: where})
			if (len(got) > 0) != c.out {
				t.Errorf("%s: %q", input, got)
			}
		}
	}
}

// TestLinksElsewhere checks that nod notices links among the files outside of the
// project that a rule for paths may be about.
func TestLinksElsewhere(t *testing.T) {
	t.Parallel()
	data, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(data, "dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"out": "/etc", "in": "dir", "file": "/etc/passwd", "dangling": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(data, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, link := range map[string]bool{"new": false, "dir/new": false, "dir/a/b": false, "out/passwd": true, "in/new": true, "file": true, "dangling": true} {
		for _, where := range []string{t.TempDir(), filepath.Join(data, "missing")} {
			input := json.RawMessage(fmt.Sprintf(`{"file_path":%q,"content":"x"}`, filepath.Join(data, name)))
			if got := caller.DoubtsOf(bridge.Act{Tool: "Write", Input: input, Where: where}); (len(got) > 0) != link {
				t.Errorf("%s: %q", name, got)
			}
		}
	}
}

// TestRepositoriesAreDoubts checks that nod notices a bare repository among the
// files of a project, whose configuration git would use.
func TestRepositoriesAreDoubts(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	for _, dir := range []string{".git/objects", ".git/refs", "lib/objects", "lib/refs", "lib/src", "tree", "sub", "objects", "refs", "half/objects"} {
		if err := os.MkdirAll(filepath.Join(project, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"HEAD", ".git/HEAD", "lib/HEAD", "tree/HEAD", "tree/commondir", "sub/.git", "sub/HEAD", "half/HEAD"} {
		if err := os.WriteFile(filepath.Join(project, file), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("lib/src", filepath.Join(project, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir, command string
		bare         bool
	}{
		{".", "git status", false}, {"sub", "git status", false}, {"half", "git status", false}, {"lib", "ls", false}, {"lib", "cat x | head", false},
		{"lib", "git status", true}, {"lib/src", "git log", true}, {"link", "git log", true}, {"tree", "git diff", true}, {"lib", "bash -lc 'git status'", true}, {"lib", "ls | /usr/bin/git status", true},
	} {
		where := filepath.Join(project, c.dir)
		input := json.RawMessage(fmt.Sprintf(`{"command":%q}`, c.command))
		if got := caller.DoubtsOf(bridge.Act{Tool: "Bash", Input: input, Where: where}); (len(got) > 0) != c.bare {
			t.Errorf("%s in %s: %q", c.command, c.dir, got)
		}
	}
}

// TestLinksNeedAPerson checks that a rule that allows reading in the project does
// not allow it through a link that leads out, for each program of nod on the
// machine of the agent.
func TestLinksNeedAPerson(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("telegram")(c)
		c.Policy = []policy.Rule{
			{Name: "read", Reads: "project", Then: "allow"},
			{Name: "files", Tools: []string{"Read"}, Path: []string{"/*"}, Then: "allow"},
		}
	}})
	project := linked(t)
	for n, file := range []string{"file", "file-out"} {
		read := fmt.Sprintf(`{"session_id":"links-%d","cwd":%q,"hook_event_name":"PreToolUse","permission_mode":"bypassPermissions","tool_name":"Bash","tool_input":{"command":"cat %s"},"tool_use_id":"t1"}`, n, project, file)
		h := startHook(t, r.Daemons[0].URL, "claude", read)
		want := "allow"
		if file == "file-out" {
			r.Press("ana", r.Card("links-1").On("telegram"), "Deny")
			want = "deny"
		}
		if got := decisionOf(t, []byte(h.exit(t, 0))); got != want {
			t.Errorf("%s: %s, want %s: %s", file, got, want, h.out.String()+h.err.String())
		}
	}
	c := rig.NewClient(r.Daemons[0].URL, rig.TestAgentToken)
	c.Doubts = caller.DoubtsAboutRequest
	for file, want := range map[string]bridge.State{"file": bridge.StateApproved, "file-out": bridge.StatePending} {
		rec, err := c.Open(r.Ctx, bridge.Request{Ask: bridge.Ask{Prompt: "Read", Approval: &bridge.Approval{
			Tool: "Read", Where: project, Input: json.RawMessage(fmt.Sprintf(`{"file_path":%q}`, filepath.Join(project, file))),
		}}}, "")
		if err != nil || rec.State != want {
			t.Errorf("%s: %s, want %s, %v", file, rec.State, want, err)
		}
	}
}
