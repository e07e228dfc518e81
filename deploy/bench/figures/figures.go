// Package figures copies the results of a benchmark into the documentation, so
// that all tables show the same run. It reads the JSON output of bench and of
// bench -scale. It replaces only the text between its marks.
package figures

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/nodbridge/nod/deploy/bench/measure"
)

// output is the JSON output of bench, with or without -scale.
type output struct {
	Version, Machine string
	Span             string
	Repeats, Pending int
	Results          []measure.Result
	Scale            []measure.Scaled
}

// Run fills the pages of the documentation with the runs that args name.
func Run(args []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("figures", flag.ContinueOnError)
	flags.SetOutput(stderr)
	docs := flags.String("docs", "docs", "`directory` of the documentation")
	if flags.Parse(args) != nil {
		return flag.ErrHelp // flag has printed the error
	}
	if flags.NArg() != 2 {
		return errors.New("usage: bench figures [-docs DIR] RUN.json SCALE.json")
	}
	var all, scaled output
	if err := errors.Join(read(flags.Arg(0), &all), read(flags.Arg(1), &scaled)); err != nil {
		return err
	}
	if len(all.Results) == 0 || len(scaled.Scale) == 0 {
		return errors.New("the first file must be from bench -json, the second from bench -scale -json")
	}
	results, err := all.results()
	if err != nil {
		return err
	}
	figures, err := newFigures(all.Results)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(*docs, "images/bench.svg"), measure.Chart(all.Results), 0o644); err != nil { //nolint:gosec // everyone may read it
		return err
	}
	return errors.Join(
		fill(filepath.Join(*docs, "performance.md"), map[string]string{"results": results, "scaling": scaled.scaling()}),
		fill(filepath.Join(*docs, "operate/capacity.md"), map[string]string{
			"figures": figures.table(all.Pending), "load": figures.load(), "waiting": figures.waiting(),
		}),
	)
}

func read(path string, out *output) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// results returns the table of all rows.
func (o output) results() (string, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s; %s for each figure, medians of %d, %d requests in the rows with many:\n\n```\n",
		o.Machine, o.Span, o.Repeats, o.Pending)
	err := measure.Print(&b, o.Results)
	return b.String() + "```\n", err
}

// scaling returns the table on how nod scales.
func (o output) scaling() string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s:\n\n```\n", o.Machine)
	measure.ScaleHead(&b)
	for _, s := range o.Scale {
		s.Print(&b)
	}
	return b.String() + "```\n"
}

// fill replaces the text between the marks of a page.
func fill(path string, parts map[string]string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	page := string(raw)
	for name, text := range parts {
		from, to := "<!-- figures: "+name+" -->\n", "<!-- end of figures -->"
		before, rest, found := strings.Cut(page, from)
		_, after, ended := strings.Cut(rest, to)
		if !found || !ended {
			return fmt.Errorf("%s has no mark %q", path, strings.TrimSpace(from))
		}
		page = before + from + "\n" + text + "\n" + to + after
	}
	return os.WriteFile(path, []byte(page), 0o644) //nolint:gosec // everyone may read the page
}
