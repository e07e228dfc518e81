package setup

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestServerFormats checks that nod init mcp writes what the client of the file
// reads, and changes nothing if it does not know the client.
func TestServerFormats(t *testing.T) {
	const (
		plain    = `{"mcpServers":{"nod":{"command":"nod","args":["mcp"]}}}`
		opencode = `{"mcp":{"nod":{"type":"local","command":["nod","mcp"],"enabled":true}}}`
		crush    = `{"mcp":{"nod":{"type":"stdio","command":"nod","args":["mcp"]}}}`
		vscode   = `{"servers":{"nod":{"type":"stdio","command":"nod","args":["mcp"]}}}`
		zed      = `{"context_servers":{"nod":{"source":"custom","command":"nod","args":["mcp"],"env":{}}}}`
		copilot  = `{"mcpServers":{"nod":{"type":"local","command":"nod","args":["mcp"],"tools":["*"]}}}`
	)
	for _, c := range []struct{ path, client, was, want string }{
		{".mcp.json", "", "", plain}, {".cursor/mcp.json", "", "", plain}, {".gemini/settings.json", "", "", plain},
		{"mcp_config.json", "", "", plain}, {"claude_desktop_config.json", "", "", plain}, {"cline_mcp_settings.json", "", "", plain},
		{"opencode.json", "", "", opencode}, {".config/opencode/opencode.jsonc", "", "", opencode}, {"kilo.jsonc", "", "", opencode}, {".kilo/kilo.json", "", "", opencode},
		{"crush.json", "", "", crush}, {".crush.json", "", "", crush}, {".vscode/mcp.json", "", "", vscode}, {"Code/User/mcp.json", "", "", vscode},
		{".config/zed/settings.json", "", "", zed}, {".zed/settings.json", "", "", zed}, {".copilot/mcp-config.json", "", "", copilot},
		{"any.json", "", "", ""}, {"any.json", "vscode", "", vscode}, {"any.json", "cline", "", plain}, {"settings.json", "", "{}", ""},
		{"any.json", "", `{"servers":{}}`, vscode}, {"any.json", "", `{"mcp":{"a":{"command":["x"]}}}`, opencode}, {"any.json", "", `{"mcp":{"a":{"command":"x"}}}`, crush},
		{"any.json", "", `{"mcp":{}}`, ""}, {"any.json", "", `{"servers":{},"mcpServers":{}}`, ""},
		{".codex/config.toml", "", "x = 1\n", ""}, {"any.json", "codex", "", ""}, {"any.json", "nothing", "", ""},
		// An earlier nod wrote its entry where these clients do not look.
		{"opencode.json", "", `{"mcpServers":{"nod":{"command":"nod","args":["mcp"]}}}`, opencode},
		{".vscode/mcp.json", "", `{"mcpServers":{"nod":{"command":"other"}}}`, `{"mcpServers":{"nod":{"command":"other"}},` + vscode[1:]},
	} {
		path := filepath.Join(t.TempDir(), c.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if c.was != "" {
			if err := os.WriteFile(path, []byte(c.was), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s := Settings{Path: path, Program: "nod", Out: io.Discard, Talk: io.Discard}
		err := s.MCP(c.client)
		raw, _ := os.ReadFile(path)
		if c.want == "" {
			if err == nil || string(raw) != c.was {
				t.Errorf("%s, %q: %v, %s", c.path, c.client, err, raw)
			}
			continue
		}
		var got, want any
		if err != nil || json.Unmarshal(raw, &got) != nil || json.Unmarshal([]byte(c.want), &want) != nil {
			t.Errorf("%s, %q: %v, %s", c.path, c.client, err, raw)
			continue
		}
		if !equalJSON(got, want, c.was) {
			t.Errorf("%s, %q: %s, want %s", c.path, c.client, raw, c.want)
		}
		s.Undo = true
		if err := s.MCP(c.client); err != nil {
			t.Errorf("%s: %v", c.path, err)
		}
		if raw, _ := os.ReadFile(path); strings.Contains(string(raw), `"args"`) {
			t.Errorf("%s: after the undo: %s", c.path, raw)
		}
	}
}

// equalJSON reports whether got is want, with the earlier content.
func equalJSON(got, want any, was string) bool {
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if string(g) == string(w) {
		return true
	}
	// The servers of others stay.
	var before map[string]map[string]any
	_ = json.Unmarshal([]byte(was), &before)
	merged, _ := want.(map[string]any)
	for parent, servers := range before {
		member, _ := merged[parent].(map[string]any)
		for name, v := range servers {
			if member != nil && member[name] == nil {
				member[name] = v
			}
		}
	}
	w, _ = json.Marshal(merged)
	return string(g) == string(w)
}
