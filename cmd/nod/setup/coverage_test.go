package setup

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge/policy"
)

// TestSurvey checks the level of each agent for settings of each kind.
func TestSurvey(t *testing.T) {
	const blocking = `,"timeout":86400,"onFailure":"block"`
	claude := func(event, matcher, rest string) string {
		return `"` + event + `":[{"matcher":"` + matcher + `","hooks":[{"type":"command","command":"NOD hook claude"` + rest + `}]}]`
	}
	prompts := claude("PermissionRequest", "*", "")
	for name, c := range map[string]struct {
		agent, path, settings string
		want                  Level
		word                  string
	}{
		"claude nothing":  {"claude", ".claude/settings.json", `{}`, LevelNone, "no nod hook"},
		"claude prompts":  {"claude", ".claude/settings.json", `{"hooks":{` + prompts + `}}`, LevelPartly, "no gate covers"},
		"claude auto":     {"claude", ".claude/settings.json", `{"permissions":{"defaultMode":"auto"},"hooks":{` + prompts + `}}`, LevelPartly, "mode auto"},
		"claude all":      {"claude", ".claude/settings.json", `{"hooks":{` + prompts + `,` + claude("PreToolUse", "*", blocking) + `}}`, LevelGated, "fails closed"},
		"claude list":     {"claude", ".claude/settings.json", `{"hooks":{` + claude("PreToolUse", "Bash|(Multi)?Edit|Write|Web.*|Note.*|mcp__.*", blocking) + `}}`, LevelGated, "fails closed"},
		"claude one tool": {"claude", ".claude/settings.json", `{"hooks":{` + claude("PreToolUse", "Write", blocking) + `}}`, LevelPartly, "of Bash, Edit, MultiEdit, NotebookEdit"},
		"codex never":     {"codex", ".codex/config.toml", "model = 'x'\napproval_policy = \"never\"\n[a]\n", LevelNone, "asks no one"},
		"codex profile":   {"codex", ".codex/config.toml", "[profiles.x]\napproval_policy = \"never\"\n", LevelNone, "no nod hook"},
		"claude rule":     {"claude", ".claude/settings.json", `{"hooks":{` + claude("PreToolUse", "*", blocking+`,"if":"Bash(git push *)"`) + `}}`, LevelPartly, "selects only one spelling"},
		"claude gate":     {"claude", ".claude/settings.json", `{"hooks":{` + strings.ReplaceAll(claude("PreToolUse", "*", blocking), "hook claude", "hook claude --gate 'Bash(git push *)'") + `}}`, LevelPartly, "Bash(git push *) in"},
		"claude open":     {"claude", ".claude/settings.json", `{"hooks":{` + claude("PreToolUse", "*", "") + `}}`, LevelOpen, "fails open"},
		"claude no nod":   {"claude", ".claude/settings.json", strings.ReplaceAll(`{"hooks":{`+prompts+`}}`, "NOD", "/nowhere/nod"), LevelNone, "does not exist"},
		"claude disabled": {"claude", ".claude/settings.json", `{"disableAllHooks":true,"hooks":{` + claude("PreToolUse", "*", blocking) + `}}`, LevelNone, "disables all hooks"},
		"codex nothing":   {"codex", ".codex/hooks.json", `{}`, LevelNone, "only while it runs"},
		"codex prompts":   {"codex", ".codex/hooks.json", `{"hooks":{"PermissionRequest":[{"matcher":"*","hooks":[{"type":"command","command":"NOD hook codex"}]}]}}`, LevelPartly, "at its terminal"},
		"codex gate":      {"codex", ".codex/hooks.json", `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"NOD hook codex"}]}]}}`, LevelOpen, "fails open"},
		"copilot nothing": {"copilot", ".copilot/mcp-config.json", `{}`, LevelNone, "nod is not in"},
		"copilot rules":   {"copilot", ".copilot/hooks/a.json", `{"version":1,"hooks":{"permissionRequest":[{"type":"command","bash":"NOD hook copilot"}]}}`, LevelPartly, "rules of nod's policy"},
		"copilot inline":  {"copilot", ".copilot/settings.json", `{"hooks":{"permissionRequest":[{"type":"command","bash":"NOD hook copilot"}]}}`, LevelPartly, "rules of nod's policy"},
		"copilot folder":  {"copilot", ".github/hooks/a.json", `{"hooks":{"permissionRequest":[{"bash":"NOD hook copilot"}]}}`, LevelNone, "does not read it"},
		"copilot server":  {"copilot", ".copilot/mcp-config.json", `{"mcpServers":{"nod":{"command":"NOD","args":["mcp"]}}}`, LevelNone, "nothing makes it ask"},
		"copilot hook":    {"copilot", ".github/hooks/a.json", `{"hooks":{"preToolUse":[{"bash":"NOD approve x"}]}}`, LevelOpen, "fails open"},
		"cursor guarded":  {"cursor", ".cursor/mcp.json", `{"mcpServers":{"db":{"command":"NOD","args":["mcp","--wrap","--","db"]},"b":{"url":"x"}}}`, LevelPartly, "1 of 2"},
		"cursor closed":   {"cursor", ".cursor/hooks.json", `{"hooks":{"beforeShellExecution":[{"command":"NOD approve x","failClosed":true}]}}`, LevelPartly, "sets failClosed"},
		"cursor open":     {"cursor", ".cursor/hooks.json", `{"hooks":{"beforeShellExecution":[{"command":"NOD approve x"}]}}`, LevelOpen, "fails open"},
		"gemini hook":     {"gemini", ".gemini/settings.json", `{"hooks":{"BeforeTool":[{"hooks":[{"command":"NOD approve x"}]}]}}`, LevelOpen, "fails open"},
		"gemini broken":   {"gemini", ".gemini/settings.json", `{`, LevelNone, "not valid JSON"},
		"opencode server": {"opencode", ".config/opencode/opencode.json", `{"mcp":{"nod":{"type":"local","command":["NOD","mcp"]}}}`, LevelNone, "nothing makes it ask"},
		"zed direct":      {"zed", ".config/zed/settings.json", "{\"agent_servers\":{\"a\":{\"command\":\"x\"}}, // c\n}", LevelNone, "a in agent_servers"},
		"zed through":     {"zed", ".config/zed/settings.json", `{"agent_servers":{"a":{"command":"NOD","args":["proxy","acp","--","x"]}}}`, LevelPartly, "requests of a"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, write := scratch(t)
			nod := filepath.Join(dir, "bin", "nod")
			write("bin/nod", "#!/bin/sh\n")
			for _, program := range []string{"claude", "codex", "copilot", "cursor", "gemini", "opencode", "zed"} {
				write("bin/"+program, "#!/bin/sh\necho 2.1.330\n")
			}
			write(c.path, strings.ReplaceAll(c.settings, "NOD", nod))
			var d Doctor
			d.examineAgents(context.Background())
			n := slices.IndexFunc(d.Agents, func(a Coverage) bool { return a.Agent == c.agent })
			if n < 0 {
				t.Fatalf("%+v", d.Agents)
			}
			if a := d.Agents[n]; a.Level != c.want || !strings.Contains(strings.Join(a.Reasons, "\n"), c.word) || a.Agent != c.agent || a.Version != "2.1.330" {
				t.Errorf("%+v", a)
			}
		})
	}
}

// TestSurveyAfterInit checks that nod init all improves the level of the agents
// that it can gate, and that only a complete gate counts as gated.
func TestSurveyAfterInit(t *testing.T) {
	dir, _ := everyAgent(t)
	levels := func() string {
		var d Doctor
		d.examineAgents(context.Background())
		var out []string
		for _, a := range d.Agents {
			out = append(out, a.Agent+" "+string(a.Level))
		}
		return strings.Join(out, ", ")
	}
	if got, want := levels(), "claude none, codex none, copilot none, cursor none, gemini none, opencode none, zed none, vscode none, windsurf none"; got != want {
		t.Errorf("before: %s", got)
	}
	gates, err := policy.ParseGates("*")
	if err != nil {
		t.Fatal(err)
	}
	runAll(t, dir, InitAll{Yes: true, Hooks: HookOptions{Gates: gates}})
	if got, want := levels(), "claude gated, codex partly, copilot partly, cursor none, gemini none, opencode none, zed partly, vscode none, windsurf none"; got != want {
		t.Errorf("after: %s", got)
	}
}
