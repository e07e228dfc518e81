package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/cmd/nod/cli"
	"github.com/nodbridge/nod/cmd/nod/setup"
)

const agentsUsage = "only these agents, separated by commas (default: all installed agents)"

func initAll() *cobra.Command {
	var s setup.InitAll
	var gates string
	cmd := &cobra.Command{
		Use:   "all",
		Short: "Add nod to every agent that is installed",
		Long: `Find the agents that are installed for this user, show what would change in
their settings, and change it after a confirmation. All other settings and
comments stay. Another run changes nothing.

--undo restores each file exactly. From a file that has changed since, it
removes only nod's entries.

nod knows ` + wrapped(setup.AgentNames()) + `.

Claude Code, Codex and Copilot CLI get nod's hooks. The agents that you added to Zed start
through nod proxy acp. The others get nod as an MCP server: their model can ask
people, but nothing makes it ask. See what that covers with: nod doctor --agents`,
		Example: "  nod init all\n  nod init all --yes --gate '*'\n  nod init all --agents claude,zed --print\n  nod init all --undo",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("gate") {
				var err error
				if s.Hooks.Gates, err = policy.ParseGates(gates); err != nil {
					return err
				}
			}
			s.Stdin, s.Out, s.Talk = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			return s.Run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&s.Agents, "agents", nil, agentsUsage)
	f.BoolVar(&s.Yes, "yes", false, "do not prompt")
	f.BoolVar(&s.Print, "print", false, "print the changes and write nothing")
	f.BoolVar(&s.Undo, "undo", false, "restore the files")
	f.StringVar(&gates, "gate", "", "tool calls of Claude Code that always need a person, or '*'")
	f.StringVar(&s.Hooks.Route, "route", "", "route to use")
	cli.DurationVar(f, &s.Hooks.Timeout, "timeout", 0, "how long people have to answer (default 1h)")
	cli.DurationVar(f, &s.Hooks.Grace, "grace", 0, "wait this long before posting, where you can answer locally")
	return cmd
}

// wrapped joins names with commas and wraps the lines of a help text.
func wrapped(names []string) string {
	var b strings.Builder
	width := len("nod knows ")
	for n, name := range names {
		switch {
		case n == 0:
		case width+len(name)+3 > 80:
			b.WriteString(",\n")
			width = 0
		default:
			b.WriteString(", ")
			width += 2
		}
		b.WriteString(name)
		width += len(name)
	}
	return b.String()
}
