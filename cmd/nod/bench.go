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
		Long: `Measure nod and compare each figure with a limit, or with another system in the
same run. The benchmark starts its own redis-server, from PATH, with an
append-only file that is synced every second. Each figure is the median of the
repeats, except for slow measurements, which run once. The ratio is the result.
A row is marked if other processes used more than a tenth of the machine. After
the rows comes the processor time of each operation. It takes several minutes on
an otherwise idle machine. docs/performance.md explains each row.`,
		Example: "  nod bench\n  nod bench --only cycles --span 1s --repeats 1 --json\n  nod bench --scale",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Repeats < 1 || o.Span < 100*time.Millisecond || o.Pending < 100 {
				return bridge.Errorf(bridge.CodeInvalid, "--repeats must be at least 1, --span at least 100ms, and --pending at least 100")
			}
			machine, err := bench.Machine(cmd.Context())
			if err != nil {
				return err
			}
			if scale {
				return benchScale(cmd, o, machine, asJSON)
			}
			if o.Nod, err = os.Executable(); err != nil {
				return err
			}
			o.Progress = func(r bench.Result) { fmt.Fprintf(cmd.ErrOrStderr(), "%s / %s: %.2f\n", r.Name, r.Against, r.Ratio) }
			results, err := bench.Run(cmd.Context(), o)
			if err != nil {
				return err
			}
			if chart != "" {
				if err := os.WriteFile(chart, bench.Chart(results), 0o644); err != nil { //nolint:gosec // everyone may read the chart
					return bridge.Wrap(bridge.CodeInvalid, err, "--svg")
				}
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), benchOutput(o, machine, "results", results))
			}
			fmt.Fprintln(cmd.OutOrStdout(), benchHead(o, machine))
			return bench.Print(cmd.OutOrStdout(), results)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print the results as JSON")
	f.StringVar(&chart, "svg", "", "write a chart of the ratios and their goals to this file")
	durationVar(f, &o.Span, "span", 2*time.Second, "how long to measure each figure")
	f.IntVar(&o.Repeats, "repeats", 3, "number of repeats; the result is the median")
	f.IntVar(&o.Pending, "pending", 100_000, "number of requests in the rows with many pending requests")
	f.StringVar(&o.Only, "only", "", "only rows whose name contains this, and rows measured with them")
	f.StringVar(&o.Peers, "peers", "", "program that measures other systems; built by make bench")
	f.BoolVar(&scale, "scale", false, "measure how cycles scale with pending requests, Redis Cluster and several daemons")
	return cmd
}

// benchScale prints how cycles scale, each line as soon as it is measured unless
// the output is JSON.
func benchScale(cmd *cobra.Command, o bench.Options, machine string, asJSON bool) error {
	lines, w := []bench.Scaled{}, cmd.OutOrStdout()
	if !asJSON {
		fmt.Fprintln(w, benchHead(o, machine))
		bench.ScaleHead(w)
	}
	err := bench.Scale(cmd.Context(), o, func(s bench.Scaled) {
		if lines = append(lines, s); !asJSON {
			s.Print(w)
		}
	})
	if err != nil || !asJSON {
		return err
	}
	return printJSON(w, benchOutput(o, machine, "scale", lines))
}

// benchHead returns the line above the results.
func benchHead(o bench.Options, machine string) string {
	return fmt.Sprintf("nod %s, %s; %s for each figure, medians of %d, %d requests in the rows with many", version, machine, o.Span, o.Repeats, o.Pending)
}

// benchOutput returns the results as JSON shows them.
func benchOutput(o bench.Options, machine, name string, results any) map[string]any {
	return map[string]any{
		"version": version, "machine": machine, "span": o.Span.String(), "repeats": o.Repeats, "pending": o.Pending, name: results,
	}
}
