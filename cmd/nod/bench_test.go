package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/nodbridge/nod/broker/redistest"
)

// TestBench: every row comes to figures, whatever they are on this machine.
func TestBench(t *testing.T) {
	t.Parallel()
	redistest.Binary(t)
	var out, errs bytes.Buffer
	if code := run([]string{"bench", "--span", "100ms", "--repeats", "1", "--json"}, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("%d: %s", code, errs.String())
	}
	var got struct{ Results []benchResult }
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || len(got.Results) != len(measures()) {
		t.Fatalf("%v: %s", err, out.String())
	}
	for _, r := range got.Results {
		if r.Value <= 0 || r.Other <= 0 || r.Ratio != r.Value/r.Other || r.Name == "" || r.Unit == "" || r.Against == "" {
			t.Errorf("%+v", r)
		}
	}
	if code := run([]string{"bench", "--repeats", "0"}, strings.NewReader(""), &out, &errs); code != 2 {
		t.Errorf("no repeats: %d", code)
	}
}
