package figures

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodbridge/nod/deploy/bench/measure"
)

// sample writes a run and a run with --scale, and returns their paths.
func sample(t *testing.T, change func(*output)) []string {
	t.Helper()
	run := output{Machine: "2 processors", Span: "2s", Repeats: 3, Pending: 100_000}
	for name, value := range map[string]float64{
		"memory of an idle daemon": 35, "memory of the daemon per caller that waits over HTTP": 16,
		"memory of the daemon per caller on a WebSocket of its own": 20, "Redis memory per request, without payload": 0.9,
		"cycles over HTTP, 64 callers": 1500, "cycles, 64 callers": 6000, "connections to Redis, many callers blocked": 4,
		"cores used by Redis while they wait": 0.015, "cores used by the daemon while they wait": 0.03,
		"time to process many simultaneous timeouts": 4.2,
	} {
		r := measure.Result{Name: name, Value: value, Other: 1, Ratio: value}
		if strings.HasPrefix(name, "cycles") {
			r.Cost = &measure.Cost{Operation: "cycle", Process: 1000, Redis: 250}
		}
		run.Results = append(run.Results, r)
	}
	scaled := output{Machine: "2 processors", Scale: []measure.Scaled{{Daemons: 1, Pending: 1000, Cycles: 3000}}}
	if change != nil {
		change(&run)
	}
	var paths []string
	for _, o := range []output{run, scaled} {
		raw, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "run.json")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// pages copies the pages that are filled.
func pages(t *testing.T) string {
	t.Helper()
	docs := t.TempDir()
	for _, dir := range []string{"images", "operate"} {
		if err := os.Mkdir(filepath.Join(docs, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, page := range []string{"performance.md", "operate/capacity.md"} {
		raw, err := os.ReadFile(filepath.Join("../../../docs", page))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(docs, page), raw, 0o600); err != nil { //nolint:gosec // a page of ours
			t.Fatal(err)
		}
	}
	return docs
}

// TestFigures fills the real pages twice, and checks what they say.
func TestFigures(t *testing.T) {
	t.Parallel()
	docs := pages(t)
	for range 2 {
		if err := Run(append([]string{"-docs", docs}, sample(t, nil)...), io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	for page, want := range map[string][]string{
		"performance.md": {
			"2 processors; 2s for each figure, medians of 3, 100000 requests", "cycles over HTTP, 64 callers", "\none  ", "## Scaling",
		},
		"operate/capacity.md": {
			"| Memory of an idle daemon | 35 MiB | measured |", "| Requests per second and core of a daemon | 1,000 | computed |",
			"| 10,000,000 | 350 | 3,500 | 6.9 | 1.7 |", "| 100,000 | 1.8 GiB | 190 MiB | 7 |", "## Machines to buy",
		},
		"images/bench.svg": {"<svg", "no goal"},
	} {
		raw, err := os.ReadFile(filepath.Join(docs, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if strings.Count(string(raw), w) == 0 {
				t.Errorf("%s lacks %q:\n%s", page, w, raw)
			}
		}
	}
}

// TestFiguresRefuse checks that a run without the rows changes nothing.
func TestFiguresRefuse(t *testing.T) {
	t.Parallel()
	docs := pages(t)
	before, err := os.ReadFile(filepath.Join(docs, "operate/capacity.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*output){
		"a row is missing": func(o *output) { o.Results = o.Results[:3] },
		"no results":       func(o *output) { o.Results = nil },
		"no costs": func(o *output) {
			for n := range o.Results {
				o.Results[n].Cost = nil
			}
		},
	} {
		if err := Run(append([]string{"-docs", docs}, sample(t, change)...), io.Discard); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if after, err := os.ReadFile(filepath.Join(docs, "operate/capacity.md")); err != nil || string(after) != string(before) {
		t.Errorf("the page has changed, %v", err)
	}
}
