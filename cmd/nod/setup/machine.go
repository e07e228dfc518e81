package setup

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// machine knows the location of agents' settings.
type machine struct {
	home   string                   // home directory of the user
	config string                   // $XDG_CONFIG_HOME or ~/.config
	apps   string                   // settings folder of desktop programs
	moved  func(name string) string // value of an environment variable that moves settings
}

func thisMachine() (machine, error) {
	dir, err := os.UserHomeDir()
	if err != nil {
		return machine{}, err
	}
	m := machine{home: dir, config: cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(dir, ".config")), moved: os.Getenv}
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

func (m machine) claude() string {
	return cmp.Or(m.moved("CLAUDE_CONFIG_DIR"), filepath.Join(m.home, ".claude"))
}
func (m machine) claudeSettings() string { return filepath.Join(m.claude(), "settings.json") }

// claudeServers returns Claude Code's file with the MCP servers of the user.
func (m machine) claudeServers() string {
	return filepath.Join(cmp.Or(m.moved("CLAUDE_CONFIG_DIR"), m.home), ".claude.json")
}

// claudeManaged returns the file with which an administrator overrides
// settings.
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
	return cmp.Or(m.moved("CODEX_HOME"), filepath.Join(m.home, ".codex"))
}
func (m machine) codexHooks() string    { return filepath.Join(m.codex(), "hooks.json") }
func (m machine) codexSettings() string { return filepath.Join(m.codex(), "config.toml") }

func (m machine) copilot() string {
	return cmp.Or(m.moved("COPILOT_HOME"), filepath.Join(m.home, ".copilot"))
}
func (m machine) copilotHooks() string   { return filepath.Join(m.copilot(), "hooks", "nod.json") }
func (m machine) copilotServers() string { return filepath.Join(m.copilot(), "mcp-config.json") }

func (m machine) opencode() string { return filepath.Join(m.config, "opencode") }
func (m machine) opencodeSettings() string {
	return withComments(filepath.Join(m.opencode(), "opencode.json"))
}

func (m machine) kilo() string         { return filepath.Join(m.config, "kilo") }
func (m machine) kiloSettings() string { return withComments(filepath.Join(m.kilo(), "kilo.json")) }

func (m machine) crush() string         { return filepath.Join(m.config, "crush") }
func (m machine) crushSettings() string { return filepath.Join(m.crush(), "crush.json") }

// withComments returns the file with the same name that may contain comments,
// if it exists.
func withComments(path string) string {
	if with := path + "c"; exists(with) {
		return with
	}
	return path
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

// ClaudeSettings returns the user's settings file with the hooks of Claude
// Code.
func ClaudeSettings() (string, error) { return userFile(machine.claudeSettings) }

// CodexHooks returns the user's file with the hooks of Codex.
func CodexHooks() (string, error) { return userFile(machine.codexHooks) }

// CopilotHooks returns the user's file with the hooks of Copilot CLI.
func CopilotHooks() (string, error) { return userFile(machine.copilotHooks) }

func userFile(file func(machine) string) (string, error) {
	m, err := thisMachine()
	if err != nil {
		return "", err
	}
	return file(m), nil
}

// versionNumber matches a version in the output of a program.
var versionNumber = lazyregexp.New(`\d+\.\d+\.\d+`)

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
