package setup

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"github.com/nodbridge/nod/bridge"
)

// blocksSince is the first version of Claude Code that knows onFailure. Earlier
// versions run the tool if the hook of a gate fails.
var blocksSince = [3]int{2, 1, 295}

// agentHooks are the settings of an agent that concern hooks.
type agentHooks struct {
	Disabled *bool                        `json:"disableAllHooks"`
	Hooks    map[string][]json.RawMessage `json:"hooks"`
}

// examineAgents checks the settings of the coding agents on this machine: which
// gates hold if nod fails.
func (d *Doctor) examineAgents(ctx context.Context) {
	home, err := os.UserHomeDir()
	if err != nil {
		return // no settings to check
	}
	d.examineSettings(ctx, []string{
		filepath.Join(home, ".claude", "settings.json"), filepath.Join(".claude", "settings.json"), filepath.Join(".claude", "settings.local.json"),
	})
	codex := cmp.Or(os.Getenv("CODEX_HOME"), filepath.Join(home, ".codex"))
	if h := d.readHooks("agent.codex", filepath.Join(codex, "hooks.json")); h.ours("codex") {
		d.examineCodex(filepath.Join(codex, "hooks.json"), h)
	}
}

// examineSettings checks the settings files of Claude Code. For a setting that
// is not a list, a later file overrides an earlier one.
func (d *Doctor) examineSettings(ctx context.Context, paths []string) {
	all := map[string]agentHooks{}
	disabled := ""
	for _, path := range paths {
		h := d.readHooks("agent.claude", path)
		if h.ours("claude") {
			all[path] = h
		}
		if h.Disabled != nil {
			disabled = map[bool]string{true: path}[*h.Disabled]
		}
	}
	if len(all) == 0 {
		return
	}
	if disabled != "" {
		d.add("agent.claude", bridge.FindingFailed, disabled+" disables all hooks, so nothing is gated", "remove disableAllHooks")
		return
	}
	version := cmp.Or(versionOf(ctx, "claude"), "unknown")
	for _, path := range paths {
		if h, ok := all[path]; ok {
			d.examineClaude(path, h, version)
		}
	}
}

// readHooks reads the hooks of a settings file. There are none if the file does
// not exist or cannot be read.
func (d *Doctor) readHooks(check, path string) agentHooks {
	var h agentHooks
	raw, err := os.ReadFile(path)
	if err != nil {
		return h
	}
	plain, err := hujson.Standardize(raw)
	if err == nil {
		err = json.Unmarshal(plain, &h)
	}
	if err != nil {
		d.add(check, bridge.FindingWarning, path+" is not valid JSON, so the agent may ignore its hooks", "correct the file")
		return agentHooks{}
	}
	return h
}

// ours reports whether any hook belongs to nod.
func (h agentHooks) ours(agent string) bool {
	for _, entries := range h.Hooks {
		for _, e := range entries {
			if ours, _ := isOurs(e, agent); ours {
				return true
			}
		}
	}
	return false
}

// examineClaude checks the gates in a settings file of Claude Code.
func (d *Doctor) examineClaude(path string, h agentHooks, version string) {
	gates := 0
	for _, raw := range h.Hooks["PreToolUse"] {
		if ours, gate := isOurs(raw, "claude"); !ours || !gate {
			continue
		}
		var e hookEntry
		_ = json.Unmarshal(raw, &e) // isOurs has read it
		gates++
		d.examineGate(path, e.Hooks[0], cmp.Or(e.Hooks[0].If, e.Matcher, "*"), version)
	}
	if gates == 0 {
		d.add("agent.claude", bridge.FindingOK, path+" has no gates: Claude Code decides which calls need a person", "")
	}
	if !slices.ContainsFunc(h.Hooks["PostToolUse"], watches) {
		d.add("agent.claude", bridge.FindingWarning, path+" has no hook for messages: what people write to a session does not reach Claude Code",
			"run nod init claude again")
	}
	for _, raw := range h.Hooks["PermissionRequest"] {
		var e hookEntry
		if ours, _ := isOurs(raw, "claude"); ours && json.Unmarshal(raw, &e) == nil && e.Hooks[0].OnFailure != "" {
			d.add("agent.claude", bridge.FindingWarning, path+" sets onFailure on PermissionRequest, which denies before the person at the keyboard can answer", "run nod init claude again")
		}
	}
}

// failsOpen finds the flag with which a hook lets a tool run.
var failsOpen = regexp.MustCompile(`--fail[ =]+["']?open`)

// examineGate reports whether a gate holds if nod fails.
func (d *Doctor) examineGate(path string, h hookHandler, name, version string) {
	const check = "agent.claude.gate"
	detail := name + " in " + path
	switch {
	case h.OnFailure != "block" || h.Async:
		d.add(check, bridge.FindingFailed, detail+" fails open: the tool runs if nod is missing, crashes or takes too long", "run: nod init claude --gate '"+name+"'")
	case olderThan(version, blocksSince):
		d.add(check, bridge.FindingFailed, detail+" fails open in Claude Code "+version, "update Claude Code to 2.1.295 or later")
	case failsOpen.MatchString(h.Command):
		d.add(check, bridge.FindingFailed, detail+" fails open if the daemon is unreachable", "remove --fail open, or run nod init claude again")
	case !runnable(h.Command):
		d.add(check, bridge.FindingFailed, detail+" blocks every call, because its program does not exist: "+h.Command, "run nod init claude again")
	case version == "unknown":
		d.add(check, bridge.FindingWarning, detail+" fails closed if Claude Code is 2.1.295 or later; its version is unknown", "put claude on the PATH of nod doctor")
	default:
		d.add(check, bridge.FindingOK, detail+" fails closed in Claude Code "+version, "")
	}
}

// examineCodex checks the hooks of Codex.
func (d *Doctor) examineCodex(path string, h agentHooks) {
	for _, raw := range h.Hooks["PreToolUse"] {
		if ours, _ := isOurs(raw, "codex"); ours {
			d.add("agent.codex.gate", bridge.FindingFailed, "PreToolUse in "+path+" fails open: Codex runs the tool if the hook is missing, crashes or takes too long",
				"rely on Codex's own approvals and its sandbox, or run the tool with: nod run")
			return
		}
	}
	d.add("agent.codex", bridge.FindingOK, path+" asks in chat when Codex asks; if nod fails, Codex asks at its terminal", "")
}

// versionNumber finds a version in what a program prints.
var versionNumber = regexp.MustCompile(`\d+\.\d+\.\d+`)

// versionOf returns the version of an agent's program, or "".
func versionOf(ctx context.Context, program string) string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return ""
	}
	return versionNumber.FindString(string(out))
}

// olderThan reports whether a version is older. An unknown version is not.
func olderThan(version string, than [3]int) bool {
	parts := strings.Split(version, ".")
	if len(parts) != len(than) {
		return false
	}
	for n, p := range parts {
		v, err := strconv.Atoi(p)
		if err != nil || v != than[n] {
			return err == nil && v < than[n]
		}
	}
	return false
}

// runnable reports whether the program of a hook's command exists.
func runnable(command string) bool {
	program, _, _ := strings.Cut(command, " hook ")
	_, err := exec.LookPath(strings.Trim(program, "'"))
	return err == nil
}
