package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodbridge/nod/broker/redistest"
)

// TestBench: every row comes to figures, whatever they are on this machine.
func TestBench(t *testing.T) {
	t.Parallel()
	redistest.Binary(t)
	chart, peers := filepath.Join(t.TempDir(), "chart.svg"), filepath.Join(t.TempDir(), "peers")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", peers, ".")
	build.Dir = "bench/peers"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	nod := func(args ...string) []byte {
		t.Helper()
		var errs bytes.Buffer
		c := exec.CommandContext(t.Context(), nodBinary(t), append([]string{"bench", "--span", "100ms", "--pending", "1000"}, args...)...)
		c.Stderr = &errs
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, errs.String())
		}
		return out
	}
	rows := 0
	for _, m := range measures(true) {
		rows += len(m.rows)
	}
	out := nod("--repeats", "1", "--json", "--svg", chart, "--peers", peers)
	var got struct{ Results []benchResult }
	if err := json.Unmarshal(out, &got); err != nil || len(got.Results) != rows {
		t.Fatalf("%v: %s", err, out)
	}
	for _, r := range got.Results {
		if r.Value < 0 || r.Other <= 0 || r.Ratio != r.Value/r.Other || r.Name == "" || r.Against == "" {
			t.Errorf("%+v", r)
		}
	}
	if raw, err := os.ReadFile(chart); err != nil || xml.Unmarshal(raw, new(struct{})) != nil || bytes.Count(raw, []byte("<rect")) != rows+1 {
		t.Errorf("chart: %v %s", err, raw)
	}
	if lines := bytes.Count(nod("--scale"), []byte("\n")); lines != 7 {
		t.Errorf("%d lines of scale", lines)
	}
	var outs, errs bytes.Buffer
	if code := run([]string{"bench", "--repeats", "0"}, strings.NewReader(""), &outs, &errs); code != 2 {
		t.Errorf("no repeats: %d", code)
	}
}
