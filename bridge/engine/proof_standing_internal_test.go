package engine

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

func mustSigner(t *testing.T) *proof.Signer {
	t.Helper()
	s, err := proof.NewSigner(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// provable returns a prover with a pending approval that it can prove.
func provable(t *testing.T) (*proof.Prover, bridge.Interaction) {
	t.Helper()
	id, err := bridge.NewID()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	i := bridge.Interaction{
		ID: id,
		Ask: bridge.Ask{
			Kind: bridge.KindApproval, Prompt: "May I?", Session: "s", Route: "default",
			Approval: &bridge.Approval{Tool: "bash", Input: json.RawMessage(`{"command":"x"}`), Scopes: []bridge.Scope{bridge.ScopeOnce}}, MaxRounds: 3,
		},
		Agent:    "tester",
		Schedule: bridge.Schedule{Created: now, Deadline: now.Add(time.Hour)},
		Placement: bridge.Placement{
			Destinations: []bridge.Destination{{Platform: "slack", Channel: "C1"}}, Responders: []bridge.Responder{{Person: "ana", Platform: "slack", User: "U1"}},
		},
		Digest:  strings.Repeat("a", 64),
		Content: strings.Repeat("c", 64),
		Lineage: bridge.Lineage{Round: 1},
	}
	return proof.NewProver(mustSigner(t)), i
}

// TestRepeatsOfAnother checks that a request without an idempotency key never
// gets the record of an earlier one.
func TestRepeatsOfAnother(t *testing.T) {
	t.Parallel()
	p, i := provable(t)
	p.ProveInteraction(&i)
	now := i
	now.ID, _ = bridge.NewID()
	p.ProveInteraction(&now)
	if err := repeats(i, now); err == nil {
		t.Error("it gets an earlier request of the same content")
	}
	if err := repeats(i, i); err != nil {
		t.Error(err)
	}
	i.Join, now.Join = true, true
	if err := repeats(i, now); err != nil {
		t.Error(err)
	}
}
