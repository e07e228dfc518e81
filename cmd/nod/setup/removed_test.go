package setup

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/removed"
)

// TestRemovedNames checks that the doctor names each settings file that starts
// nod with a removed name: in a hook, with an environment in front, and in a
// server.
func TestRemovedNames(t *testing.T) {
	lines := map[string]string{} // command lines without the program, by removed word
	for _, row := range removed.All(removed.Flag) {
		path, flag, _ := strings.Cut(row.Name, "--")
		for _, command := range []string{"hook", "mcp", "proxy"} {
			if path == "" || strings.HasPrefix(path, command) {
				lines["--"+flag] = strings.Join(strings.Fields(command+" "+strings.TrimPrefix(path, command)+" --"+flag), " ")
			}
		}
	}
	for _, row := range removed.All(removed.Command) {
		lines[row.Name[strings.LastIndexByte(row.Name, ' ')+1:]] = row.Name
	}
	for word, line := range lines {
		for path, settings := range map[string]string{
			".claude/settings.json":           `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"NOD_URL=http://x '/a b/nod' LINE 5s"}]}]}}`,
			".codex/hooks.json":               `{"hooks":{"PermissionRequest":[{"matcher":"*","hooks":[{"type":"command","command":"nod LINE"},{"type":"command","command":"nod LINE"}]}]}}`,
			".gemini/settings.json":           `{"mcpServers":{"db":{"command":"/bin/nod","args":["` + strings.ReplaceAll(line, " ", `","`) + `","--","x"]}}}`,
			".config/opencode/opencode.json":  `{"mcp":{"db":{"command":["nod","` + strings.ReplaceAll(line, " ", `","`) + `","x"]}}}`,
			".mcp.json":                       `{"mcpServers":{"db":{"command":"/bin/nod","args":["` + strings.ReplaceAll(line, " ", `","`) + `","--","x"]}}}`,
			".claude.json":                    `{"projects":{"/x":{"mcpServers":{"db":{"command":"nod","args":["` + strings.ReplaceAll(line, " ", `","`) + `"]}}}}}`,
			".config/zed/settings.json":       `{"agent_servers":{"a":{"command":"nod","args":["` + strings.ReplaceAll(line, " ", `","`) + `"]}}}`,
			".github/hooks/other.json":        `{"hooks":{"preToolUse":[{"bash":"nod LINE"}]}}`,
			".claude/settings.local.json":     `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"other LINE"}]}]}}`,
			".copilot/mcp-config.json":        `{"mcpServers":{"db":{"command":"nod","args":["mcp","--wrap","--","` + strings.ReplaceAll(line, " ", `","`) + `"]}}}`,
			".codeium/windsurf/settings.json": `{}`,
		} {
			_, write := scratch(t)
			for _, dir := range []string{".claude", ".copilot", ".gemini"} {
				write(dir+"/used", "")
			}
			write(path, strings.ReplaceAll(settings, "LINE", line))
			d := Doctor{}
			d.examineAgents(context.Background())
			n := 0
			for _, f := range d.Findings {
				if f.Status == bridge.FindingWarning && strings.HasSuffix(f.Detail, path+" starts nod with "+word+", which was removed") && f.Fix != "" {
					n++
				}
			}
			want := 1
			if slices.Contains([]string{".claude/settings.local.json", ".copilot/mcp-config.json", ".codeium/windsurf/settings.json"}, path) {
				want = 0 // another program, words of another program, and nothing
			}
			if n != want {
				t.Errorf("%s in %s: %d findings, want %d: %+v", line, path, n, want, d.Findings)
			}
		}
	}
}
