// Package pairs compares the benchmark of two builds of nod. It runs them
// alternately, so that both are exposed to the same noise. It prints the
// medians of each row: the figure, its ratio within the pairs, and the
// processor time of an operation. Rows of the two builds belong together if
// they have the same name, regardless of the figure that they are compared
// with.
package pairs

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
)

const usage = `Usage: bench pairs [flags] BEFORE AFTER [-- FLAGS OF BOTH]

BEFORE and AFTER are commands that run the benchmark, with flags if needed, such
as bin/bench, or "old/nod bench" for a build that had the benchmark in nod.

`

// row is one row of the output of bench -json.
type row struct {
	Name, Unit string
	Value      float64
	Busy       bool
	Cost       *struct{ Process, Redis float64 }
}

// taken holds the runs of a row: those of the first build and those of the
// second.
type taken struct {
	row
	values, process, redis [2][]float64
	busy                   int
}

// Run measures the two builds that args name, and prints a table.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("bench pairs", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(stderr, usage); flags.PrintDefaults() }
	n := flags.Int("n", 7, "number of `pairs`")
	only := flags.String("only", "", "rows to measure, as for bench; several `names` are separated by semicolons")
	if flags.Parse(args) != nil {
		return flag.ErrHelp // flag has printed the error
	}
	if flags.NArg() < 2 || *n < 1 {
		flags.Usage()
		return flag.ErrHelp
	}
	more := flags.Args()[2:]
	if len(more) > 0 && more[0] == "--" {
		more = more[1:]
	}
	var rows []*taken
	for pair := range *n {
		for _, name := range strings.Split(*only, ";") {
			for side, command := range flags.Args()[:2] {
				got, err := measure(ctx, command, append([]string{"--only", strings.TrimSpace(name)}, more...), stderr)
				if err != nil {
					return fmt.Errorf("%s: %w", command, err)
				}
				rows = add(rows, got, side)
			}
		}
		fmt.Fprintf(stderr, "pair %d of %d\n", pair+1, *n)
	}
	report(stdout, rows)
	return nil
}

// measure runs the benchmark of a build once.
func measure(ctx context.Context, command string, args []string, stderr io.Writer) ([]row, error) {
	words := strings.Fields(command)
	if len(words) == 0 {
		return nil, fmt.Errorf("no command")
	}
	args = slices.Concat(words[1:], []string{"--json", "--repeats", "1"}, args)
	cmd := exec.CommandContext(ctx, words[0], args...)
	var lines strings.Builder
	cmd.Stderr = &lines
	raw, err := cmd.Output()
	if err != nil {
		fmt.Fprint(stderr, lines.String())
		return nil, err
	}
	var out struct{ Results []row }
	return out.Results, json.Unmarshal(raw, &out)
}

// add adds the figures of a run to those of earlier runs. If rows of the run
// have the same name, it counts the first.
func add(rows []*taken, run []row, side int) []*taken {
	seen := map[string]bool{}
	for _, r := range run {
		if !seen[r.Name] {
			rows = addRow(rows, r, side)
		}
		seen[r.Name] = true
	}
	return rows
}

func addRow(rows []*taken, r row, side int) []*taken {
	n := slices.IndexFunc(rows, func(t *taken) bool { return t.Name == r.Name })
	if n < 0 {
		n, rows = len(rows), append(rows, &taken{row: r})
	}
	t := rows[n]
	t.values[side] = append(t.values[side], r.Value)
	if r.Cost != nil {
		t.process[side] = append(t.process[side], r.Cost.Process)
		t.redis[side] = append(t.redis[side], r.Cost.Redis)
	}
	if r.Busy {
		t.busy++
	}
	return rows
}

// report writes a table with a line for each figure that both builds have.
func report(w io.Writer, rows []*taken) {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "row\tfigure\tbefore\tafter\tafter/before\tleast\tmost\tpairs\tbusy runs")
	for _, r := range rows {
		unit := r.Unit
		if unit == "" {
			unit = "number"
		}
		for _, f := range []struct {
			name  string
			sides [2][]float64
		}{{unit, r.values}, {"µs of nod and callers", r.process}, {"µs of Redis", r.redis}} {
			line(t, r, f.name, f.sides)
		}
	}
	_ = t.Flush() // nothing to do if the output is closed
}

func line(w io.Writer, r *taken, name string, sides [2][]float64) {
	n := min(len(sides[0]), len(sides[1]))
	if n == 0 || slices.Max(sides[0]) == 0 {
		return
	}
	var ratios []float64
	for k := range n {
		ratios = append(ratios, sides[1][k]/sides[0][k])
	}
	fmt.Fprintf(w, "%s\t%s\t%.4g\t%.4g\t%.2f\t%.2f\t%.2f\t%d\t%d\n", r.Name, name,
		median(sides[0]), median(sides[1]), median(ratios), slices.Min(ratios), slices.Max(ratios), n, r.busy)
}

// median returns the middle of one or more figures, or the mean of the two in
// the middle.
func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
