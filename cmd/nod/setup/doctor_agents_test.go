package setup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/programs"
)

// TestDoctorGates checks what the doctor says about the gates in the settings
// of agents, for versions that know onFailure and versions that do not.
func TestDoctorGates(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("HOME", dir)
	t.Setenv("CODEX_HOME", filepath.Join(dir, "codex"))
	bin := filepath.Join(dir, "bin")
	t.Setenv("PATH", bin)
	nod := filepath.Join(bin, "nod")
	write := func(path, text string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	programs.Write(t, nod, "#!/bin/sh\n")
	entry := func(rest string) string {
		return `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"` + nod + ` hook claude"` + rest + `}]}]}}`
	}
	const blocking = `,"timeout":86400,"onFailure":"block"`
	for name, c := range map[string]struct {
		version, settings string
		want              bridge.FindingStatus
		word              string
	}{
		"closed":         {"2.1.330 (Claude Code)", entry(blocking), bridge.FindingOK, "fails closed in Claude Code 2.1.330"},
		"first version":  {"2.1.295", entry(blocking), bridge.FindingOK, "fails closed"},
		"older":          {"2.1.294", entry(blocking), bridge.FindingFailed, "fails open in Claude Code 2.1.294"},
		"much older":     {"1.9.999", entry(blocking), bridge.FindingFailed, "fails open"},
		"no onFailure":   {"2.1.330", entry(""), bridge.FindingFailed, "fails open: the tool runs"},
		"asynchronous":   {"2.1.330", entry(blocking + `,"async":true`), bridge.FindingFailed, "fails open: the tool runs"},
		"rewakes":        {"2.1.330", entry(blocking + `,"asyncRewake":true`), bridge.FindingFailed, "fails open: the tool runs"},
		"or true":        {"2.1.330", strings.Replace(entry(blocking), "hook claude", "hook claude || true", 1), bridge.FindingFailed, "can succeed although nod fails"},
		"or exit 2":      {"2.1.330", strings.Replace(entry(blocking), "hook claude", "hook claude || exit 2", 1), bridge.FindingOK, "fails closed"},
		"fail open":      {"2.1.330", strings.Replace(entry(blocking), "hook claude", "hook claude --fail open", 1), bridge.FindingFailed, "daemon is unreachable"},
		"fail=open":      {"2.1.330", strings.Replace(entry(blocking), "hook claude", "hook claude --fail=open", 1), bridge.FindingFailed, "daemon is unreachable"},
		"fail quoted":    {"2.1.330", strings.Replace(entry(blocking), "hook claude", "hook claude --fail 'open'", 1), bridge.FindingFailed, "daemon is unreachable"},
		"no program":     {"2.1.330", strings.Replace(entry(blocking), nod, "/nowhere/nod", 1), bridge.FindingFailed, "does not exist"},
		"no claude":      {"", entry(blocking), bridge.FindingWarning, "version is unknown"},
		"disabled":       {"2.1.330", strings.Replace(entry(blocking), "{", `{"disableAllHooks":true,`, 1), bridge.FindingFailed, "disables all hooks"},
		"no gate":        {"2.1.330", strings.Replace(entry(""), "PreToolUse", "Stop", 1), bridge.FindingOK, "no gates"},
		"broken":         {"2.1.330", "{", bridge.FindingWarning, "not valid JSON"},
		"on permissions": {"2.1.330", strings.Replace(entry(blocking), "PreToolUse", "PermissionRequest", 1), bridge.FindingWarning, "before the person at the keyboard"},
	} {
		t.Run(name, func(t *testing.T) {
			programs.Write(t, filepath.Join(bin, "claude"), "#!/bin/sh\necho '"+c.version+"'\n")
			write(filepath.Join(dir, ".claude", "settings.json"), c.settings)
			d := Doctor{}
			d.examineAgents(context.Background())
			found := false
			for _, f := range d.Findings {
				found = found || f.Status == c.want && strings.Contains(f.Detail, c.word)
			}
			if !found {
				t.Errorf("findings: %+v", d.Findings)
			}
		})
	}
	programs.Write(t, filepath.Join(bin, "claude"), "#!/bin/sh\necho 2.1.330\n")
	write(filepath.Join(dir, ".claude", "settings.json"), entry(blocking))
	for local, want := range map[string]bridge.FindingStatus{
		`{"disableAllHooks":true}`: bridge.FindingFailed, `{"disableAllHooks":false}`: bridge.FindingOK, `{`: bridge.FindingWarning,
	} {
		write(filepath.Join(dir, ".claude", "settings.local.json"), local)
		d := Doctor{}
		d.examineAgents(context.Background())
		if !slices.ContainsFunc(d.Findings, func(f bridge.Finding) bool { return f.Status == want }) {
			t.Errorf("next to %s: %+v", local, d.Findings)
		}
	}
	const hooks = `{"hooks":{"PostToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"nod hook claude --watch"}]}]%s}}`
	const wake = `:[{"hooks":[{"type":"command","command":"nod hook claude --wake","asyncRewake":true}]}]`
	const stop = `,"Stop"` + wake + `,"SessionStart"` + wake + `,"Notification"` + wake
	for more, warns := range map[string]bool{"": true, stop: false} {
		write(filepath.Join(dir, ".claude", "settings.local.json"), fmt.Sprintf(hooks, more))
		d := Doctor{}
		d.examineAgents(context.Background())
		if warns != slices.ContainsFunc(d.Findings, func(f bridge.Finding) bool { return strings.Contains(f.Detail, "wakes an idle session") }) {
			t.Errorf("with %q: %+v", more, d.Findings)
		}
	}
	for version, warns := range map[string]bool{"0.9.0": true, "1.0.0": false} {
		programs.Write(t, filepath.Join(bin, "nod"), "#!/bin/sh\necho nod 1.0.0\n")
		programs.Write(t, filepath.Join(bin, "nod-hook"), "#!/bin/sh\necho nod-hook "+version+"\n")
		d := Doctor{}
		d.examineAgents(context.Background())
		if warns != slices.ContainsFunc(d.Findings, func(f bridge.Finding) bool { return strings.Contains(f.Detail, "is not the same version") }) {
			t.Errorf("with nod-hook %s: %+v", version, d.Findings)
		}
	}
	programs.Write(t, filepath.Join(bin, "nod-hook"), "#!/bin/sh\necho nod-hook 1.0.0\n")
	write(filepath.Join(dir, ".claude", "settings.local.json"), "{}")
	write(filepath.Join(dir, ".claude", "settings.json"), "{}")
	for event, want := range map[string]bridge.FindingStatus{"PreToolUse": bridge.FindingFailed, "PermissionRequest": bridge.FindingOK} {
		write(filepath.Join(dir, "codex", "hooks.json"), `{"hooks":{"`+event+`":[{"matcher":"*","hooks":[{"type":"command","command":"nod hook codex"}]}]}}`)
		d := Doctor{}
		d.examineAgents(context.Background())
		d.Findings = slices.DeleteFunc(d.Findings, func(f bridge.Finding) bool { return strings.HasSuffix(f.Check, ".level") })
		if len(d.Findings) != 1 || d.Findings[0].Status != want {
			t.Errorf("Codex with %s: %+v", event, d.Findings)
		}
	}
}
