// Package dialecttest pins what translators make of another system's messages,
// byte for byte.
package dialecttest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
)

var update = flag.Bool("update", false, "write the golden files anew")

var at = time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)

// Record is a request as it stands once it was answered with resp, whose State
// is answered if it says nothing else.
func Record(t testing.TB, r bridge.Request, resp bridge.Response) bridge.Record {
	t.Helper()
	if err := r.Normalize(); err != nil {
		t.Fatal(err)
	}
	if resp.State == "" {
		resp.State = bridge.StateAnswered
	}
	if resp.Actor == nil && resp.State != bridge.StateExpired {
		resp.Actor = &bridge.Actor{Platform: "api", User: "ana", Person: "ana"}
	}
	resp.At = at.Add(9 * time.Second)
	return bridge.Record{State: resp.State, Response: &resp, Interaction: bridge.Interaction{
		ID: "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03", Kind: r.Kind, Prompt: r.Prompt, Questions: r.Questions, Approval: r.Approval, Session: r.Session,
		ToolCall: r.ToolCall, ToolName: r.ToolName, Turn: r.Turn, ResponseID: r.ResponseID, Created: at, Deadline: at.Add(time.Duration(r.Timeout)),
		Initial: r.Initial, Error: r.Error, CompletedView: r.CompletedView, Presentation: r.Presentation,
	}}
}

// pinned is what a golden file holds.
type pinned struct {
	In      string         `json:"in"`
	Request bridge.Request `json:"request"`
	Out     string         `json:"out"`
}

// Golden compares what became of a message with testdata/NAME.json; with
// -update it writes the file.
func Golden(t *testing.T, name, in string, r bridge.Request, out string) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(pinned{in, r, out}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it with -update", err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
}
