package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/setup"
	"github.com/nodbridge/nod/render"
)

func coverageCommand() *cobra.Command {
	var agents []string
	var require string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "coverage",
		Short: "Report which agents need a person for their tools",
		Long: `Read the settings of the agents that are installed, in the home directory and
in this directory, and report how far each needs a person:

  gated       no tool that changes anything runs without a person
  partly      some tool calls need a person
  not at all  nod does not see the tool calls
  fails open  a gate is configured, but the tool runs if the gate fails

The report names the version of the program with which the behavior was tested,
or states that it is known only from the documentation. A report is not a proof:
an agent that may write its settings can change them.

The exit code is 1 if an agent is below the level of --require.`,
		Example: "  nod coverage\n  nod coverage --require partly\n  nod coverage --agents claude --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			least := setup.Level(require)
			if !slices.Contains(setup.Levels, least) {
				return bridge.Errorf(bridge.CodeInvalid, "--require: unknown level %q", require).WithHint("use gated, partly, none or open")
			}
			found, err := setup.Survey(cmd.Context(), agents)
			if err != nil {
				return err
			}
			enough := !slices.ContainsFunc(found, func(a setup.Coverage) bool { return !a.Level.AtLeast(least) })
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), map[string]any{"ok": enough, "require": least, "agents": found})
			} else {
				err = printCoverage(cmd.OutOrStdout(), cmd.ErrOrStderr(), found)
			}
			if err == nil && !enough {
				return exitError(1)
			}
			return err
		},
	}
	cmd.Flags().StringSliceVar(&agents, "agents", nil, agentsUsage)
	cmd.Flags().StringVar(&require, "require", string(setup.LevelGated), "lowest level for exit code 0: gated, partly, none or open")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}

// printCoverage prints each agent with its level, and below it the reasons, the
// fix and the evidence.
func printCoverage(out, errs io.Writer, found []setup.Coverage) error {
	if len(found) == 0 {
		_, err := fmt.Fprintf(errs, "nod: found no agent that nod knows (%s)\n", strings.Join(setup.AgentNames(), ", "))
		return err
	}
	var b strings.Builder
	for _, a := range found {
		name := strings.TrimSpace(a.Title + " " + a.Version)
		fmt.Fprintf(&b, "%-10s  %s, %s\n", a.Level.Words(), render.Line(name), render.Line(a.Evidence()))
		for _, reason := range a.Reasons {
			fmt.Fprintf(&b, "%12s%s\n", "", render.Line(reason))
		}
		if a.Fix != "" {
			fmt.Fprintf(&b, "%12s→ %s\n", "", render.Line(a.Fix))
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
