package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/tailscale/hujson"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

func initCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Connect chats, coding agents or MCP clients",
		Long: `Connect your chats: nod asks what it needs to know, says which page, which
button and which token, checks each at once, and writes the config. Run it again
to add to it; what is there stays, with its comments.

Tokens are read from SLACK_BOT_TOKEN, SLACK_APP_TOKEN, DISCORD_BOT_TOKEN and
TELEGRAM_BOT_TOKEN, or asked for. They are kept in files beside the config that
only you can read, and never printed. With --yes nothing is asked, for scripts.`,
		Example: "  nod init\n  nod init --yes --platforms slack --slack-channel C0123456789 --person ana --slack-user U0123456789\n  nod init claude --grace 10s",
		Args:    cobra.NoArgs,
	}
	s := setup{channels: map[string]*string{}, users: map[string]*string{}}
	setupFlags(cmd, &s)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s.stdin, s.talk = cmd.InOrStdin(), cmd.ErrOrStderr()
		return s.run(cmd.Context())
	}
	cmd.AddCommand(initClaude(), initCodex(), initMCP())
	return cmd
}

// settings is a JSON file of an agent's that nod adds its entries to.
type settings struct {
	path        string
	undo, print bool
	out, talk   io.Writer
}

// hookOptions are what nod's hooks are called with.
type hookOptions struct {
	route, unanswered, fail string
	timeout, grace, batch   time.Duration
}

func settingsFlags(cmd *cobra.Command, s *settings, file string) {
	cmd.Flags().StringVar(&s.path, "file", file, "the file to change")
	cmd.Flags().BoolVar(&s.undo, "undo", false, "take nod's entries out again")
	cmd.Flags().BoolVar(&s.print, "print", false, "print what would be written, and write nothing")
}

// hookTime is how long an agent lets nod's hooks run, in seconds: a day, as
// people may answer late. nod itself ends them sooner.
const hookTime = 86400

// closingTime is the same for the hooks that only report.
const closingTime = 10

// hookEntry is a matcher with its handlers, as Claude Code and Codex have it.
type hookEntry struct {
	Matcher string        `json:"matcher,omitempty"`
	Hooks   []hookHandler `json:"hooks"`
}

type hookHandler struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

func initClaude() *cobra.Command {
	var s settings
	var f hookOptions
	var user bool
	cmd := &cobra.Command{
		Use:   "claude",
		Short: "Add the hooks of nod to the settings of Claude Code",
		Long: `Add nod's hooks to the settings of Claude Code, and keep what is there. Run it
again after a change; --undo takes the hooks out.

It covers permission prompts, questions, plans and MCP forms. The agent needs
NOD_TOKEN, and NOD_URL if the daemon is elsewhere, in its environment.`,
		Example: "  nod init claude --grace 10s\n  nod init claude --user\n  nod init claude --undo",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if user {
				home, err := os.UserHomeDir()
				if err != nil {
					return err
				}
				s.path = filepath.Join(home, ".claude", "settings.json")
			}
			s.out, s.talk = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return s.claude(f)
		},
	}
	settingsFlags(cmd, &s, filepath.Join(".claude", "settings.local.json"))
	cmd.Flags().BoolVar(&user, "user", false, "for all projects: ~/.claude/settings.json")
	hookOptionFlags(cmd, &f)
	return cmd
}

func initCodex() *cobra.Command {
	var s settings
	var f hookOptions
	cmd := &cobra.Command{
		Use:   "codex",
		Short: "Add the hooks of nod to the settings of Codex",
		Long: `Add nod's hook for permission requests to Codex's hooks.json, and keep what is
there. Run it again after a change; --undo takes the hook out. Codex asks once
whether it may run new hooks.

The agent needs NOD_TOKEN, and NOD_URL if the daemon is elsewhere, in its
environment.`,
		Example: "  nod init codex --fail open\n  nod init codex --undo",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if s.path == "" {
				home := os.Getenv("CODEX_HOME")
				if home == "" {
					user, err := os.UserHomeDir()
					if err != nil {
						return err
					}
					home = filepath.Join(user, ".codex")
				}
				s.path = filepath.Join(home, "hooks.json")
			}
			s.out, s.talk = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return s.codex(f)
		},
	}
	settingsFlags(cmd, &s, "")
	cmd.Flags().Lookup("file").Usage = "the file to change (default $CODEX_HOME/hooks.json, else ~/.codex/hooks.json)"
	hookOptionFlags(cmd, &f)
	return cmd
}

func initMCP() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Add nod to the servers of an MCP client",
		Long: `Add nod to the mcpServers of an MCP client's JSON file, and keep what is there.
The client needs NOD_TOKEN, and NOD_URL if the daemon is elsewhere, in its
environment. A client that speaks HTTP needs no command: its server is /mcp of
the daemon, with the header Authorization: Bearer and the token.`,
		Example: "  nod init mcp\n  nod init mcp --file ~/.cursor/mcp.json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.out, s.talk = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return s.mcp()
		},
	}
	settingsFlags(cmd, &s, ".mcp.json")
	return cmd
}

func hookOptionFlags(cmd *cobra.Command, f *hookOptions) {
	cmd.Flags().StringVar(&f.route, "route", "", "route of the daemon's config")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 0, "how long people have to answer (default 1h)")
	cmd.Flags().DurationVar(&f.grace, "grace", 0, "hold cards back so long, while you may answer at the keyboard")
	cmd.Flags().DurationVar(&f.batch, "batch", 0, "wait so long for more requests of the session and show them in one message")
	cmd.Flags().StringVar(&f.unanswered, "unanswered", "", "when nobody answers: ask at the terminal (default), or deny")
	cmd.Flags().StringVar(&f.fail, "fail", "", "when the daemon can not be asked: closed (default) or open")
}

// ownCommand is how an agent starts this program.
func ownCommand() string {
	if path, err := exec.LookPath("nod"); err == nil && filepath.IsAbs(path) {
		return "nod"
	}
	path, err := os.Executable()
	if err != nil {
		return "nod"
	}
	return path
}

// hookCommands are the command lines of the hook that asks, and of the one
// that only reports.
func hookCommands(agent string, f hookOptions) (ask, report string) {
	words := []string{render.ShellQuote(ownCommand()), "hook", agent}
	report = strings.Join(append(slices.Clone(words), "--fail", "open"), " ")
	for _, v := range []struct{ name, value string }{
		{"--route", f.route}, {"--timeout", given(f.timeout)}, {"--grace", given(f.grace)}, {"--batch", given(f.batch)},
		{"--unanswered", f.unanswered}, {"--fail", f.fail},
	} {
		if v.value != "" {
			words = append(words, v.name, render.ShellQuote(v.value))
		}
	}
	return strings.Join(words, " "), report
}

func given(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// claude adds nod's hooks to settings of Claude Code.
func (s *settings) claude(f hookOptions) error {
	ask, report := hookCommands("claude", f)
	return s.applyHooks("claude", map[string]hookEntry{
		"PermissionRequest":  {"*", []hookHandler{{"command", ask, hookTime}}},
		"PreToolUse":         {"AskUserQuestion|ExitPlanMode", []hookHandler{{"command", ask, hookTime}}},
		"Elicitation":        {"", []hookHandler{{"command", ask, hookTime}}},
		"PostToolUse":        {"*", []hookHandler{{"command", report, closingTime}}},
		"PostToolUseFailure": {"*", []hookHandler{{"command", report, closingTime}}},
		"Stop":               {"", []hookHandler{{"command", report, closingTime}}},
		"SubagentStop":       {"", []hookHandler{{"command", report, closingTime}}},
		"SessionEnd":         {"", []hookHandler{{"command", report, closingTime}}},
	})
}

// codex adds nod's hooks to those of Codex.
func (s *settings) codex(f hookOptions) error {
	ask, report := hookCommands("codex", f)
	return s.applyHooks("codex", map[string]hookEntry{
		"PermissionRequest": {"*", []hookHandler{{"command", ask, hookTime}}},
		"PostToolUse":       {"*", []hookHandler{{"command", report, closingTime}}},
		"Stop":              {"", []hookHandler{{"command", report, closingTime}}},
	})
}

// mcp adds nod to the servers of an MCP client.
func (s *settings) mcp() error {
	return s.change(func(doc *hujson.Value) error {
		if s.undo {
			return prune(doc, "/mcpServers/nod", "/mcpServers")
		}
		return put(doc, []string{"mcpServers", "nod"}, map[string]any{"command": ownCommand(), "args": []string{"mcp"}})
	})
}

// applyHooks puts entries among an agent's hooks, or takes them out.
func (s *settings) applyHooks(agent string, entries map[string]hookEntry) error {
	return s.change(func(doc *hujson.Value) error {
		var was struct {
			Hooks map[string][]json.RawMessage `json:"hooks"`
		}
		plain := doc.Clone()
		plain.Standardize()
		if err := json.Unmarshal(plain.Pack(), &was); err != nil {
			return bridge.Wrap(bridge.CodeInvalid, err, "%s: hooks", s.path).WithHint("its hooks have a form that nod does not know; nothing was changed")
		}
		events := make([]string, 0, len(entries))
		for event := range entries {
			events = append(events, event)
		}
		slices.Sort(events)
		for _, event := range events {
			kept := slices.DeleteFunc(slices.Clone(was.Hooks[event]), func(raw json.RawMessage) bool { return isOurs(raw, agent) })
			if !s.undo {
				raw, err := json.Marshal(entries[event])
				if err != nil {
					return err
				}
				kept = append(kept, raw)
			}
			var err error
			switch {
			case len(kept) > 0:
				err = put(doc, []string{"hooks", event}, kept)
			case len(was.Hooks[event]) > 0:
				err = prune(doc, "/hooks/"+event, "/hooks")
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// isOurs recognizes an entry of nod's by its command.
func isOurs(raw json.RawMessage, agent string) bool {
	var e hookEntry
	if json.Unmarshal(raw, &e) != nil || len(e.Hooks) != 1 {
		return false
	}
	program, _, found := strings.Cut(e.Hooks[0].Command, " hook "+agent)
	name := strings.TrimSuffix(strings.Trim(filepath.Base(program), "'"), ".exe")
	return found && strings.HasPrefix(name, "nod")
}

// put sets a member at a path of two, and makes what is missing.
func put(doc *hujson.Value, path []string, value any) error {
	parent := "/" + path[0]
	if doc.Find(parent) == nil {
		if err := doc.Patch([]byte(`[{"op":"add","path":"` + parent + `","value":{}}]`)); err != nil {
			return err
		}
	}
	op, err := json.Marshal([]map[string]any{{"op": "add", "path": parent + "/" + path[1], "value": value}})
	if err != nil {
		return err
	}
	return doc.Patch(op)
}

// prune removes a member, and its parent if that is empty then.
func prune(doc *hujson.Value, member, parent string) error {
	for _, path := range []string{member, parent} {
		v := doc.Find(path)
		if v == nil {
			return nil
		}
		if o, ok := v.Value.(*hujson.Object); ok && path == parent && len(o.Members) > 0 {
			return nil
		}
		if err := doc.Patch([]byte(`[{"op":"remove","path":"` + path + `"}]`)); err != nil {
			return err
		}
	}
	return nil
}

// change applies an edit to the file, which may not be there yet. What the
// edit does not touch keeps its bytes.
func (s *settings) change(edit func(*hujson.Value) error) error {
	was, err := os.ReadFile(s.path)
	missing := errors.Is(err, fs.ErrNotExist)
	if missing {
		was, err = []byte("{}\n"), nil
	}
	if err != nil {
		return err
	}
	doc, err := hujson.Parse(was)
	if err == nil {
		if _, ok := doc.Value.(*hujson.Object); !ok {
			err = errors.New("is no JSON object")
		}
	}
	if err != nil {
		return bridge.Wrap(bridge.CodeInvalid, err, "%s", s.path).WithHint("mend it first; nothing was changed")
	}
	if err := edit(&doc); err != nil {
		return err
	}
	now := doc.Pack()
	if pretty, ok := indented(now); ok && (missing || isIndented(was)) {
		now = pretty
	}
	switch {
	case s.print:
		_, err := s.out.Write(now)
		return err
	case string(now) == string(was) || missing && s.undo:
		fmt.Fprintf(s.talk, "nod: %s is as it should be\n", s.path)
		return nil
	}
	if err := writeWhole(s.path, now); err != nil {
		return err
	}
	done := "has nod's entries now; take them out with --undo"
	if s.undo {
		done = "has nod's entries no more"
	}
	fmt.Fprintf(s.talk, "nod: %s %s\n", s.path, done)
	return nil
}

// indented writes JSON as the agents do, with two spaces; false for what has
// comments, which stays as it is.
func indented(raw []byte) ([]byte, bool) {
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(raw), "", "  "); err != nil {
		return nil, false
	}
	b.WriteByte('\n')
	return b.Bytes(), true
}

func isIndented(raw []byte) bool {
	pretty, ok := indented(raw)
	return ok && bytes.Equal(bytes.TrimSpace(pretty), bytes.TrimSpace(raw))
}

// writeWhole replaces a file at once, so that nobody reads half of it.
func writeWhole(path string, content []byte) error {
	dir, mode := filepath.Dir(path), fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".nod-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already once it was renamed
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(mode)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}
