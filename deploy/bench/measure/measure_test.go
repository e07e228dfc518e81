package measure

import (
	"bytes"
	"encoding/xml"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// TestBench checks that every row of the benchmark has numbers, whatever they
// are on this machine.
func TestBench(t *testing.T) {
	redistest.Binary(t)
	self := filepath.Join(t.TempDir(), "bench")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", self, "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	rows := 0
	for _, m := range measures(true) {
		rows += len(m.rows)
	}
	o := Options{Span: 100 * time.Millisecond, Repeats: 1, Pending: 1000, Peers: true, Self: self, Nod: rig.Binary(t), Progress: func(Result) { rows-- }}
	got, err := Run(t.Context(), o)
	if err != nil || rows != 0 {
		t.Fatalf("%v, %d rows are missing", err, rows)
	}
	for _, r := range got {
		if r.Value < 0 || r.Skipped == "" && (r.Other <= 0 || r.Ratio != r.Value/r.Other) || r.Others > 1 || r.Name == "" || r.Against == "" {
			t.Errorf("the row is %+v, want numbers and names", r)
		}
		if counted := strings.HasPrefix(r.Name, "cycles"); counted && (r.Cost == nil || r.Cost.Process <= 0 || r.Cost.Redis <= 0) {
			t.Errorf("%s has the cost %v", r.Name, r.Cost)
		}
	}
	if chart := Chart(got); xml.Unmarshal(chart, new(struct{})) != nil || bytes.Count(chart, []byte("<rect")) != len(got)+1 {
		t.Errorf("chart: %s", chart)
	}
	var table bytes.Buffer
	if err := Print(&table, got); err != nil || bytes.Count(table.Bytes(), []byte("\n")) <= len(got)+1 {
		t.Errorf("%v: %s", err, table.String())
	}
	lines := 0
	err = Scale(t.Context(), o, func(s Scaled) {
		if lines++; s.Cycles <= 0 || s.Cost.Process <= 0 || s.Cost.Redis <= 0 || s.Unblocked <= 0 {
			t.Errorf("a line of the scaling is %+v, want numbers", s)
		}
	})
	if err != nil || lines != 8 {
		t.Errorf("%d lines, %v", lines, err)
	}
	o.Only = "no such row"
	if _, err := Run(t.Context(), o); err == nil {
		t.Error("it measures rows that there are not")
	}
}
