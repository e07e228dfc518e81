package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/setup"
)

func doctorCommand() *cobra.Command {
	var d setup.Doctor
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the setup and report how to fix it",
		Long: `Check the config, Redis and each platform: tokens, scopes, channels, accounts of
people, how clicks arrive, clocks, persistence and eviction. Then post a test question to the
default route, wait for your click, and report the step that failed.

The test does not need a running daemon and does not affect one: it starts a
daemon of its own on the same Redis. With --offline, only the config is checked.
The exit code is 1 if a check failed. Warnings do not count.`,
		Example: "  nod doctor --config nod.yaml\n  nod doctor --offline\n  nod doctor --no-ask --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.Talk = cmd.ErrOrStderr()
			if !asJSON {
				d.Out = cmd.OutOrStdout()
			}
			d.Examine(cmd.Context())
			if asJSON {
				if err := printJSON(cmd.OutOrStdout(), map[string]any{"ok": !d.Failed(), "findings": d.Findings}); err != nil {
					return err
				}
			}
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			if d.Failed() {
				return exitError(1)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&d.Path, "config", "c", configPath(), configUsage)
	cmd.Flags().BoolVar(&d.Offline, "offline", false, "check only the config; contact nothing")
	cmd.Flags().BoolVar(&d.NoAsk, "no-ask", false, "do not post a test question")
	cmd.Flags().StringVar(&d.Route, "route", bridge.DefaultRoute, "route of the test question")
	durationVar(cmd.Flags(), &d.Timeout, "timeout", 2*time.Minute, "how long to wait for your click")
	cmd.Flags().StringVar(&d.URL, "url", os.Getenv("NOD_URL"), "URL of the running daemon (NOD_URL; default: the listen address of the config)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	return cmd
}
