package setup

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// installable is an agent that nod knows how to connect.
type installable struct {
	name, title string
	programs    []string                                // names of its program
	folder      func(machine) string                    // exists if the agent was used
	file        func(machine) string                    // settings that nod init all changes
	connect     func(*Settings, HookOptions) error      // changes the settings
	survey      func(context.Context, machine) surveyed // reads the settings
}

// installables lists the agents in the order of the reports.
var installables = []installable{
	{"claude", "Claude Code", []string{"claude"}, machine.claude, machine.claudeSettings, (*Settings).Claude, surveyClaude},
	{"codex", "Codex", []string{"codex"}, machine.codex, machine.codexHooks, connectCodex, surveyCodex},
	mcpAgent("copilot", "Copilot CLI", []string{"copilot"}, home(".copilot"), home(".copilot", "mcp-config.json"), copilotServer, surveyCopilot),
	mcpAgent("cursor", "Cursor", []string{"cursor-agent", "cursor"}, home(".cursor"), home(".cursor", "mcp.json"), plainServer, surveyCursor),
	mcpAgent("gemini", "Gemini CLI", []string{"gemini"}, home(".gemini"), home(".gemini", "settings.json"), plainServer, surveyGemini),
	mcpAgent("opencode", "opencode", []string{"opencode"}, machine.opencode, machine.opencodeSettings, opencodeServer, surveyOpencode),
	{"zed", "Zed", []string{"zed", "zeditor"}, machine.zed, machine.zedSettings, (*Settings).Zed, surveyZed},
	mcpAgent("claude-desktop", "Claude Desktop", nil, machine.claudeDesktop, machine.claudeDesktopSettings, plainServer, surveyClients),
	mcpAgent("vscode", "VS Code", []string{"code"}, machine.vsCode, machine.vsCodeSettings, vsCodeServer, surveyClients),
	mcpAgent("windsurf", "Windsurf", []string{"windsurf"}, home(".codeium", "windsurf"), home(".codeium", "windsurf", "mcp_config.json"), plainServer, surveyClients),
}

// mcpAgent returns an agent that nod can only be an MCP server of.
func mcpAgent(
	name, title string, programs []string, folder, file func(machine) string, server mcpServer, survey func(context.Context, machine, installable, mcpServer) surveyed,
) installable {
	out := installable{name: name, title: title, programs: programs, folder: folder, file: file}
	out.connect = func(s *Settings, _ HookOptions) error { return s.mcp(server) }
	out.survey = func(ctx context.Context, m machine) surveyed { return survey(ctx, m, out, server) }
	return out
}

// AgentNames returns the names of the agents that nod knows how to connect.
func AgentNames() []string {
	var out []string
	for _, a := range installables {
		out = append(out, a.name)
	}
	return out
}

// chosen returns the agents with the given names, or all if there are none. It
// returns CodeInvalid for an unknown name.
func chosen(names []string) ([]installable, error) {
	for _, name := range names {
		if !slices.Contains(AgentNames(), name) {
			return nil, bridge.Errorf(bridge.CodeInvalid, "agents: unknown agent %q", name).WithHint("use %s", strings.Join(AgentNames(), ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(installables), func(a installable) bool {
		return len(names) > 0 && !slices.Contains(names, a.name)
	}), nil
}

// installed reports whether the agent is on the machine: its program is, or it
// has left a folder with settings.
func (a installable) installed(m machine) bool {
	for _, p := range a.programs {
		if _, err := exec.LookPath(p); err == nil {
			return true
		}
	}
	info, err := os.Stat(a.folder(m))
	return err == nil && info.IsDir()
}

// version returns the version of the agent's program, or "".
func (a installable) version(ctx context.Context) string {
	for _, p := range a.programs {
		if v := versionOf(ctx, p); v != "" {
			return v
		}
	}
	return ""
}

// machine knows where agents keep their settings.
type machine struct {
	home   string // of the user
	config string // $XDG_CONFIG_HOME or ~/.config
	apps   string // folder of the settings of desktop programs
}

func thisMachine() (machine, error) {
	dir, err := os.UserHomeDir()
	if err != nil {
		return machine{}, err
	}
	m := machine{home: dir, config: cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(dir, ".config"))}
	m.apps = m.config
	switch runtime.GOOS {
	case "darwin":
		m.apps = filepath.Join(dir, "Library", "Application Support")
	case "windows":
		m.apps = cmp.Or(os.Getenv("APPDATA"), filepath.Join(dir, "AppData", "Roaming"))
	}
	return m, nil
}

func home(parts ...string) func(machine) string {
	return func(m machine) string { return filepath.Join(append([]string{m.home}, parts...)...) }
}

func (m machine) claude() string         { return filepath.Join(m.home, ".claude") }
func (m machine) claudeSettings() string { return filepath.Join(m.claude(), "settings.json") }

// claudeManaged is the file with which an administrator overrides settings.
func (m machine) claudeManaged() string {
	switch runtime.GOOS {
	case "darwin":
		return "/Library/Application Support/ClaudeCode/managed-settings.json"
	case "windows":
		return `C:\Program Files\ClaudeCode\managed-settings.json`
	}
	return "/etc/claude-code/managed-settings.json"
}

func (m machine) codex() string {
	return cmp.Or(os.Getenv("CODEX_HOME"), filepath.Join(m.home, ".codex"))
}
func (m machine) codexHooks() string    { return filepath.Join(m.codex(), "hooks.json") }
func (m machine) codexSettings() string { return filepath.Join(m.codex(), "config.toml") }

func (m machine) opencode() string { return filepath.Join(m.config, "opencode") }
func (m machine) opencodeSettings() string {
	if with := filepath.Join(m.opencode(), "opencode.jsonc"); exists(with) {
		return with
	}
	return filepath.Join(m.opencode(), "opencode.json")
}

func (m machine) zed() string {
	if runtime.GOOS == "windows" {
		return filepath.Join(m.apps, "Zed")
	}
	return filepath.Join(m.config, "zed")
}
func (m machine) zedSettings() string { return filepath.Join(m.zed(), "settings.json") }

func (m machine) claudeDesktop() string { return filepath.Join(m.apps, "Claude") }
func (m machine) claudeDesktopSettings() string {
	return filepath.Join(m.claudeDesktop(), "claude_desktop_config.json")
}

func (m machine) vsCode() string         { return filepath.Join(m.apps, "Code", "User") }
func (m machine) vsCodeSettings() string { return filepath.Join(m.vsCode(), "mcp.json") }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
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
