package setup

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/programs"
)

// scratch gives a test a home directory and an empty PATH.
func scratch(t *testing.T) (dir string, write func(path, text string)) {
	t.Helper()
	dir = t.TempDir()
	t.Chdir(dir)
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("CODEX_HOME", "")
	t.Setenv("PATH", filepath.Join(dir, "bin"))
	return dir, func(path, text string) {
		t.Helper()
		path = filepath.Join(dir, path)
		if strings.HasPrefix(text, "#!") {
			programs.Write(t, path, text)
			return
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
}

// tree returns the content of all files below a directory, and the
// directories.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Type()&os.ModeSymlink != 0 {
			to, err := os.Readlink(path)
			out[path] = "-> " + to
			return err
		}
		if d.IsDir() {
			out[path] = "directory"
			return nil
		}
		raw, err := os.ReadFile(path)
		info, _ := d.Info()
		out[path] = info.Mode().String() + string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func sameTree(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for path, text := range want {
		if got[path] != text {
			t.Errorf("%s: %s is %q, want %q", what, path, got[path], text)
		}
	}
	for path := range got {
		if _, ok := want[path]; !ok {
			t.Errorf("%s: %s is new", what, path)
		}
	}
}

// everyAgent installs all agents, with settings in their odd forms.
func everyAgent(t *testing.T) (dir string, write func(path, text string)) {
	dir, write = scratch(t)
	for _, program := range []string{"codex", "gemini", "opencode", "copilot"} {
		write("bin/"+program, "#!/bin/sh\necho 1.2.3\n")
	}
	write("bin/claude", "#!/bin/sh\necho '2.1.330 (Claude Code)'\n")
	write("bin/nod", "#!/bin/sh\n")
	write("dotfiles/claude.json", "{ \"hooks\": {\n    \"Stop\": [ {\"hooks\": [{\"type\":   \"command\", \"command\": \"./bell.sh\"}]} ]\n  }\n}\n")
	if err := os.MkdirAll(".claude", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../dotfiles/claude.json", ".claude/settings.json"); err != nil {
		t.Fatal(err)
	}
	write(".cursor/mcp.json", "{\"mcpServers\":{\"db\":{\"command\":\"db\"}}}")
	write(".gemini/settings.json", "{\n\t\"theme\": \"GitHub\",\n\t\"a\": [1,   2]\n}\n")
	write(".config/opencode/opencode.jsonc", "{\n  // a model\n  \"model\": \"x/y\",\n}\n")
	write(".config/zed/settings.json", `// Zed settings
{
  "theme": "One", // dark
  "agent_servers": {
    "My/Agent": {"type": "custom", "command": "my-agent", "args": ["--acp"], "env": {}},
    "plain": {"command": "plain"},
    "claude": {"type": "registry"},
  },
}
`)
	write(".codeium/windsurf/mcp_config.json", "")
	if err := os.MkdirAll(".config/Code/User", 0o755); err != nil {
		t.Fatal(err)
	}
	return dir, write
}

func runAll(t *testing.T, dir string, s InitAll) (out, talk string) {
	t.Helper()
	var o, w bytes.Buffer
	s.Out, s.Talk, s.Program = &o, &w, filepath.Join(dir, "bin", "nod")
	if s.Stdin == nil {
		s.Stdin = strings.NewReader("")
	}
	if err := s.Run(context.Background()); err != nil {
		t.Fatalf("%v\n%s%s", err, o.String(), w.String())
	}
	return o.String(), w.String()
}

// TestInitAll checks that nod init all shows its changes, writes them only after
// a confirmation, keeps comments and links, changes nothing the second time,
// and restores every byte.
func TestInitAll(t *testing.T) {
	dir, write := everyAgent(t)
	before := tree(t, dir)
	shown, _ := runAll(t, dir, InitAll{Print: true})
	for _, want := range []string{"Claude Code: ", "Codex: ", "Copilot CLI: ", "Cursor: ", "Gemini CLI: ", "opencode: ", "Zed: ", "VS Code: ", "Windsurf: ", "+++ ", "\n+"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not shown", want)
		}
	}
	if strings.Contains(shown, "Claude Desktop") {
		t.Error("an agent that is not installed is shown")
	}
	sameTree(t, "--print", tree(t, dir), before)
	_, talk := runAll(t, dir, InitAll{Stdin: strings.NewReader("n\n")})
	if !strings.Contains(talk, "Change 10 files? [y/N]: ") || !strings.Contains(talk, "nothing was changed") {
		t.Errorf("after no: %s", talk)
	}
	sameTree(t, "after no", tree(t, dir), before)
	unsaid := InitAll{Stdin: strings.NewReader(""), Out: io.Discard, Talk: io.Discard}
	if err := unsaid.Run(context.Background()); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("without an answer: %v", err)
	}
	sameTree(t, "without an answer", tree(t, dir), before)

	runAll(t, dir, InitAll{Stdin: strings.NewReader("y\n")})
	after := tree(t, dir)
	for path, marks := range map[string][]string{
		"dotfiles/claude.json":              {"\"type\":   \"command\"", "./bell.sh", "PermissionRequest", "hook claude"},
		".codex/hooks.json":                 {"hook codex"},
		".copilot/mcp-config.json":          {`"tools"`},
		".copilot/hooks/nod.json":           {`"version": 1`, `"permissionRequest"`, "hook copilot"},
		".cursor/mcp.json":                  {`"db"`, `"nod"`},
		".gemini/settings.json":             {"\t\"theme\"", `"nod"`},
		".config/opencode/opencode.jsonc":   {"// a model", `"local"`},
		".config/zed/settings.json":         {"// dark", `"acp","--","my-agent","--acp"`, `"acp","--","plain"`, `{"type": "registry"}`},
		".config/Code/User/mcp.json":        {`"servers"`},
		".codeium/windsurf/mcp_config.json": {`"mcpServers"`},
	} {
		for _, mark := range marks {
			if !strings.Contains(after[filepath.Join(dir, path)], mark) {
				t.Errorf("%s has no %s:\n%s", path, mark, after[filepath.Join(dir, path)])
			}
		}
	}
	if got := after[filepath.Join(dir, ".claude/settings.json")]; got != "-> ../dotfiles/claude.json" {
		t.Errorf("the link became %q", got)
	}
	out, talk := runAll(t, dir, InitAll{Yes: true})
	if out != "" || strings.Count(talk, "is up to date") != 10 {
		t.Errorf("the second run: %s%s", out, talk)
	}
	sameTree(t, "the second run", tree(t, dir), after)
	runAll(t, dir, InitAll{Yes: true, Hooks: HookOptions{Route: "prod"}})
	runAll(t, dir, InitAll{Yes: true, Undo: true})
	sameTree(t, "after the undo", tree(t, dir), before)
	out, _ = runAll(t, dir, InitAll{Yes: true, Undo: true})
	if out != "" {
		t.Errorf("the second undo: %s", out)
	}

	runAll(t, dir, InitAll{Yes: true, Agents: []string{"gemini", "cursor"}})
	write(".gemini/settings.json", strings.Replace(tree(t, dir)[filepath.Join(dir, ".gemini/settings.json")][10:], "GitHub", "Dracula", 1))
	runAll(t, dir, InitAll{Yes: true, Undo: true})
	got := tree(t, dir)[filepath.Join(dir, ".gemini/settings.json")]
	if !strings.Contains(got, "Dracula") || strings.Contains(got, "nod") {
		t.Errorf("after a change of the user, the undo leaves %s", got)
	}
}

// TestInitAllSkips checks that a file which cannot be changed is named with the
// reason and stays unchanged, while nod is added to the other agents and removed
// from them.
func TestInitAllSkips(t *testing.T) {
	for what, c := range map[string]struct {
		spoil func(t *testing.T, path string, write func(path, text string))
		why   string
	}{
		"half a file":   {func(_ *testing.T, path string, write func(path, text string)) { write(path, "{") }, "unexpected EOF"},
		"not an object": {func(_ *testing.T, path string, write func(path, text string)) { write(path, "[]") }, "not a JSON object"},
		"a member twice": {func(_ *testing.T, path string, write func(path, text string)) {
			write(path, `{"mcpServers":{},"a":{"b":1,"b":2}}`)
		}, `the member "b" occurs twice`},
		"a dangling link": {func(t *testing.T, path string, _ func(path, text string)) {
			if err := errors.Join(os.Remove(path), os.Symlink("nowhere.json", path)); err != nil {
				t.Fatal(err)
			}
		}, "is a link to nowhere.json, which does not exist"},
		"a pipe": {func(t *testing.T, path string, _ func(path, text string)) {
			if err := errors.Join(os.Remove(path), exec.Command("/usr/bin/mkfifo", path).Run()); err != nil {
				t.Fatal(err)
			}
		}, "is not a regular file"},
	} {
		t.Run(what, func(t *testing.T) {
			dir, write := everyAgent(t)
			c.spoil(t, ".gemini/settings.json", write)
			var talk bytes.Buffer
			s := InitAll{Yes: true, Out: io.Discard, Talk: &talk, Program: filepath.Join(dir, "bin", "nod")}
			err := s.Run(context.Background())
			if bridge.ErrorCode(err) != bridge.CodeInvalid || !strings.Contains(err.Error(), "Gemini CLI was skipped") || !strings.Contains(talk.String(), c.why) {
				t.Errorf("%v, want a skipped Gemini CLI, because %s\n%s", err, c.why, talk.String())
			}
			if raw, err := os.ReadFile(".cursor/mcp.json"); err != nil || !strings.Contains(string(raw), `"nod"`) {
				t.Errorf("the next agent was not connected: %v, %s", err, raw)
			}
			s = InitAll{Yes: true, Undo: true, Out: io.Discard, Talk: io.Discard, Program: s.Program}
			if err := s.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "Gemini CLI was skipped") {
				t.Errorf("the undo: %v", err)
			}
			if raw, err := os.ReadFile(".cursor/mcp.json"); err != nil || strings.Contains(string(raw), `"nod"`) {
				t.Errorf("the undo left nod: %v, %s", err, raw)
			}
		})
	}
}

// late is a person who confirms only after something has happened.
type late func()

func (f late) Read(b []byte) (int, error) {
	f()
	return copy(b, "y\n"), io.EOF
}

// TestInitAllKeepsLateChanges checks that nod init all and its --undo leave a
// file alone that someone changes before the confirmation, and do the rest.
func TestInitAllKeepsLateChanges(t *testing.T) {
	dir, write := everyAgent(t)
	run := func(undo bool, change func()) error {
		s := InitAll{Undo: undo, Stdin: late(change), Out: io.Discard, Talk: io.Discard, Program: filepath.Join(dir, "bin", "nod")}
		return s.Run(t.Context())
	}
	before := tree(t, dir)
	theirs := filepath.Join(dir, ".gemini", "settings.json")
	fresh := filepath.Join(dir, ".codex", "hooks.json")
	for _, undo := range []bool{false, true} {
		err := run(undo, func() { write(".gemini/settings.json", "{\"theme\": \"late\"}"); write(".codex/hooks.json", "{}") })
		if err == nil || !strings.Contains(err.Error(), "Gemini CLI was skipped") || !strings.Contains(err.Error(), "Codex was skipped") {
			t.Errorf("undo %v: %v", undo, err)
		}
		for path, want := range map[string]string{theirs: "{\"theme\": \"late\"}", fresh: "{}"} {
			if got, err := os.ReadFile(path); err != nil || string(got) != want {
				t.Errorf("undo %v: %s is %s, %v", undo, path, got, err)
			}
		}
		cursor, err := os.ReadFile(filepath.Join(dir, ".cursor", "mcp.json"))
		if err != nil || strings.Contains(string(cursor), "bin/nod") == undo {
			t.Errorf("undo %v: the rest is not done: %s, %v", undo, cursor, err)
		}
		if !undo { // this time, nothing changes
			if err := run(false, func() {}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := run(true, func() {}); err != nil {
		t.Fatal(err)
	}
	after := tree(t, dir)
	state := filepath.Join(dir, ".config", "nod")
	for _, path := range []string{theirs, fresh, filepath.Dir(fresh), state, filepath.Join(state, "init-all.json")} {
		delete(before, path)
		delete(after, path)
	}
	sameTree(t, "after all", after, before)
}

// TestInitAllNextSteps checks that nod init all names the next steps, and how to
// restore the files, if and only if it has changed a file.
func TestInitAllNextSteps(t *testing.T) {
	for _, c := range []struct {
		agents []string
		want   bool
	}{{[]string{"gemini"}, false}, {[]string{"cursor", "gemini"}, true}, {[]string{"cursor"}, true}} {
		dir, write := everyAgent(t)
		var talk bytes.Buffer
		s := InitAll{
			Agents: c.agents, Out: io.Discard, Talk: &talk, Program: filepath.Join(dir, "bin", "nod"),
			Stdin: late(func() { write(".gemini/settings.json", `{"theme": "late"}`) }),
		}
		err := s.Run(t.Context())
		if skips := slices.Contains(c.agents, "gemini"); skips != (err != nil) || strings.Contains(talk.String(), "nod init all --undo") != c.want {
			t.Errorf("%v: %v\n%s", c.agents, err, &talk)
		}
	}
}

// TestInitAllKeepsMarks checks that a byte-order mark stays.
func TestInitAllKeepsMarks(t *testing.T) {
	dir, write := everyAgent(t)
	write(".cursor/mcp.json", "\ufeff{}")
	runAll(t, dir, InitAll{Yes: true})
	if raw, err := os.ReadFile(".cursor/mcp.json"); err != nil || !strings.HasPrefix(string(raw), "\ufeff{") || !strings.Contains(string(raw), `"nod"`) {
		t.Errorf("%v, %q", err, raw)
	}
	runAll(t, dir, InitAll{Yes: true, Undo: true})
	if raw, err := os.ReadFile(".cursor/mcp.json"); err != nil || string(raw) != "\ufeff{}" {
		t.Errorf("after the undo: %v, %q", err, raw)
	}
}

// TestInitAllRefuses checks that nothing is written if an agent is unknown.
func TestInitAllRefuses(t *testing.T) {
	dir, _ := everyAgent(t)
	before := tree(t, dir)
	s := InitAll{Yes: true, Agents: []string{"clod"}, Out: io.Discard, Talk: io.Discard}
	if err := s.Run(context.Background()); bridge.ErrorCode(err) != bridge.CodeInvalid || !strings.Contains(err.Error(), `"clod"`) {
		t.Errorf("with an unknown agent: %v", err)
	}
	sameTree(t, "with an unknown agent", tree(t, dir), before)
}

// TestInitAllState checks that nod init all changes nothing if its own file cannot
// be read.
func TestInitAllState(t *testing.T) {
	for _, text := range []string{"null", "[]", "{", ""} {
		dir, write := scratch(t)
		config, err := os.UserConfigDir()
		if err != nil {
			t.Fatal(err)
		}
		state, _ := filepath.Rel(dir, filepath.Join(config, "nod", "init-all.json"))
		write(state, text)
		write(".claude/settings.json", "{}")
		before := tree(t, dir)
		for _, undo := range []bool{false, true} {
			s := InitAll{Yes: true, Undo: undo, Program: "nod", Out: io.Discard, Talk: io.Discard}
			if err := s.Run(t.Context()); bridge.ErrorCode(err) != bridge.CodeInvalid {
				t.Errorf("%q: %v", text, err)
			}
		}
		sameTree(t, text, tree(t, dir), before)
	}
}
