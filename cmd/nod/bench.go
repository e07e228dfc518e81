package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/bench"
)

func benchCommand() *cobra.Command {
	var asJSON, scale bool
	var chart string
	var o bench.Options
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Benchmark nod against its theoretical limits",
		Long: `Measure nod on a redis-server of its own (found on the PATH, with an
append-only file synced each second), beside a limit or a peer in the same run.
Every figure is the median of the repeats, and what counts is the ratio. It
keeps the machine busy for some minutes; nothing else should. docs/performance.md
says what each row is.`,
		Example: "  nod bench\n  nod bench --only cycles --span 1s --repeats 1 --json\n  nod bench --scale",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Repeats < 1 || o.Span < 100*time.Millisecond || o.Pending < 100 {
				return bridge.Errorf(bridge.CodeInvalid, "--repeats is at least 1, --span at least 100ms, and --pending at least 100")
			}
			if scale {
				return bench.Scale(cmd.Context(), cmd.OutOrStdout(), o)
			}
			var err error
			if o.Nod, err = os.Executable(); err != nil {
				return err
			}
			o.Progress = func(r bench.Result) { fmt.Fprintf(cmd.ErrOrStderr(), "%s: %.2f\n", r.Name, r.Ratio) }
			results, err := bench.Run(cmd.Context(), o)
			if err != nil {
				return err
			}
			if chart != "" {
				if err := os.WriteFile(chart, bench.Chart(results), 0o644); err != nil { //nolint:gosec // a picture for everybody
					return bridge.Wrap(bridge.CodeInvalid, err, "--svg")
				}
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"results": results})
			}
			return bench.Print(cmd.OutOrStdout(), results)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print the results as JSON")
	f.StringVar(&chart, "svg", "", "draw the ratios beside their goals into a file")
	f.DurationVar(&o.Span, "span", 2*time.Second, "how long each figure is measured")
	f.IntVar(&o.Repeats, "repeats", 3, "how often; the medians count")
	f.IntVar(&o.Pending, "pending", 100_000, "how many requests wait in the rows with many")
	f.StringVar(&o.Only, "only", "", "only the rows whose name has this in it, and those that are taken with them")
	f.StringVar(&o.Peers, "peers", "", "program that measures other libraries; make bench builds it")
	f.BoolVar(&scale, "scale", false, "measure cycles with more and more pending, on a Cluster, and with several daemons instead")
	return cmd
}
