package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInit writes into files that are not there, that are there, and that are
// broken; it repeats itself, and undoes what it did.
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
	for agent, marks := range map[string][]string{
		"claude": {"PermissionRequest", "AskUserQuestion|ExitPlanMode", "Elicitation", "hook claude --grace 10s"},
		"codex":  {"PermissionRequest", "hook codex --grace 10s"},
		"mcp":    {"mcpServers", `"mcp"`},
	} {
		for name, was := range map[string]string{"new": "", "theirs": theirs, "odd": odd} {
			t.Run(agent+"/"+name, func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "deep", "settings.json")
				if was != "" {
					if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, []byte(was), 0o640); err != nil {
						t.Fatal(err)
					}
				}
				args := []string{"init", agent, "--file", path}
				if agent != "mcp" {
					args = append(args, "--grace", "10s")
				}
				first := initFile(t, path, args...)
				for _, m := range marks {
					if !strings.Contains(first, m) {
						t.Errorf("no %s in %s", m, first)
					}
				}
				if name != "odd" && !json.Valid([]byte(first)) {
					t.Errorf("no JSON: %s", first)
				}
				if name == "theirs" {
					for _, kept := range []string{"./check.sh hook claude", `"zeta": 1.50`, `"command": "other"`} {
						if !strings.Contains(first, kept) {
							t.Errorf("%s is gone: %s", kept, first)
						}
					}
				}
				if name == "odd" && !strings.Contains(first, "{ // mine") {
					t.Errorf("a comment is gone: %s", first)
				}
				if again := initFile(t, path, args...); again != first {
					t.Errorf("the second time it is %s", again)
				}
				undone := initFile(t, path, append(args, "--undo")...)
				want := was
				if name == "new" {
					want = "{}\n"
				}
				if name != "odd" && undone != want {
					t.Errorf("undone it is %q, want %q", undone, want)
				}
				if strings.Contains(undone, "nod") {
					t.Errorf("something is left: %s", undone)
				}
				if info, err := os.Stat(path); err != nil || name == "theirs" && info.Mode().Perm() != 0o640 {
					t.Errorf("mode %v, %v", info.Mode(), err)
				}
			})
		}
	}
	for _, broken := range []string{"{", "[]", `{"hooks": 7}`} {
		path := filepath.Join(t.TempDir(), "settings.json")
		if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		if code := run([]string{"init", "claude", "--file", path}, nil, &out, &errs); code != 2 || !strings.Contains(errs.String(), "nothing was changed") {
			t.Errorf("%s: exit %d, %s", broken, code, errs.String())
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != broken {
			t.Errorf("%s was changed to %s, %v", broken, now, err)
		}
	}
	var out, errs bytes.Buffer
	if code := run([]string{"init", "claude", "--print", "--file", filepath.Join(t.TempDir(), "x.json")}, nil, &out, &errs); code != 0 || !json.Valid(out.Bytes()) {
		t.Errorf("exit %d, %s%s", code, out.String(), errs.String())
	}
}

func initFile(t *testing.T, path string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(args, nil, &out, &errs); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
