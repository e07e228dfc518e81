package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// TestRedactedInputComesBack checks that an agent gets its original input back,
// without redactions.
func TestRedactedInputComesBack(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	secret := "ghp_" + strings.Repeat("a1B2", 9) // never valid
	input := fmt.Sprintf(`{"command":"curl -H 'Authorization: Bearer %s' x"}`, secret)
	body := `{"session_id":"s","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":` + input + `}`
	h := startHook(t, r.Daemons[0].URL, "claude", body)
	a := r.Card("s")
	if _, err := r.Person.Respond(r.Ctx, a.Interaction.ID, bridge.Reply{Decision: bridge.DecideOnce, Confirm: "hidden"}); err != nil {
		t.Fatal(err)
	}
	if said := h.exit(t, 0); !strings.Contains(said, `"allow"`) || strings.Contains(said, "redacted") || strings.Contains(a.Text("slack"), secret) {
		t.Errorf("the agent got %s", said)
	}
}
