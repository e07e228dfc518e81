package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/policy"
)

// TestInit checks that nod init writes its entries to missing, existing and
// unusual files, that it can be repeated and undone, and that it leaves broken
// files unchanged.
func TestInit(t *testing.T) {
	t.Parallel()
	const theirs = `{
  "model": "opus",
  "zeta": 1.50,
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          {
            "type": "command",
            "command": "./check.sh hook claude",
            "timeout": 5
          }
        ]
      }
    ]
  },
  "mcpServers": {
    "other": {
      "command": "other"
    }
  }
}
`
	odd := "{ // mine\n  \"hooks\": {\"Stop\": [] }, \"b\":2,\n}\n"
	strict := theirs[:strings.Index(theirs, `  "model"`)] + theirs[strings.Index(theirs, `  "hooks"`):strings.Index(theirs, ",\n  \"mcpServers\"")] + "\n}\n"
	files := map[string]string{"claude": "settings.json", "codex": "hooks.json", "mcp": ".mcp.json"}
	for agent, marks := range map[string][]string{
		"claude": {"PermissionRequest", "PermissionDenied", "Elicitation", "hook claude --grace 10s", `"async"`},
		"codex":  {"PermissionRequest", "hook codex --grace 10s"},
		"mcp":    {"mcpServers", `"mcp"`},
	} {
		for name, was := range map[string]string{"new": "", "theirs": theirs, "odd": odd} {
			if agent == "codex" && name == "theirs" {
				was = strict // Codex knows no other member
			}
			if agent != "mcp" && name == "odd" {
				continue // TestIgnoredFiles covers files that these agents do not accept
			}
			t.Run(agent+"/"+name, func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "deep", files[agent])
				if was != "" {
					if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, []byte(was), 0o640); err != nil {
						t.Fatal(err)
					}
				}
				first := initFile(t, agent, Settings{Path: path})
				for _, m := range marks {
					if !strings.Contains(first, m) {
						t.Errorf("%s is missing: %s", m, first)
					}
				}
				if name != "odd" && !json.Valid([]byte(first)) {
					t.Errorf("not JSON: %s", first)
				}
				if name == "theirs" {
					for _, kept := range []string{"./check.sh hook claude", `"zeta": 1.50`, `"command": "other"`} {
						if strings.Contains(was, kept) && !strings.Contains(first, kept) {
							t.Errorf("%s is gone: %s", kept, first)
						}
					}
				}
				if name == "odd" && !strings.Contains(first, "{ // mine") {
					t.Errorf("a comment is gone: %s", first)
				}
				if again := initFile(t, agent, Settings{Path: path}); again != first {
					t.Errorf("after the second run: %s", again)
				}
				undone := initFile(t, agent, Settings{Path: path, Undo: true})
				want := was
				if name == "new" {
					want = "{}\n"
				}
				if name != "odd" && undone != want {
					t.Errorf("after the undo: %q, want %q", undone, want)
				}
				if strings.Contains(undone, "nod") {
					t.Errorf("entries remain after the undo: %s", undone)
				}
				if info, err := os.Stat(path); err != nil || name == "theirs" && info.Mode().Perm() != 0o640 {
					t.Errorf("mode %v, %v", info.Mode(), err)
				}
			})
		}
	}
	for _, text := range []string{"{", "[]", `{"hooks": 7}`} {
		path := filepath.Join(t.TempDir(), "settings.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		broken := Settings{Path: path, Talk: io.Discard}
		if err := bridge.PublicError(broken.Claude(HookOptions{})); err.Code != bridge.CodeInvalid || !strings.Contains(err.Hint, "nothing was changed") {
			t.Errorf("%s: %v", text, err)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != text {
			t.Errorf("%s was changed to %s, %v", text, now, err)
		}
	}
	var out bytes.Buffer
	printed := Settings{Path: filepath.Join(t.TempDir(), "x.json"), Print: true, Out: &out, Talk: io.Discard}
	if err := printed.Claude(HookOptions{}); err != nil || !json.Valid(out.Bytes()) {
		t.Errorf("%v, %s", err, out.String())
	}
}

// TestGates checks which hooks a gate becomes, that later runs keep gates, and
// that only the user removes them.
func TestGates(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "settings.json")
	const earlier = `{"hooks":{"PreToolUse":[
		{"matcher":"AskUserQuestion|ExitPlanMode","hooks":[{"type":"command","command":"nod hook claude","timeout":86400}]},
		{"matcher":"Bash","hooks":[{"type":"command","command":"/usr/local/bin/nod hook claude --route prod","timeout":86400,"if":"Bash(npm publish *)","onFailure":"block"}]},
		{"matcher":"Deploy","hooks":[{"type":"command","command":"/usr/local/bin/nod hook claude --route prod","timeout":86400}]}]}}`
	if err := os.WriteFile(path, []byte(earlier), 0o600); err != nil {
		t.Fatal(err)
	}
	step := func(gates []policy.Gate, undo bool) string {
		s := Settings{Path: path, Program: "/bin/nod", Talk: io.Discard, Undo: undo}
		if err := s.Claude(HookOptions{Gates: gates, Fail: "open", Grace: time.Second}); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	const converted = `"command":"/usr/local/bin/nod hook claude --route prod --gate 'Bash(npm publish *)'","timeout":86400,"onFailure":"block"}`
	for range 2 { // a gate that Claude Code evaluates becomes one that nod evaluates
		if got := step(nil, false); strings.Contains(got, "AskUserQuestion") || !strings.Contains(got, `"Deploy"`) || strings.Contains(got, `"if"`) || strings.Count(got, converted) != 1 {
			t.Errorf("without --gate, the file is %s", got)
		}
	}
	gates, err := policy.ParseGates("Bash(git push *)|Write|Bash(rm *)|Edit(src/**)")
	if err != nil {
		t.Fatal(err)
	}
	const gate = `{"matcher":"Bash|Monitor|PowerShell|mcp__workspace__bash","hooks":[{"type":"command","command":"/bin/nod hook claude --gate 'Bash(git push *)|Bash(rm *)'","timeout":86400,"onFailure":"block"}]},` +
		`{"matcher":"Write","hooks":[{"type":"command","command":"/bin/nod hook claude","timeout":86400,"onFailure":"block"}]},` +
		`{"matcher":"Edit|MultiEdit|NotebookEdit|Write","hooks":[{"type":"command","command":"/bin/nod hook claude --gate 'Edit(src/**)'","timeout":86400,"onFailure":"block"}]}`
	const watch = `{"matcher":"*","hooks":[{"type":"command","command":"/bin/nod hook claude --watch","timeout":10}]}`
	const reports = `{"matcher":"*","hooks":[{"type":"command","command":"/bin/nod hook claude --watch --report","timeout":10}]}`
	for n, got := range []string{step(gates, false), step(nil, false), step(gates, false)} {
		if strings.Contains(got, `"Deploy"`) || strings.Count(got, gate) != 1 || strings.Count(got, watch) != 1 || strings.Count(got, reports) != 2 {
			t.Errorf("run %d: the file is %s", n, got)
		}
	}
	if got := step([]policy.Gate{}, false); strings.Contains(got, "onFailure") || !strings.Contains(got, watch) {
		t.Errorf("without gates, the file is %s", got)
	}
	if all, err := policy.ParseGates("Bash(git push *)|Bash"); err != nil || strings.Contains(step(all, false), "--gate") {
		t.Errorf("a gate for all calls, %v", err)
	}
	step(gates, false)
	if got := step(nil, true); strings.Contains(got, "nod") {
		t.Errorf("after the undo, the file is %s", got)
	}
}

// TestEnvironmentOfHooks checks that nod init replaces the hooks that a user gave
// an environment, keeps the environment, and removes them on request.
func TestEnvironmentOfHooks(t *testing.T) {
	t.Parallel()
	for command, before := range map[string]string{
		"nod hook claude": "", "'/opt/my tools/nod' hook claude --route prod": "",
		"NOD_URL=http://127.0.0.1:8090 nod hook claude":                      "NOD_URL=http://127.0.0.1:8090 ",
		"NOD_URL=http://127.0.0.1:8090 /usr/bin/nod hook claude --grace 10s": "NOD_URL=http://127.0.0.1:8090 ",
		"A='b c' NOD_TOKEN=\"$(cat ~/token)\" nod hook claude --route prod":  "A='b c' NOD_TOKEN=\"$(cat ~/token)\" ",
		"env NOD_ROUTE=prod \"$HOME/bin/nod\" hook claude --fail open":       "env NOD_ROUTE=prod ",
		"NOD_URL=http://127.0.0.1:8090 /usr/bin/nod-hook claude --watch":     "NOD_URL=http://127.0.0.1:8090 ", "nod-hook.exe claude": "",
		". ~/.nod.env && nod hook claude": ". ~/.nod.env && ", " cd /srv; A=b nod hook claude --route prod": "cd /srv; A=b ", "cat | nod-hook claude": "cat | ",
	} {
		path := filepath.Join(t.TempDir(), "settings.json")
		hooks := map[string]any{"Stop": []hookEntry{{"", []hookHandler{{Type: "command", Command: command}}}}}
		raw, err := json.Marshal(map[string]any{"hooks": hooks})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		first := initFile(t, "claude", Settings{Path: path})
		var file struct{ Hooks map[string][]hookEntry }
		if err := json.Unmarshal([]byte(first), &file); err != nil {
			t.Fatal(err)
		}
		for event, entries := range file.Hooks {
			var others, watch, wake int
			for _, e := range entries {
				switch line := e.Hooks[0].Command; {
				case line == before+"nod hook claude --watch" && event == "PreToolUse", line == before+"nod hook claude --watch --report":
					watch++
				case line == before+"nod hook claude --wake" && e.Hooks[0].Rewake:
					wake++
				case strings.HasPrefix(line, before+"nod hook claude"):
					others++
				}
			}
			wantOthers, wantWatch, wantWake := 1, 0, 0
			switch event {
			case "PreToolUse":
				wantOthers, wantWatch = 0, 1
			case "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop":
				wantOthers, wantWatch = 0, 1
			}
			switch event { // what wakes a session
			case "Stop", "Notification":
				wantWake = 1
			case "SessionStart":
				wantOthers, wantWake = 0, 1
			}
			if len(entries) != others+watch+wake || others != wantOthers || watch != wantWatch || wake != wantWake {
				t.Errorf("%s: %s has %+v", command, event, entries)
			}
		}
		if again := initFile(t, "claude", Settings{Path: path}); again != first {
			t.Errorf("%s: after the second run: %s", command, again)
		}
		if undone := initFile(t, "claude", Settings{Path: path, Undo: true}); strings.Contains(undone, "nod") {
			t.Errorf("%s: after the undo: %s", command, undone)
		}
	}
	for _, command := range []string{"./check.sh hook claude", "NOD=nod other hook claude", "echo 'nod hook claude'", "nod hook codex", "nod ' hook claude", "nod-hook codex", "hook claude", "nod claude", "nod-hooks claude", "echo nod-hook"} {
		if _, ours := parseHookLine(command, "claude"); ours {
			t.Errorf("%s: counts as nod's", command)
		}
	}
}

// TestTextAroundHooks checks that nod init keeps the text in front of the hook of
// every agent, and refuses to change a hook from which it would lose a part.
func TestTextAroundHooks(t *testing.T) {
	t.Parallel()
	for agent, event := range map[string]string{"claude": "Stop", "codex": "Stop", "copilot": "permissionRequest"} {
		for command, kept := range map[string]bool{
			"NOD_TOKEN=x nod hook " + agent: true, ". ~/.nod.env && nod hook " + agent: true,
			"if [ -x nod ]; then nod hook " + agent + "; fi": false, "(cd /srv && nod hook " + agent + ")": false,
			"command -v nod || exit 0; nod hook " + agent: false, "[ -n \"$CI\" ] || nod hook " + agent: false,
		} {
			path := filepath.Join(t.TempDir(), "settings.json")
			entry := fmt.Sprintf(`{"hooks":[{"type":"command","command":%q}]}`, command)
			if agent == "copilot" {
				entry = fmt.Sprintf(`{"type":"command","bash":%q}`, command)
			}
			was := fmt.Sprintf(`{"hooks":{%q:[%s]}}`, event, entry)
			if err := os.WriteFile(path, []byte(was), 0o600); err != nil {
				t.Fatal(err)
			}
			run := func(undo bool) (string, error) {
				s := Settings{Path: path, Program: "nod", Undo: undo, Out: io.Discard, Talk: io.Discard}
				f := HookOptions{Grace: 10 * time.Second}
				err := map[string]func(HookOptions) error{"claude": s.Claude, "codex": s.Codex, "copilot": s.Copilot}[agent](f)
				raw, read := os.ReadFile(path)
				if read != nil {
					t.Fatal(read)
				}
				return string(raw), err
			}
			got, err := run(false)
			if kept && (err != nil || strings.Count(got, strings.ReplaceAll(command, "&", `\u0026`)) != strings.Count(got, "nod hook")) {
				t.Errorf("%s becomes %s, %v", command, got, err)
			}
			if !kept && (bridge.ErrorCode(err) != bridge.CodeInvalid || got != was) {
				t.Errorf("%s becomes %s, %v", command, got, err)
			}
			if got, err := run(true); err != nil || strings.Contains(got, "nod hook") {
				t.Errorf("%s: after the undo: %s, %v", command, got, err)
			}
		}
	}
}

// TestTextsOfEvents checks that nod init keeps the text in front of the hooks of
// each event, uses it for events without one, and refuses two texts in one event.
func TestTextsOfEvents(t *testing.T) {
	gates, err := policy.ParseGates("Bash")
	if err != nil {
		t.Fatal(err)
	}
	t.Parallel()
	for _, c := range []struct{ notification, gate, watch, want string }{
		{"LOG=1 ", "NOD_TOKEN=x ", "", "NOD_TOKEN=x "}, {"LOG=1 ", "NOD_TOKEN=x ", "NOD_TOKEN=x ", "NOD_TOKEN=x "},
		{"LOG=1 ", "", "A=b ", "A=b "}, {"LOG=1 ", "", "", "LOG=1 "},
		{"LOG=1 ", "NOD_TOKEN=x ", "A=b ", ""}, {"LOG=1 ", "NOD_TOKEN=x ", "if true; then ", ""}, {"true || ", "NOD_TOKEN=x ", "", ""},
	} {
		closing := strings.Repeat("; fi", strings.Count(c.watch, "then"))
		was, err := json.Marshal(map[string]any{"hooks": map[string][]hookEntry{
			"Notification": {{"", []hookHandler{{Type: "command", Command: c.notification + "nod hook claude", Timeout: 9}}}},
			"PreToolUse": {
				{"Bash", []hookHandler{{Type: "command", Command: c.gate + "nod hook claude", OnFailure: "block", Timeout: 9}}},
				{"*", []hookHandler{{Type: "command", Command: c.watch + "nod hook claude --watch" + closing, Timeout: 9}}},
			},
		}})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "settings.json")
		if err := os.WriteFile(path, was, 0o600); err != nil {
			t.Fatal(err)
		}
		s := Settings{Path: path, Program: "nod", Out: io.Discard, Talk: io.Discard}
		failed := s.Claude(HookOptions{Gates: gates})
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if c.want == "" {
			if bridge.ErrorCode(failed) != bridge.CodeInvalid || string(got) != string(was) {
				t.Errorf("%+v: %v, %s", c, failed, got)
			}
			continue
		}
		var file struct{ Hooks map[string][]hookEntry }
		if err := json.Unmarshal(got, &file); err != nil || failed != nil {
			t.Fatalf("%+v: %v, %v", c, err, failed)
		}
		for event, before := range map[string]string{"Notification": c.notification, "PreToolUse": c.want, "Stop": "LOG=1 "} {
			for _, e := range file.Hooks[event] {
				if !strings.HasPrefix(e.Hooks[0].Command, before+"nod hook") {
					t.Errorf("%+v: %s has %s", c, event, e.Hooks[0].Command)
				}
			}
		}
	}
}

// initFile changes the settings of an agent and returns them.
func initFile(t *testing.T, agent string, s Settings) string {
	t.Helper()
	s.Program, s.Out, s.Talk = "nod", io.Discard, io.Discard
	f := HookOptions{Grace: 10 * time.Second}
	change := map[string]func() error{"claude": func() error { return s.Claude(f) }, "codex": func() error { return s.Codex(f) }, "mcp": func() error { return s.MCP("") }}[agent]
	if err := change(); err != nil {
		t.Fatal(err)
	}
	path := s.Path
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
