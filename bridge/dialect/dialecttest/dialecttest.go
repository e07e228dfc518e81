// Package dialecttest has what the tests of translators share.
package dialecttest

import (
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

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

// Pinned is what a golden file holds: what came in, what it asks, and what goes
// out for the answer.
type Pinned struct {
	In      string         `json:"in"`
	Request bridge.Request `json:"request"`
	Out     string         `json:"out"`
}
