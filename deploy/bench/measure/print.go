package measure

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Print writes the results as a table.
func Print(w io.Writer, results []Result) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "measurement\tnod\tcompared with\tfigure\tratio\tgoal\t")
	for _, r := range results {
		sign, mark := "≥", "missed"
		if r.Most {
			sign = "≤"
		}
		if r.OK {
			mark = "ok"
		}
		if r.Skipped != "" {
			fmt.Fprintf(t, "%s\t%s %s\t%s\t\t\t\tskipped: %s\n", r.Name, figure(r.Value), r.Unit, r.Against, r.Skipped)
			continue
		}
		if r.Busy {
			mark += fmt.Sprintf(" (others used %.0f %%)", 100*r.Others)
		}
		goal := sign + " " + strconv.FormatFloat(r.Goal, 'g', -1, 64)
		if r.Goal == 0 {
			goal, mark = "", strings.Replace(mark, "ok", "shown", 1)
		}
		fmt.Fprintf(t, "%s\t%s %s\t%s\t%s %s\t%.2f\t%s\t%s\n",
			r.Name, figure(r.Value), r.Unit, r.Against, figure(r.Other), r.Unit, r.Ratio, goal, mark)
	}
	return errors.Join(t.Flush(), printCosts(w, results))
}

// printCosts writes the processor time of the rows that count operations.
func printCosts(w io.Writer, results []Result) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	seen := map[string]bool{}
	for _, r := range results {
		if r.Cost == nil || seen[r.Name] {
			continue
		}
		if len(seen) == 0 {
			fmt.Fprintln(t, "\nprocessor time of each operation\tof\tnod and callers\tRedis")
		}
		seen[r.Name] = true
		redis := figure(r.Cost.Redis) + " µs"
		if r.Cost.Redis == 0 {
			redis = ""
		}
		fmt.Fprintf(t, "%s\t%s\t%s µs\t%s\n", r.Name, r.Cost.Operation, figure(r.Cost.Process), redis)
	}
	return t.Flush()
}

// figure formats a number with three significant digits.
func figure(v float64) string {
	if v >= 100 || v == 0 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
