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

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// blocksSince is the first version of Claude Code that supports onFailure.
// Earlier versions run the tool if the hook of a gate fails.
var blocksSince = [3]int{2, 1, 295}

// agentHooks are the settings of an agent that concern hooks.
type agentHooks struct {
	Disabled    *bool                        `json:"disableAllHooks"`
	OnlyManaged bool                         `json:"allowManagedHooksOnly"`
	Hooks       map[string][]json.RawMessage `json:"hooks"`
	Permissions struct {
		Mode string `json:"defaultMode"`
	} `json:"permissions"`
}

// ours returns the entries of an event that belong to nod.
func (h agentHooks) ours(agent, event string) []hookEntry {
	var out []hookEntry
	for _, raw := range h.Hooks[event] {
		var e hookEntry
		if ours, _ := isOurs(raw, agent); ours && decode(raw, &e) == nil {
			out = append(out, e)
		}
	}
	return out
}

// wakes reports whether the hooks wake an idle session, no matter how its turn
// ended.
func (h agentHooks) wakes() bool {
	for event := range wakeEvents {
		if !slices.ContainsFunc(h.Hooks[event], wakes) {
			return false
		}
	}
	return true
}

// any reports whether any hook belongs to nod.
func (h agentHooks) any(agent string) bool {
	for event := range h.Hooks {
		if len(h.ours(agent, event)) > 0 {
			return true
		}
	}
	return false
}

// claudeSurvey collects facts from all settings files of Claude Code.
type claudeSurvey struct {
	surveyed
	closed []hookEntry // gates that fail closed
	open   bool        // a gate fails open
	asks   bool        // permission prompts appear in chat
	mode   string      // default permission mode
}

// surveyClaude reads the settings files of Claude Code. If a setting is not a
// list, a later file overrides an earlier one.
func surveyClaude(ctx context.Context, m machine, a agent) surveyed {
	s := claudeSurvey{surveyed: a.newSurvey(ctx)}
	for _, path := range []string{m.claudeServers(), ".mcp.json"} { // of these files, only the MCP servers matter
		s.readSettings(path, new(any))
	}
	paths := m.claudeFiles()
	all := map[string]agentHooks{}
	disabled := ""
	for _, path := range paths {
		var h agentHooks
		if !s.readSettings(path, &h) {
			continue
		}
		if h.any("claude") {
			all[path] = h
		}
		if h.Disabled != nil {
			disabled = map[bool]string{true: path}[*h.Disabled]
		}
		s.mode = cmp.Or(h.Permissions.Mode, s.mode)
		if h.OnlyManaged && path == m.claudeManaged() {
			for other := range all {
				if other != path {
					delete(all, other)
					s.reason(path + " allows only its own hooks, so those in " + other + " do not run")
				}
			}
		}
	}
	s.ours = s.ours || len(all) > 0
	switch {
	case !s.ours:
		s.reason("its settings have no nod hook")
		s.Fix = "run: nod init claude --user"
		return s.surveyed
	case len(all) == 0: // Claude Code ignores the files with nod's hooks
		return s.surveyed
	case disabled != "":
		s.add("", bridge.FindingFailed, disabled+" disables all hooks, so nothing is gated", "remove disableAllHooks")
		return s.surveyed
	}
	for _, path := range paths {
		if h, ok := all[path]; ok {
			s.file(path, h)
		}
	}
	s.conclude()
	return s.surveyed
}

// claudeFiles returns the settings files of Claude Code for this directory, in
// ascending precedence.
func (m machine) claudeFiles() []string {
	paths := []string{m.claudeSettings()}
	if dir, err := os.Getwd(); err != nil || dir != m.home {
		paths = append(paths, filepath.Join(".claude", "settings.json"))
	}
	return append(paths, localSettings, m.claudeManaged())
}

// file checks the hooks in a settings file.
func (s *claudeSurvey) file(path string, h agentHooks) {
	gates := 0
	for _, raw := range h.Hooks["PreToolUse"] {
		if ours, gate := isOurs(raw, "claude"); !ours || !gate {
			continue
		}
		var e hookEntry
		_ = decode(raw, &e) // isOurs has decoded it before
		gates++
		s.gate(path, e)
	}
	if gates == 0 {
		s.add("", bridge.FindingOK, path+" has no gates: Claude Code decides which calls need a person", "")
	}
	if !slices.ContainsFunc(h.Hooks["PostToolUse"], watches) {
		s.add("", bridge.FindingWarning, path+" has no hook for messages: messages from people to a session do not reach Claude Code", "run nod init claude again")
	}
	if slices.ContainsFunc(h.Hooks["PostToolUse"], watches) && !h.wakes() {
		s.add("", bridge.FindingWarning, path+" lacks a hook that wakes an idle session: a message may wait for the next prompt", "run nod init claude again")
	}
	for _, e := range h.ours("claude", "PermissionRequest") {
		s.asks = s.asks || runnable(e.Hooks[0].Command, "claude")
		if e.Hooks[0].OnFailure != "" {
			s.add("", bridge.FindingWarning, path+" sets onFailure on PermissionRequest, which denies before the person at the keyboard can answer", "run nod init claude again")
		}
	}
}

// failsOpen matches the flag with which a failed hook lets a tool run.
var failsOpen = lazyregexp.New(`--fail[ =]+["']?open`)

// gate checks whether a gate still blocks if nod fails.
func (s *claudeSurvey) gate(path string, e hookEntry) {
	const check = "gate"
	h := e.Hooks[0]
	line, _ := parseHookLine(h.Command, "claude")
	name := cmp.Or(h.If, gatesOf(h.Command), e.Matcher, "*")
	detail := name + " in " + path
	opens := func(why, fix string) {
		s.open = true
		s.add(check, bridge.FindingFailed, detail+" fails open"+why, fix)
	}
	if h.If != "" {
		s.add(check, bridge.FindingWarning, detail+" selects only one spelling of a call, because Claude Code evaluates the rule instead of nod", "run nod init claude again")
	}
	switch {
	case h.OnFailure != "block" || h.Async || h.Rewake:
		opens(": the tool runs if nod is missing, crashes or takes too long", "run: nod init claude --gate '"+name+"'")
	case olderThan(s.Version, blocksSince):
		opens(" in Claude Code "+s.Version, "update Claude Code to 2.1.295 or later")
	case !line.decides:
		opens(": its command can succeed although nod fails or denies", "remove that hook, then run: nod init claude --gate '"+name+"'")
	case failsOpen.MatchString(h.Command):
		opens(" if the daemon is unreachable", "remove --fail open, or run nod init claude again")
	case !runnable(h.Command, "claude"):
		s.closed = append(s.closed, e)
		s.add(check, bridge.FindingFailed, detail+" blocks every call, because its program does not exist: "+h.Command, "run nod init claude again")
	case s.Version == "":
		s.add(check, bridge.FindingWarning, detail+" fails closed if Claude Code is 2.1.295 or later; its version is unknown", "put claude on the PATH of nod doctor")
	default:
		s.closed = append(s.closed, e)
		s.add(check, bridge.FindingOK, detail+" fails closed in Claude Code "+s.Version, "")
	}
}

// actingTools lists the tools of Claude Code that change something or send data
// to others, and a tool of an MCP server as an example.
var actingTools = []string{"Bash", "Edit", "MultiEdit", "Write", "NotebookEdit", "WebFetch", "mcp__server__tool"}

// conclude sets the level.
func (s *claudeSurvey) conclude() {
	ungated := slices.DeleteFunc(slices.Clone(actingTools), func(tool string) bool {
		return slices.ContainsFunc(s.closed, func(e hookEntry) bool {
			return e.Hooks[0].If == "" && gatesOf(e.Hooks[0].Command) == "" && matches(e.Matcher, tool)
		})
	})
	switch {
	case s.open:
		s.Level = LevelOpen
	case len(ungated) == 0:
		s.Level = LevelGated
	case len(s.closed) > 0 || s.asks:
		s.Level = LevelPartly
		if len(ungated) == len(actingTools) {
			ungated = []string{"any tool that changes something"}
		}
		s.reason("no gate covers every call of " + strings.Join(ungated, ", "))
		s.Fix = cmp.Or(s.Fix, "run: nod init claude --gate '*', or name more tools")
	default:
		s.reason("the hook for permission prompts is missing, or its program does not exist")
		s.Fix = "run nod init claude again"
	}
	if s.Level != LevelGated && slices.Contains([]string{"auto", "dontAsk", "bypassPermissions"}, s.mode) {
		s.reason("sessions start in the mode " + s.mode + ", in which Claude Code asks no one about most calls")
	}
}

// matches reports whether a matcher of Claude Code selects a tool: all, an
// exact name, a list, or a regular expression.
func matches(matcher, tool string) bool {
	if matcher == "" || matcher == "*" {
		return true
	}
	re, err := regexp.Compile("^(?:" + matcher + ")$")
	return err == nil && re.MatchString(tool)
}

// olderThan reports whether a version is older than another. It returns false
// for an unknown version.
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
func runnable(command, agent string) bool {
	line, _ := parseHookLine(command, agent)
	_, err := exec.LookPath(line.program)
	return err == nil
}
