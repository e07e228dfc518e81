package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestShowIsWhole checks that nod show prints a long request completely.
func TestShowIsWhole(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(map[string]string{"command": strings.Repeat("echo step;", 15_000) + " the end"})
	if err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	printRecord(&shown, bridge.Record{State: bridge.StatePending, Interaction: bridge.Interaction{Ask: bridge.Ask{
		Kind: bridge.KindApproval, Prompt: "May I?", Approval: &bridge.Approval{Tool: "bash", Input: raw},
	}}})
	if n := strings.Count(shown.String(), "echo step;"); n != 15_000 || !strings.Contains(shown.String(), "the end") {
		t.Errorf("it prints %d steps", n)
	}
}

// TestShowStatesCoverage checks that nod show states what each decision covers
// that nod answer can give.
func TestShowStatesCoverage(t *testing.T) {
	t.Parallel()
	i := bridge.Interaction{Agent: "ci", Ask: bridge.Ask{Kind: bridge.KindApproval, Prompt: "May I?", Session: "s", Approval: &bridge.Approval{
		Tool: "bash", Input: json.RawMessage(`{"command":"make"}`), Scopes: []bridge.Scope{bridge.ScopeOnce, bridge.ScopeSession},
	}}}
	i.GrantKey = "exact:1"
	var shown strings.Builder
	printRecord(&shown, bridge.Record{State: bridge.StatePending, Interaction: i})
	if !strings.Contains(shown.String(), "Approve identical requests in session: For 24 hours in session \"s\", ci may repeat exactly this request.") {
		t.Errorf("it prints\n%s", shown.String())
	}
}
