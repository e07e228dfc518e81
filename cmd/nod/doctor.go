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
		Long: `Check the config, Redis, and each platform: tokens, scopes, channels, how presses
come in, clocks, persistence, eviction. Then post a test ask to the default
route and wait for your press, and name the hop that failed.

The test needs no running daemon, and does no harm to one: it runs one of its
own beside it, on the same Redis. With --offline only the config is checked.
The exit code is 1 if a check failed; warnings do not count.`,
		Example: "  nod doctor --config nod.yaml\n  nod doctor --offline\n  nod doctor --no-ask --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.Talk = cmd.ErrOrStderr()
			d.Examine(cmd.Context())
			var err error
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), map[string]any{"ok": !d.Failed(), "findings": d.Findings})
			} else {
				err = d.Print(cmd.OutOrStdout())
			}
			if err != nil {
				return err
			}
			if d.Failed() {
				return exitError(1)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&d.Path, "config", "c", configPath(), configUsage)
	cmd.Flags().BoolVar(&d.Offline, "offline", false, "check the config only; nothing is contacted")
	cmd.Flags().BoolVar(&d.NoAsk, "no-ask", false, "post no test ask")
	cmd.Flags().StringVar(&d.Route, "route", bridge.DefaultRoute, "route of the test ask")
	cmd.Flags().DurationVar(&d.Timeout, "timeout", 2*time.Minute, "how long the test waits for your press")
	cmd.Flags().StringVar(&d.URL, "url", os.Getenv("NOD_URL"), "address of the running daemon (NOD_URL; default where the config listens)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
