package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/api"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/cmd/nod/cli"
	"github.com/nodbridge/nod/cmd/nod/setup"
	"github.com/nodbridge/nod/cmd/nod/terminal"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/render"
)

func healthCommand() *cobra.Command {
	var url, path string
	var ready bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Check the health of the running daemon",
		Long: `Check the health of the running daemon and print the state of its parts. It
needs no token and posts nothing, so containers and supervisors can run it often.

The daemon is healthy if Redis stores requests and decisions. With --ready, a
platform must be connected as well. A restart fixes neither, so do not restart
a daemon because this check fails.

Exit codes: 0 healthy, 1 not healthy, or no daemon answers.`,
		Example: "  nod health\n  nod health --ready --url http://127.0.0.1:8787",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if url == "" {
				var err error
				if url, err = localURL(path); err != nil {
					return err
				}
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			var h api.Health
			ok, err := client.New(url, "", nil).Health(ctx, ready, &h)
			if bridge.ErrorCode(err) == bridge.CodeInvalid {
				return err
			}
			if err != nil {
				cli.Complain(cmd.ErrOrStderr(), err)
				return cli.ExitError(1)
			}
			if err := printHealth(cmd.OutOrStdout(), h); err != nil {
				return err
			}
			if !ok {
				return cli.ExitError(1)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&url, "url", os.Getenv("NOD_URL"), "URL of the daemon (NOD_URL; default: the listen address of the config)")
	configFlag(cmd, &path, configPath())
	cmd.Flags().BoolVar(&ready, "ready", false, "require a connected platform as well")
	cli.DurationVar(cmd.Flags(), &timeout, "timeout", 3*time.Second, "how long to wait for the daemon")
	return cmd
}

// localURL returns the URL at which the daemon of a config listens.
func localURL(path string) (string, error) {
	c, err := config.Read(path, os.Environ())
	if err != nil {
		return "", bridge.Wrap(bridge.CodeInvalid, err, "config")
	}
	return setup.LocalURL(c)
}

// healthColors are the colors of states that need attention.
var healthColors = map[bridge.HealthState]terminal.Color{
	bridge.HealthUp: terminal.Green, bridge.HealthStandby: terminal.Green, bridge.HealthDown: terminal.Red,
	bridge.HealthStarting: terminal.Yellow, bridge.HealthDegraded: terminal.Yellow,
}

// printHealth writes one line for each part of the daemon.
func printHealth(w io.Writer, h api.Health) error {
	var t terminal.Table
	t.Head("PART", "STATE", "REASON")
	row := func(name string, p bridge.Health) {
		state := string(p.State)
		t.Row(terminal.Cell{Text: name}, terminal.Cell{Text: state, Color: healthColors[p.State]}, terminal.Cell{Text: render.Line(p.Reason)})
	}
	row("redis", h.Redis)
	for _, name := range slices.Sorted(maps.Keys(h.Platforms)) {
		row(name, h.Platforms[name])
	}
	row("keys", h.Keys)
	row("audit", h.Audit)
	if err := t.Write(w); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "status:", render.Line(h.Status))
	return err
}
