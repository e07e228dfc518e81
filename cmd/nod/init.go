package main

import (
	"cmp"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/cmd/nod/setup"
	"github.com/nodbridge/nod/config"
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
	s := setup.Init{Channels: map[string]string{}, Users: map[string]string{}}
	ids := setupFlags(cmd, &s)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		for p, id := range ids {
			s.Channels[p], s.Users[p] = *id.channel, *id.user
		}
		s.Stdin, s.Talk = cmd.InOrStdin(), cmd.ErrOrStderr()
		return s.Run(cmd.Context())
	}
	cmd.AddCommand(initClaude(), initCodex(), initMCP())
	return cmd
}

func settingsFlags(cmd *cobra.Command, s *setup.Settings, file string) {
	cmd.Flags().StringVar(&s.Path, "file", file, "the file to change")
	cmd.Flags().BoolVar(&s.Undo, "undo", false, "take nod's entries out again")
	cmd.Flags().BoolVar(&s.Print, "print", false, "print what would be written, and write nothing")
}

func initClaude() *cobra.Command {
	var s setup.Settings
	var f setup.HookOptions
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
				s.Path = filepath.Join(home, ".claude", "settings.json")
			}
			s.Out, s.Talk = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return s.Claude(f)
		},
	}
	settingsFlags(cmd, &s, filepath.Join(".claude", "settings.local.json"))
	cmd.Flags().BoolVar(&user, "user", false, "for all projects: ~/.claude/settings.json")
	hookOptionFlags(cmd, &f)
	return cmd
}

func initCodex() *cobra.Command {
	var s setup.Settings
	var f setup.HookOptions
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
			if s.Path == "" {
				home := os.Getenv("CODEX_HOME")
				if home == "" {
					user, err := os.UserHomeDir()
					if err != nil {
						return err
					}
					home = filepath.Join(user, ".codex")
				}
				s.Path = filepath.Join(home, "hooks.json")
			}
			s.Out, s.Talk = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return s.Codex(f)
		},
	}
	settingsFlags(cmd, &s, "")
	cmd.Flags().Lookup("file").Usage = "the file to change (default $CODEX_HOME/hooks.json, else ~/.codex/hooks.json)"
	hookOptionFlags(cmd, &f)
	return cmd
}

func initMCP() *cobra.Command {
	var s setup.Settings
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
			s.Out, s.Talk = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return s.MCP()
		},
	}
	settingsFlags(cmd, &s, ".mcp.json")
	return cmd
}

func hookOptionFlags(cmd *cobra.Command, f *setup.HookOptions) {
	cmd.Flags().StringVar(&f.Route, "route", "", "route of the daemon's config")
	cmd.Flags().DurationVar(&f.Timeout, "timeout", 0, "how long people have to answer (default 1h)")
	cmd.Flags().DurationVar(&f.Grace, "grace", 0, "hold cards back so long, while you may answer at the keyboard")
	cmd.Flags().DurationVar(&f.Batch, "batch", 0, "wait so long for more requests of the session and show them in one message")
	cmd.Flags().StringVar(&f.Unanswered, "unanswered", "", "when nobody answers: ask at the terminal (default), or deny")
	cmd.Flags().StringVar(&f.Fail, "fail", "", "when the daemon can not be asked: closed (default) or open")
}

// platformIDs are the flags of a platform.
type platformIDs struct{ channel, user *string }

// setupFlags adds the flags of nod init, and returns those of each platform.
func setupFlags(cmd *cobra.Command, s *setup.Init) map[string]platformIDs {
	ids := map[string]platformIDs{}
	f := cmd.Flags()
	f.StringVarP(&s.Path, "config", "c", cmp.Or(configPath(), config.DefaultPath), configUsage)
	f.StringVar(&s.EnvFile, "env-file", "", "keep the secrets as variables in this file, as compose and Kubernetes take them")
	f.StringSliceVar(&s.Platforms, "platforms", nil, "slack, discord, telegram")
	f.StringVar(&s.Person, "person", "", "your name, as nod shows it")
	f.StringVar(&s.Agent, "agent", "", "name of the first agent (default \"agent\")")
	f.StringVar(&s.Redis, "redis", "", "address of Redis (default redis://127.0.0.1:6379/0)")
	for _, p := range setup.EveryPlatform {
		place := "channel"
		if p == config.PlatformTelegram {
			place = "chat"
		}
		channel := f.String(p+"-"+place, "", "id of the "+place+" where cards are shown")
		user := f.String(p+"-user", "", "id of your account")
		ids[p] = platformIDs{channel, user}
	}
	f.BoolVar(&s.Yes, "yes", false, "ask nothing: take flags, the environment and defaults")
	f.BoolVar(&s.Unchecked, "no-check", false, "do not contact the services")
	return ids
}
