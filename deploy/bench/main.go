// Command bench measures nod, and compares it with limits and with other
// systems in the same run on the same machine. It is a separate module, so that
// nod links neither the benchmark nor the systems. Most rows measure the
// packages of nod that this program links; rows about a daemon measure the
// program of -nod. Package pairs compares two builds. Start with package
// measure, which has the rows.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/deploy/bench/figures"
	"github.com/nodbridge/nod/deploy/bench/measure"
	"github.com/nodbridge/nod/deploy/bench/pairs"
	"github.com/nodbridge/nod/deploy/bench/peers"
)

func main() {
	daemon.QuietRedis()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	switch {
	case err == nil:
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

const usage = `Usage: bench [flags]
       bench pairs [flags] BEFORE AFTER [-- FLAGS OF BOTH]
       bench figures [-docs DIR] RUN.json SCALE.json

The benchmark starts its own redis-server, from PATH, with an append-only file
that is synced every second. Each figure is the median of the repeats, except
for slow measurements, which run once. The ratio is the result. A row is marked
if other processes used more than a tenth of the machine. After the rows comes
the processor time of each operation. It takes several minutes on an otherwise
idle machine. docs/performance.md explains each row.

`

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if len(args) > 0 {
		switch rest := args[1:]; args[0] {
		case "pairs":
			return pairs.Run(ctx, rest, stdout, stderr)
		case "figures":
			return figures.Run(rest, stderr)
		case "peer": // these two are started by the benchmark
			return peers.Run(ctx, rest, stdout)
		case "null":
			return measure.ServeNull(ctx, stdin, stdout)
		}
	}
	return bench(ctx, args, stdout, stderr)
}

// settings are the flags of the benchmark.
type settings struct {
	measure.Options
	json, scale, peers bool
	chart              string
	machine            string
}

func parse(args []string, stderr io.Writer) (settings, error) {
	var s settings
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() { fmt.Fprint(stderr, usage); f.PrintDefaults() }
	f.BoolVar(&s.json, "json", false, "print the results as JSON")
	f.StringVar(&s.chart, "svg", "", "write a chart of the ratios and their goals to this `file`")
	f.DurationVar(&s.Span, "span", 2*time.Second, "how long to measure each figure")
	f.IntVar(&s.Repeats, "repeats", 3, "number of repeats; the result is the median")
	f.IntVar(&s.Pending, "pending", 100_000, "number of requests in the rows with many pending requests")
	f.StringVar(&s.Only, "only", "", "only rows whose `name` contains this, and rows measured with them")
	f.StringVar(&s.Nod, "nod", "bin/nod", "nod `program` whose daemon is measured; built by make build")
	f.BoolVar(&s.peers, "peers", false, "measure other systems, too")
	f.BoolVar(&s.scale, "scale", false, "measure how cycles scale with pending requests, Redis Cluster and several daemons")
	if f.Parse(args) != nil {
		return s, flag.ErrHelp // flag has printed the error
	}
	if f.NArg() > 0 {
		return s, fmt.Errorf("unknown command %q", f.Arg(0))
	}
	if s.Repeats < 1 || s.Span < 100*time.Millisecond || s.Pending < 100 {
		return s, errors.New("-repeats must be at least 1, -span at least 100ms, and -pending at least 100")
	}
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	s.Self, s.Peers = self, s.peers
	s.Nod, err = filepath.Abs(s.Nod)
	return s, err
}

func bench(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if s.machine, err = measure.Machine(ctx); err != nil {
		return err
	}
	if s.scale {
		return s.printScale(ctx, stdout)
	}
	s.Progress = func(r measure.Result) { fmt.Fprintf(stderr, "%s / %s: %.2f\n", r.Name, r.Against, r.Ratio) }
	results, err := measure.Run(ctx, s.Options)
	if err != nil {
		return err
	}
	if s.chart != "" {
		if err := os.WriteFile(s.chart, measure.Chart(results), 0o644); err != nil { //nolint:gosec // everyone may read the chart
			return err
		}
	}
	if s.json {
		return s.printJSON(stdout, "results", results)
	}
	fmt.Fprintln(stdout, s.head())
	return measure.Print(stdout, results)
}

// printScale prints how cycles scale. It prints each line as soon as it is
// measured, unless the output is JSON.
func (s settings) printScale(ctx context.Context, w io.Writer) error {
	lines := []measure.Scaled{}
	if !s.json {
		fmt.Fprintln(w, s.head())
		measure.ScaleHead(w)
	}
	err := measure.Scale(ctx, s.Options, func(l measure.Scaled) {
		if lines = append(lines, l); !s.json {
			l.Print(w)
		}
	})
	if err != nil || !s.json {
		return err
	}
	return s.printJSON(w, "scale", lines)
}

// head returns the line above the results.
func (s settings) head() string {
	return fmt.Sprintf("nod %s, %s; %s for each figure, medians of %d, %d requests in the rows with many",
		version(), s.machine, s.Span, s.Repeats, s.Pending)
}

func (s settings) printJSON(w io.Writer, name string, results any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{
		"version": version(), "machine": s.machine, "span": s.Span.String(), "repeats": s.Repeats, "pending": s.Pending, name: results,
	})
}

// version returns the commit from which this program was built.
func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(len(s.Value), 12)]
		}
	}
	return "of an unknown commit"
}
