package setup

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// agent is a coding agent or an MCP client that nod knows. The table of agents
// serves nod init, nod doctor and docs/agents/README.md.
type agent struct {
	name, title string
	page        string   // page of the documentation, in docs/agents
	programs    []string // names of the agent's program
	// moved is the environment variable that moves the settings folder. folder
	// returns that folder, which exists if the agent has been used.
	moved  string
	folder func(machine) string
	// edits lists the files that nod init all changes.
	edits []fileEdit
	// servers lists files in which the agent stores MCP servers, by the end of
	// their paths. server is their format. If it is zero, nod cannot change
	// these files.
	servers []string
	server  mcpServer
	json    jsonFormat
	// survey reads the settings. ask, which may be nil, asks the agent's
	// program which of them it ignores.
	survey func(context.Context, machine, agent) surveyed
	ask    func(context.Context, machine, agent) []complaint
	// prompts is an instruction for an agent whose own prompts stay in its
	// window.
	prompts string
	// tested is the version with which the behavior was tested; see
	// docs/agents/failures.md. If it is empty, the facts come from the agent's
	// documentation.
	tested string
	// adds describes the entries that nod init all adds, and best describes the
	// coverage that they provide.
	adds, best string
}

// fileEdit is a change of one file with the settings of an agent.
type fileEdit struct {
	file    func(machine) string
	connect func(*Settings, HookOptions) error
}

const (
	addsServer = "nod as an [MCP server](mcp.md)"
	bestServer = "not at all: nothing makes the model ask. With [`nod mcp --wrap`](mcp.md#guard-an-mcp-server), partly"
)

// client returns an agent that can use nod only as an MCP server.
func client(name, title string, programs []string, folder, file func(machine) string, server mcpServer, servers ...string) agent {
	a := agent{
		name: name, title: title, page: "mcp.md", programs: programs, folder: folder, server: server, servers: servers,
		json: lenientJSON, survey: surveyClients, prompts: "guard its MCP servers with nod mcp --wrap; see docs/agents/mcp.md",
		adds: addsServer, best: bestServer,
	}
	a.edits = []fileEdit{serverEdit(file, server)}
	return a
}

func serverEdit(file func(machine) string, server mcpServer) fileEdit {
	return fileEdit{file, func(s *Settings, _ HookOptions) error { return s.mcp(server) }}
}

// prompted returns the agent with another instruction about its own prompts.
func (a agent) prompted(instruction string) agent {
	a.prompts = instruction
	return a
}

// surveyedBy returns the agent with a survey that reads more than MCP servers.
func (a agent) surveyedBy(survey func(context.Context, machine, agent) surveyed) agent {
	a.survey = survey
	return a
}

// agents lists the agents in the order of the reports. It is a function because
// the surveys call it.
func agents() []agent {
	return []agent{
		{
			name: "claude", title: "Claude Code", page: "claude-code.md", programs: []string{"claude"}, moved: "CLAUDE_CONFIG_DIR",
			folder: machine.claude, edits: []fileEdit{{machine.claudeSettings, (*Settings).Claude}},
			servers: []string{".mcp.json", ".claude.json"}, server: plainServer, json: claudeJSON,
			survey: surveyClaude, ask: askClaude, tested: "2.1.330",
			adds: "[hooks](claude-code.md), and gates with `--gate`", best: "gated, with gates for all tools",
		},
		{
			name: "codex", title: "Codex", page: "codex.md", programs: []string{"codex"}, moved: "CODEX_HOME",
			folder: machine.codex, edits: []fileEdit{{machine.codexHooks, connectCodex}},
			servers: []string{".codex/config.toml"}, json: codexJSON, survey: surveyCodex, ask: askCodex, tested: "0.169.0",
			adds: "[hook](codex.md) for its approval prompts; better: `nod proxy codex`", best: "partly: Codex decides what needs approval",
		},
		{
			name: "copilot", title: "Copilot CLI", page: "copilot.md", programs: []string{"copilot"}, moved: "COPILOT_HOME",
			folder: machine.copilot, edits: []fileEdit{{machine.copilotHooks, (*Settings).Copilot}, serverEdit(machine.copilotServers, copilotServer)},
			servers: []string{"mcp-config.json"}, server: copilotServer, json: copilotJSON, survey: surveyCopilot, tested: "1.0.102",
			adds: "[hook](copilot.md) that applies the rules of nod's policy, and nod as an [MCP server](mcp.md)",
			best: "partly: rules of nod's policy decide about every call that does more than read",
		},
		client("cursor", "Cursor", []string{"cursor-agent", "cursor"}, home(".cursor"), home(".cursor", "mcp.json"), plainServer, ".cursor/mcp.json").surveyedBy(surveyCursor).
			prompted("run commands that must not fail open with: nod run"),
		client("gemini", "Gemini CLI", []string{"gemini"}, home(".gemini"), home(".gemini", "settings.json"), plainServer, ".gemini/settings.json").surveyedBy(surveyGemini).
			prompted("start it from an ACP editor with: nod proxy acp -- gemini --experimental-acp"),
		client("opencode", "opencode", []string{"opencode"}, machine.opencode, machine.opencodeSettings, opencodeServer, "opencode.json", "opencode.jsonc").
			prompted("start it from an ACP editor with: nod proxy acp -- opencode acp"),
		client("kilo", "Kilo", []string{"kilo"}, machine.kilo, machine.kiloSettings, opencodeServer, "kilo.json", "kilo.jsonc").
			prompted("start it from an ACP editor with: nod proxy acp -- kilo acp"),
		client("crush", "Crush", []string{"crush"}, machine.crush, machine.crushSettings, crushServer, "crush.json", ".crush.json"),
		client("cline", "Cline", []string{"cline"}, home(".cline"), home(".cline", "data", "settings", "cline_mcp_settings.json"), plainServer, "cline_mcp_settings.json"),
		{
			name: "zed", title: "Zed", page: "acp.md", programs: []string{"zed", "zeditor"}, folder: machine.zed, edits: []fileEdit{{machine.zedSettings, (*Settings).Zed}},
			servers: []string{"zed/settings.json", "Zed/settings.json", ".zed/settings.json"}, server: zedServer, json: lenientJSON, survey: surveyZed,
			adds: "[`nod proxy acp`](acp.md) before the agents that you added", best: "partly: the agent decides what needs approval",
		},
		client("claude-desktop", "Claude Desktop", nil, machine.claudeDesktop, machine.claudeDesktopSettings, plainServer, "claude_desktop_config.json"),
		client("vscode", "VS Code", []string{"code"}, machine.vsCode, machine.vsCodeSettings, vsCodeServer, ".vscode/mcp.json", "User/mcp.json"),
		client("windsurf", "Windsurf", []string{"windsurf"}, home(".codeium", "windsurf"), home(".codeium", "windsurf", "mcp_config.json"), plainServer, "mcp_config.json"),
	}
}

// agentNamed returns the agent with a name of the table.
func agentNamed(name string) (agent, bool) {
	for _, a := range agents() {
		if a.name == name {
			return a, true
		}
	}
	return agent{}, false
}

// AgentNames returns the names of the agents that nod knows how to connect.
func AgentNames() []string {
	var out []string
	for _, a := range agents() {
		out = append(out, a.name)
	}
	return out
}

// chosen returns the agents with the given names, or all agents if there are no
// names. It returns CodeInvalid for an unknown name.
func chosen(names []string) ([]agent, error) {
	for _, name := range names {
		if !slices.Contains(AgentNames(), name) {
			return nil, bridge.Errorf(bridge.CodeInvalid, "agents: unknown agent %q", name).WithHint("use %s", strings.Join(AgentNames(), ", "))
		}
	}
	return slices.DeleteFunc(agents(), func(a agent) bool {
		return len(names) > 0 && !slices.Contains(names, a.name)
	}), nil
}

// installed reports whether the agent is on the machine: its program exists, or
// it has left a folder with settings.
func (a agent) installed(m machine) bool {
	for _, p := range a.programs {
		if _, err := exec.LookPath(p); err == nil {
			return true
		}
	}
	info, err := os.Stat(a.folder(m))
	return err == nil && info.IsDir()
}

// version returns the version of the agent's program, or "".
func (a agent) version(ctx context.Context) string {
	for _, p := range a.programs {
		if v := versionOf(ctx, p); v != "" {
			return v
		}
	}
	return ""
}

// keepsServers reports whether the agent stores MCP servers in a file.
func (a agent) keepsServers(path string) bool {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return slices.ContainsFunc(a.servers, func(end string) bool { return strings.HasSuffix("/"+filepath.ToSlash(path), "/"+end) })
}
