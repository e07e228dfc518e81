package setup

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect/copilot"
)

// copilotHook is a hook in the format of Copilot CLI.
type copilotHook struct {
	Type       string `json:"type"`
	Bash       string `json:"bash,omitempty"`
	PowerShell string `json:"powershell,omitempty"`
	Timeout    int    `json:"timeoutSec"`
}

// Copilot adds nod's hook to a file with hooks of Copilot CLI, or removes it. A
// grace period has no effect there, because Copilot waits for the hook.
func (s *Settings) Copilot(f HookOptions) error {
	f.Grace = 0
	ask, _ := s.hookCommands("copilot", f)
	hook := copilotHook{Type: "command", Timeout: hookTime}
	if hook.Bash = ask; runtime.GOOS == "windows" {
		hook.Bash, hook.PowerShell = "", "& "+ask
	}
	s.agent = "copilot"
	return s.change(func(doc *hujson.Value) error {
		was, err := s.hooks(doc)
		if err != nil {
			return err
		}
		var commands []string
		for _, raw := range was[copilot.PermissionRequest] {
			commands = append(commands, copilotCommands(raw)...)
		}
		before, err := s.beforeProgram(commands, "copilot")
		if err != nil {
			return err
		}
		var want []any
		if !s.Undo {
			if hook.Bash != "" {
				hook.Bash = before + ask
			}
			want = []any{hook}
		}
		kept := func(raw json.RawMessage) bool { return !isCopilotHook(raw) }
		if err := replaceHooks(doc, copilot.PermissionRequest, was[copilot.PermissionRequest], kept, want); err != nil {
			return err
		}
		if s.Undo || doc.Find("/version") != nil {
			return nil
		}
		return doc.Patch([]byte(`[{"op":"add","path":"/version","value":1}]`))
	})
}

// isCopilotHook reports whether a hook runs nod hook copilot.
func isCopilotHook(raw json.RawMessage) bool {
	return slices.ContainsFunc(copilotCommands(raw), func(command string) bool {
		_, ours := parseHookLine(command, "copilot")
		return ours
	})
}

// copilotCommands returns the command lines of a hook.
func copilotCommands(raw json.RawMessage) []string {
	var h struct {
		Command    string `json:"command"`
		Bash       string `json:"bash"`
		PowerShell string `json:"powershell"`
	}
	if decode(raw, &h) != nil {
		return nil
	}
	return []string{h.Command, h.Bash, strings.TrimPrefix(h.PowerShell, "& ")}
}

// surveyCopilot reads the hooks and the servers of Copilot CLI.
func surveyCopilot(ctx context.Context, m machine, a agent) surveyed {
	s := a.newSurvey(ctx)
	s.surveyServers(m.copilotServers(), a.server)
	own, _ := filepath.Glob(filepath.Join(m.copilot(), "hooks", "*.json"))
	shared, _ := filepath.Glob(filepath.Join(".github", "hooks", "*.json"))
	asks, others := 0, 0
	for _, path := range append(append(own, filepath.Join(m.copilot(), "settings.json")), shared...) {
		var file struct {
			Hooks map[string][]json.RawMessage `json:"hooks"`
		}
		if !s.readSettings(path, &file) {
			continue
		}
		for event, hooks := range file.Hooks {
			for _, raw := range hooks {
				var h hookCommand
				switch {
				case event == copilot.PermissionRequest && isCopilotHook(raw):
					s.ours = true
					if slices.Contains(shared, path) && !m.copilotTrusts() {
						s.add("", bridge.FindingFailed, path+" has a nod hook, but Copilot CLI does not read it: this folder is not trusted",
							"start copilot here and trust the folder, or run: nod init copilot")
						continue
					}
					asks++
				case decode(raw, &h) == nil && h.ours():
					others++
				}
			}
		}
	}
	if others > 0 {
		s.ours, s.Level = true, LevelOpen
		s.add("gate", bridge.FindingFailed, "a Copilot CLI hook that runs nod fails open: Copilot runs the tool if the hook takes too long",
			"remove it, and run: nod init copilot")
		return s
	}
	if asks > 0 {
		s.Level = LevelPartly
		s.reason("rules of nod's policy decide about its calls; if nod takes too long or its daemon is unreachable, Copilot decides on its own")
		return s
	}
	s.reason("its settings have no nod hook")
	s.Fix = "run: nod init copilot"
	return s
}

// copilotTrusts reports whether Copilot CLI reads the hooks of this directory.
func (m machine) copilotTrusts() bool {
	dir, err := os.Getwd()
	if err != nil {
		return false
	}
	for _, name := range []string{"config.json", "settings.json"} {
		raw, err := ReadFile(filepath.Join(m.copilot(), name))
		if err != nil {
			continue
		}
		v, _ := lenient(raw)
		settings, _ := v.(map[string]any)
		for _, member := range []string{"trusted_folders", "trustedFolders"} {
			folders, _ := settings[member].([]any)
			if slices.ContainsFunc(folders, func(f any) bool { path, ok := f.(string); return ok && (path == dir || samePath(path, dir)) }) {
				return true
			}
		}
	}
	return false
}
