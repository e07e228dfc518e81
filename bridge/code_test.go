package bridge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestCode checks which approvals need a verification code, and which texts it
// accepts.
func TestCode(t *testing.T) {
	t.Parallel()
	long := fmt.Appendf(nil, `{"command":%q}`, strings.Repeat("echo step\n", 130))
	for risk, want := range map[string]bool{"": false, "low": false, "High": true, "critical": true, "custom": false} {
		if a := (bridge.Approval{Input: long}).WithCode(risk, "May I?"); (a.Code != "") != want || a.Confirm != a.Code {
			t.Errorf("risk %q: code %q, confirm %q", risk, a.Code, a.Confirm)
		}
	}
	if a := (bridge.Approval{Input: []byte(`{"command":"ls"}`)}).WithCode("critical", strings.Repeat("x", 9000)); a.Code != "" {
		t.Errorf("a short input has the code %q", a.Code)
	}
	prompt := strings.Repeat("One more step.\n", 130)
	for _, input := range []string{"", "null", " {} "} {
		a := bridge.Approval{Tool: "deploy", Input: []byte(input)}
		other := a.WithCode("high", prompt+"And another.")
		if got := a.WithCode("high", prompt); got.Code == "" || got.Confirm != got.Code || got.Code == other.Code {
			t.Errorf("with the input %q, a long prompt has the code %q, and another one %q", input, got.Code, other.Code)
		}
		if got := a.WithCode("high", "Deploy?"); got.Code != "" {
			t.Errorf("with the input %q, a short prompt has the code %q", input, got.Code)
		}
	}
	a := bridge.Approval{Input: long, Confirm: "prod", Scopes: []bridge.Scope{bridge.ScopeOnce}}.WithCode("high", "")
	if again := a.WithCode("high", ""); again.Confirm != a.Confirm || len(a.Code) != 7 || a.ConfirmWords() != "prod" {
		t.Errorf("%+v, and again %+v", a, again)
	}
	if plain := a.WithCode("low", ""); plain.Confirm != "prod" || plain.Code != "" {
		t.Errorf("without a code: %+v", plain)
	}
	ask := bridge.Ask{Kind: bridge.KindApproval, Approval: &a}
	spaceless := strings.ReplaceAll(a.Code, " ", "")
	for typed, want := range map[string]bool{
		"prod " + a.Code: true, " prod " + strings.ToLower(spaceless) + " ": true, "prod " + a.Code[:3] + "-" + a.Code[4:]: true,
		a.Code: false, "prod": false, "": false, "Prod " + a.Code: false, "prod " + a.Code + "2": false, "prod " + a.Code[:3]: false,
	} {
		r, problem, err := ask.Decide(bridge.DecideOnce, bridge.Given{Confirm: typed})
		if err != nil || (r.State == bridge.StateApproved) != want || want == (problem != "") || strings.Contains(problem, a.Code) {
			t.Errorf("%q: %s, %q, %v", typed, r.State, problem, err)
		}
	}
}

// TestCodeIsNods checks that an agent cannot choose the verification code.
func TestCodeIsNods(t *testing.T) {
	t.Parallel()
	r := bridge.Request{Ask: bridge.Ask{Prompt: "May I?", Approval: &bridge.Approval{Tool: "t", Confirm: "prod AAA AAA", Code: "AAA AAA"}}}
	if err := r.Normalize(); err != nil {
		t.Fatal(err)
	}
	if a := r.Approval; a.Code != "" || a.Confirm != "prod" {
		t.Errorf("%+v", a)
	}
}
