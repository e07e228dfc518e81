package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/cmd/nod/cli"
	"github.com/nodbridge/nod/cmd/nod/setup"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/kinds"
)

func initCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Connect chats, coding agents or MCP clients",
		Long: `Connect your chats. nod guides you to each page, button and token, checks every
token, channel and account immediately, and saves each platform as soon as it
works. Enter skip to leave a platform for later. Run it again to add more: nod
keeps existing settings and comments.

nod reads tokens from SLACK_BOT_TOKEN, SLACK_APP_TOKEN, DISCORD_BOT_TOKEN and
TELEGRAM_BOT_TOKEN, or prompts for them. It stores them next to the config in
files that only you can read, and never prints them. With --yes, nod does not
prompt, for use in scripts, and saves either everything or nothing.`,
		Example: "  nod init\n  nod init --yes --platforms slack --slack-channel C0123456789 --person ana --slack-user U0123456789\n  nod init claude --grace 10s",
		Args:    cobra.NoArgs,
	}
	s := setup.Init{Channels: map[string]string{}, Users: map[string]string{}}
	ids := setupFlags(cmd, &s)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		for p, id := range ids {
			s.Channels[p], s.Users[p] = *id.channel, *id.user
		}
		s.Stdin, s.Talk = cmd.InOrStdin(), cmd.ErrOrStderr()
		return s.Run(cmd.Context())
	}
	cmd.AddCommand(initAll(), initClaude(), initCodex(), initCopilot(), initMCP())
	return cmd
}

func settingsFlags(cmd *cobra.Command, s *setup.Settings, file string) {
	cmd.Flags().StringVar(&s.Path, "file", file, "file to change")
	cmd.Flags().BoolVar(&s.Undo, "undo", false, "remove nod's entries")
	cmd.Flags().BoolVar(&s.Print, "print", false, "print the result instead of writing it")
}

func initClaude() *cobra.Command {
	var s setup.Settings
	var f setup.HookOptions
	var user bool
	var gates string
	cmd := &cobra.Command{
		Use:   "claude",
		Short: "Add nod's hooks to the settings of Claude Code",
		Long: `Add nod's hooks to the settings of Claude Code and keep all other settings. Run
it again after a change. --undo removes the hooks.

The hooks cover permission prompts, questions, plans and MCP forms, next to the
dialog in the terminal: the first answer counts. Set NOD_TOKEN in the
environment of the agent, and NOD_URL if the daemon runs on another host.

--gate names tool calls that need a person, in every permission mode and in every
spelling: Bash(git push *) also selects git -C . push and sh -c 'git push'. The
daemon decides which calls a gate selects. Without it, all calls of a gated tool
are denied: a gate never fails open (Claude Code 2.1.295 or later). Separate
several with |. Another run without --gate keeps the gates, and --gate '' removes
them.`,
		Example: "  nod init claude --grace 10s\n  nod init claude --gate 'Bash(git push *)|mcp__prod__.*'\n  nod init claude --user\n  nod init claude --undo",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if user {
				var err error
				if s.Path, err = setup.ClaudeSettings(); err != nil {
					return err
				}
			}
			if cmd.Flags().Changed("gate") {
				var err error
				if f.Gates, err = policy.ParseGates(gates); err != nil {
					return err
				}
			}
			s.Out, s.Talk = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return s.Claude(f)
		},
	}
	settingsFlags(cmd, &s, filepath.Join(".claude", "settings.local.json"))
	cmd.Flags().BoolVar(&user, "user", false, "configure all projects, in settings.json in $CLAUDE_CONFIG_DIR or ~/.claude")
	cmd.Flags().StringVar(&gates, "gate", "", "tool calls that always need a person, such as 'Bash(git push *)|mcp__prod__.*'")
	hookOptionFlags(cmd, &f)
	return cmd
}

// hookSetup describes a command that adds one hook to the settings of an agent
// that waits for its hooks.
type hookSetup struct {
	name, title, long, file string
	examples                string
	path                    func() (string, error)
	apply                   func(*setup.Settings, setup.HookOptions) error
	instead                 string // command to answer at the terminal as well, with a grace period
}

func initCodex() *cobra.Command {
	return hookSetup{
		name: "codex", title: "Codex", file: "hooks.json in $CODEX_HOME or ~/.codex", path: setup.CodexHooks, apply: (*setup.Settings).Codex,
		examples: "  nod init codex --fail open\n  nod init codex --undo",
		instead:  "to answer at the terminal as well, use nod proxy codex --grace %s instead of the hook",
		long: `Add nod's hook for permission requests to Codex's hooks.json and keep all other
hooks. Run it again after a change. --undo removes the hook. Codex asks once
whether to trust new hooks.

The hook blocks Codex's terminal until someone answers in chat. To answer at
both, use nod proxy codex instead. If a model reviews what needs approval, people
are asked only if a rule of nod's policy says so.`,
	}.command()
}

func initCopilot() *cobra.Command {
	return hookSetup{
		name: "copilot", title: "Copilot CLI", file: "hooks/nod.json in $COPILOT_HOME or ~/.copilot", path: setup.CopilotHooks, apply: (*setup.Settings).Copilot,
		examples: "  nod init copilot --route prod\n  nod init copilot --undo",
		instead:  "omit it",
		long: `Add nod's hook for permission requests to the hooks of Copilot CLI and keep all
other hooks. Run it again after a change. --undo removes the hook.

Copilot runs the hook before every call that does more than read, even before
calls that it would allow. Therefore, nod asks people only if a rule of its
policy says so, and a rule can deny. Copilot decides on all other calls, and
asks at its terminal as usual.`,
	}.command()
}

func (h hookSetup) command() *cobra.Command {
	var s setup.Settings
	var f setup.HookOptions
	cmd := &cobra.Command{
		Use:     h.name,
		Short:   "Add nod's hooks to the settings of " + h.title,
		Long:    h.long + "\n\nSet NOD_TOKEN in the environment of the agent, and NOD_URL if the daemon runs on\nanother host.",
		Example: h.examples,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.Grace != 0 {
				hint := h.instead
				if strings.Contains(hint, "%s") {
					hint = fmt.Sprintf(hint, f.Grace)
				}
				return bridge.Errorf(bridge.CodeInvalid, "--grace: not supported, because the hook blocks the terminal and no one could answer there").WithHint("%s", hint)
			}
			if s.Path == "" {
				var err error
				if s.Path, err = h.path(); err != nil {
					return err
				}
			}
			s.Out, s.Talk = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return h.apply(&s, f)
		},
	}
	settingsFlags(cmd, &s, "")
	cmd.Flags().Lookup("file").Usage = "file to change (default " + h.file + ")"
	hookOptionFlags(cmd, &f)
	cmd.Flags().Lookup("grace").Usage = "not supported, because the hook blocks the terminal"
	return cmd
}

func initMCP() *cobra.Command {
	var s setup.Settings
	var client string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Add nod to the servers of an MCP client",
		Long: `Add nod to the servers in the JSON file of an MCP client, in the format of that
client, and keep all other servers. nod recognizes the client by the name of the
file or by the servers in it; --client names it. Set NOD_TOKEN in the environment of the client, and NOD_URL if the
daemon runs on another host.

A client that supports HTTP does not need this command: configure /mcp on the
daemon as its server, with the header Authorization: Bearer and the token.`,
		Example: "  nod init mcp\n  nod init mcp --file ~/.cursor/mcp.json\n  nod init mcp --file servers.json --client vscode",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.Out, s.Talk = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return s.MCP(client)
		},
	}
	settingsFlags(cmd, &s, ".mcp.json")
	cli.ChoiceVar(cmd.Flags(), &client, "client", "", "client that reads the file, if nod cannot tell from its name", setup.AgentNames()...)
	return cmd
}

func hookOptionFlags(cmd *cobra.Command, f *setup.HookOptions) {
	cmd.Flags().StringVar(&f.Route, "route", "", "route to use")
	cli.DurationVar(cmd.Flags(), &f.Timeout, "timeout", 0, "how long people have to answer (default 1h)")
	cli.DurationVar(cmd.Flags(), &f.Grace, "grace", 0, "wait this long before posting, so that you can answer locally")
	cli.ChoiceVar(cmd.Flags(), &f.Unanswered, "unanswered", "", "on timeout: ask at the agent's terminal (default), or deny", "ask", "deny")
	cli.ChoiceVar(cmd.Flags(), &f.Fail, "fail", "", "if the daemon is unreachable: closed (default) or open", "closed", "open")
}

// platformIDs holds the flags for the IDs on a platform.
type platformIDs struct{ channel, user *string }

// setupFlags adds the flags of nod init and returns the IDs of each platform.
func setupFlags(cmd *cobra.Command, s *setup.Init) map[string]platformIDs {
	ids := map[string]platformIDs{}
	f := cmd.Flags()
	configFlag(cmd, &s.Path, cmp.Or(configPath(), config.Installed(), config.Name))
	f.StringVar(&s.EnvFile, "env-file", "", "store secrets as variables in this file, for Compose and Kubernetes")
	f.StringSliceVar(&s.Platforms, "platforms", nil, "platforms to connect: "+strings.Join(kinds.Names(), ", "))
	f.StringVar(&s.Person, "person", "", "your name, as nod displays it")
	f.StringVar(&s.Agent, "agent", "", "name of the first agent (default \"agent\")")
	f.StringVar(&s.Redis, "redis", "", "URL of Redis (default redis://127.0.0.1:6379/0)")
	for _, k := range kinds.All {
		channel := f.String(k.Name+"-"+k.Setup.Place, "", "ID of the "+k.Setup.Place+" for cards")
		user := f.String(k.Name+"-user", "", "ID of your account")
		ids[k.Name] = platformIDs{channel, user}
	}
	f.BoolVar(&s.Yes, "yes", false, "do not prompt; use flags, the environment and defaults")
	f.BoolVar(&s.Unchecked, "no-check", false, "do not contact the platforms")
	return ids
}
