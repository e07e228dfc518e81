// Command mutate changes the source of nod at random places, one change at a
// time, and reports the changes that no test notices. No file is changed: the
// changed text reaches the compiler as an overlay. Each survivor is either
// equivalent to the original or a hole in the tests.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// options are the flags of the command.
type options struct {
	number int
	seed   uint64
	only   string
	at     *regexp.Regexp
	list   bool
	narrow bool
	run    string
	exec   []string
	least  time.Duration
}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{at: regexp.MustCompile("")}
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.number, "n", 100, "number of changes")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the choice; the same seed and source give the same changes")
	flags.StringVar(&o.only, "only", "", "packages to change, separated by commas; a name ending in / includes the packages below it")
	flags.Func("at", "change only places that this regular expression matches, such as 'markdown.go:1\\d\\d ' or ' function$'", func(s string) (err error) {
		o.at, err = regexp.Compile(s)
		return err
	})
	flags.BoolVar(&o.list, "list", false, "print the changes without trying them")
	flags.BoolVar(&o.narrow, "narrow", false, "run only the tests of the changed package")
	flags.StringVar(&o.run, "run", ".", "run only the tests that this regular expression matches")
	wrapper := flags.String("exec", "", "command that runs each compiler and each test, such as nice")
	flags.DurationVar(&o.least, "limit", 30*time.Second, "shortest time limit of a test; it is longer if the unchanged source needs more")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.exec = strings.Fields(*wrapper)
	if flags.NArg() > 0 || o.number < 1 {
		flags.Usage()
		return o, flag.ErrHelp
	}
	return o, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		return 2
	}
	packages, err := load(ctx, chosen(o.only))
	if err != nil {
		fmt.Fprintln(stderr, "mutate:", err)
		return 2
	}
	changes := pick(packages, o)
	if o.list {
		for _, c := range changes {
			fmt.Fprintf(stdout, "%s\n%s\n", c, c.diff())
		}
		return 0
	}
	t, err := newTrier(o, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "mutate:", err)
		return 2
	}
	defer t.close()
	var tried []result
	for n, c := range changes {
		r, err := t.try(ctx, c)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			fmt.Fprintln(stderr, "mutate:", err)
			return 2
		}
		tried = append(tried, r)
		fmt.Fprintf(stderr, "%d/%d %s\n", n+1, len(changes), r)
	}
	return report(stdout, tried, len(changes))
}

// chosen returns the targets that the flag -only selects.
func chosen(only string) []target {
	if only == "" {
		return targets
	}
	return slices.DeleteFunc(slices.Clone(targets), func(t target) bool {
		return !slices.ContainsFunc(strings.Split(only, ","), func(name string) bool {
			return t.path == strings.TrimSuffix(name, "/") || strings.HasSuffix(name, "/") && strings.HasPrefix(t.path, name)
		})
	})
}

// pick returns random changes that compile, in the order of the targets.
func pick(packages []*source, o options) []change {
	var all, out []change
	for _, p := range packages {
		all = append(all, p.changes()...)
	}
	all = slices.DeleteFunc(all, func(c change) bool { return !o.at.MatchString(c.place()) })
	random := rand.New(rand.NewPCG(o.seed, 0))
	random.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
	for _, c := range all {
		if len(out) == o.number {
			break
		}
		if c.of.compiles(c) {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b change) int { return a.of.order - b.of.order })
	return out
}

// report prints a table and the diffs of the survivors. It returns 1 if there are
// survivors, or if changes were left out.
func report(w io.Writer, tried []result, planned int) int {
	survived := 0
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "RESULT\tCHANGE\tPLACE\tBY\tTIME")
	for _, r := range tried {
		verdict := "noticed"
		if r.by == "" {
			verdict = "survived"
			survived++
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", verdict, r.kind, r.place(), r.by, r.took.Round(time.Second))
	}
	_ = table.Flush()
	for _, r := range tried {
		if r.by == "" {
			fmt.Fprintf(w, "\nsurvived: %s\n%s", r.change, r.diff())
		}
	}
	fmt.Fprintf(w, "\n%d of %d changes noticed, %d survived, %d not tried\n", len(tried)-survived, len(tried), survived, planned-len(tried))
	if survived > 0 || len(tried) < planned {
		return 1
	}
	return 0
}
