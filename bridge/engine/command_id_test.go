package engine_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestCommandsExpandIDs checks that chat commands accept the beginning of an ID
// and the word last, and only among what the person may see.
func TestCommandsExpandIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	first := w.open(bridge.Agent{Name: "ci"}, shell("make first")).Interaction.ID
	r := shell("make granted")
	r.Session, r.Approval.Scopes, r.Approval.Decisions = "s", []bridge.Scope{bridge.ScopeOnce, bridge.ScopeSession}, nil
	w.press("ana", w.open(bridge.Agent{Name: "ci"}, r).Interaction.ID, "C1", bridge.DecideSession, "")
	second := w.open(bridge.Agent{Name: "ci"}, shell("make second")).Interaction.ID
	r = shell("make secret")
	r.Route = "prod"
	other := w.open(bridge.Agent{Name: "ci"}, r).Interaction.ID
	for text, want := range map[string]string{
		"show last": "make second", "show " + string(first)[:34]: "make first",
		"show " + strings.ToUpper(string(second)[:34]): "make second",
		"show " + string(first)[:4]:                    "Several IDs start or end with", "show " + string(first)[:3]: "not found", "show": "not found",
		"show " + string(other)[:34]: "not found", "revoke zzzz": "Grant not found",
	} {
		if got := w.say("ana", text); !strings.Contains(got, want) || strings.Contains(got, "secret") || strings.Contains(got,
			string(other)) {
			t.Errorf("%q: %s, want %q", text, got, want)
		}
	}
	all, err := w.engine.Grants.List(t.Context(), "")
	if err != nil || len(all.Items) != 1 {
		t.Fatal(all, err)
	}
	if got := w.say("cy", "revoke last"); strings.Contains(got, "Revoked") {
		t.Errorf("cy revokes a grant of another route: %s", got)
	}
	if got := w.say("ana", "revoke "+all.Items[0].ID()[:5]); !strings.Contains(got, "Revoked") {
		t.Errorf("ana: %s", got)
	}
}
