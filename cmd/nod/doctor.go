package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/cli"
	"github.com/nodbridge/nod/cmd/nod/setup"
)

func doctorCommand() *cobra.Command {
	d := setup.Doctor{Agents: []setup.Coverage{}}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the setup and report how to fix it",
		Long: `Check the config, Redis and each platform: tokens, scopes, channels, accounts of
people, how clicks arrive, clocks, persistence and eviction. Read each on-call
schedule once: who is on call now, and what cannot be read. Then post a test
question to the default route, wait for your click, and report the step that failed.

The test needs a running daemon. It stores a question in Redis, which the running
daemons post and close like any other, and it touches no other request. With
--offline, only the config and the agents on this machine are checked. The exit
code is 1 if a check failed. Warnings do not count.

The doctor also reads the settings of the coding agents on this machine, in the
home directory and in this directory. For each agent that uses nod, it reports how
many of its tool calls need a person:

  gated       no tool that changes anything runs without a person
  partly      some tool calls need a person
  not at all  nod does not see the tool calls
  fails open  a gate is configured, but the tool runs if the gate fails

It names the version of the program with which the behavior was tested, or
states that it is known only from the documentation. This is not a proof: an
agent that may write its settings can change them. With --agents, nod reports
all agents that are installed and checks nothing else, so it needs no config.
With --require, a lower level fails.`,
		Example: "  nod doctor --config nod.yaml\n  nod doctor --offline\n  nod doctor --no-ask --json\n  nod doctor --agents --require partly",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.Talk = cmd.ErrOrStderr()
			if !asJSON {
				d.Out = cmd.OutOrStdout()
			}
			d.Examine(cmd.Context())
			if asJSON {
				if err := printJSON(cmd.OutOrStdout(), map[string]any{"ok": !d.Failed(), "findings": d.Findings, "agents": d.Agents}); err != nil {
					return err
				}
			}
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			if d.Failed() {
				return cli.ExitError(1)
			}
			return nil
		},
	}
	configFlag(cmd, &d.Path, configPath())
	cmd.Flags().BoolVar(&d.Offline, "offline", false, "check only the config and agents; contact nothing")
	cmd.Flags().BoolVar(&d.OnlyAgents, "agents", false, "check only the coding agents on this machine")
	cli.ChoiceVar(cmd.Flags(), (*string)(&d.Require), "require", "", "lowest level that does not fail: gated, partly, none or open", texts(setup.Levels...)...)
	cmd.Flags().BoolVar(&d.NoAsk, "no-ask", false, "do not post a test question")
	cmd.Flags().StringVar(&d.Route, "route", bridge.DefaultRoute, "route of the test question")
	cli.DurationVar(cmd.Flags(), &d.Timeout, "timeout", 2*time.Minute, "how long to wait for your click")
	cmd.Flags().StringVar(&d.URL, "url", os.Getenv("NOD_URL"), "URL of the running daemon (NOD_URL; default: the listen address of the config)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	return cmd
}
