package setup

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// askTime limits how long nod waits for a program to report on its settings.
const askTime = 10 * time.Second

// invalidSetting matches a line of claude doctor about a settings file: its
// path, the member, and the problem.
var invalidSetting = lazyregexp.New(`^- (/.+?\.json)(?: › ([^:]+))?: (.+)$`)

// askClaude returns the problems that Claude Code itself finds in its settings.
func askClaude(ctx context.Context, _ machine, a agent) []complaint {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, a.programs[0], "doctor")
	cmd.Env = append(os.Environ(), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1")
	raw, err := cmd.Output()
	if err != nil {
		return nil // an older version has no such command
	}
	var out []complaint
	for line := range strings.Lines(string(raw)) {
		m := invalidSetting.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		text := m[3]
		if m[2] != "" {
			text = m[2] + ": " + text
		}
		rules := strings.HasPrefix(m[2], "permissions.") && m[2] != "permissions.defaultMode"
		out = append(out, complaint{m[1], text, !rules && !strings.HasSuffix(text, "ignored.")})
	}
	return out
}

// listedHook is a hook as Codex lists it.
type listedHook struct {
	Path    string `json:"sourcePath"`
	Command string `json:"command"`
	Event   string `json:"eventName"`
	Enabled bool   `json:"enabled"`
	Trust   string `json:"trustStatus"`
}

// askCodex returns the reasons why Codex does not run nod's hooks: Codex does
// not read their file, or no one has trusted them.
func askCodex(ctx context.Context, m machine, a agent) []complaint {
	hooks, warnings, err := codexList(ctx, a.programs[0])
	if err != nil {
		return nil // this version cannot list its hooks
	}
	project := filepath.Join(".codex", "hooks.json")
	var out []complaint
	for _, path := range []string{m.codexHooks(), project} {
		if !runsNod(path) {
			continue
		}
		listed := false
		for _, h := range hooks {
			if !samePath(h.Path, path) {
				continue
			}
			if _, ours := parseHookLine(h.Command, a.name); !ours {
				continue
			}
			listed = true
			switch {
			case !h.Enabled:
				out = append(out, complaint{path, "its hook for " + h.Event + " is disabled in Codex", true})
			case h.Trust != "trusted" && h.Trust != "managed":
				out = append(out, complaint{path, "its hook for " + h.Event + " does not run, because it is " + h.Trust + ": start codex in a terminal, and trust nod's hooks", true})
			}
		}
		if listed {
			continue
		}
		why := "Codex does not read it in this directory"
		if path != project {
			why = "Codex does not load its hooks"
		}
		for _, w := range warnings {
			if abs, err := filepath.Abs(path); err == nil && strings.Contains(w, abs) {
				why = w
			}
		}
		out = append(out, complaint{path, why, true})
	}
	return out
}

// codexList asks Codex for its hooks in this directory, and for the problems
// with their files.
func codexList(ctx context.Context, program string) (hooks []listedHook, warnings []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	dir, err := os.Getwd()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, program, "app-server")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	defer func() {
		_ = in.Close()
		cancel()
		_ = cmd.Wait() // the process was killed
	}()
	for _, m := range []any{
		map[string]any{"id": 1, "method": "initialize", "params": map[string]any{
			"clientInfo":   map[string]string{"name": "nod_doctor", "title": "nod", "version": "1"},
			"capabilities": map[string]bool{"experimentalApi": true},
		}},
		map[string]any{"method": "initialized"},
		map[string]any{"id": 2, "method": "hooks/list", "params": map[string]any{"cwds": []string{dir}}},
	} {
		if err := json.NewEncoder(in).Encode(m); err != nil {
			return nil, nil, err
		}
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxSettings)
	for lines.Scan() {
		var m struct {
			ID     int `json:"id"`
			Result struct {
				Data []struct {
					Hooks    []listedHook `json:"hooks"`
					Warnings []string     `json:"warnings"`
				} `json:"data"`
			} `json:"result"`
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID != 2 {
			continue
		}
		for _, d := range m.Result.Data {
			hooks, warnings = append(hooks, d.Hooks...), append(warnings, d.Warnings...)
		}
		if len(m.Result.Data) > 0 {
			return hooks, warnings, nil
		}
		break
	}
	return nil, nil, fmt.Errorf("%s app-server lists no hooks", program)
}

// samePath reports whether two paths lead to the same file.
func samePath(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
