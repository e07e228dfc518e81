package proof

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

func provable(t testing.TB, input string) (*Signer, bridge.Interaction, bridge.Response) {
	t.Helper()
	s, err := NewSigner(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	id, err := bridge.NewID()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	i := bridge.Interaction{
		ID: id,
		Ask: bridge.Ask{
			Kind: bridge.KindApproval, Prompt: "May I?", Session: "s", Route: "default",
			Approval: &bridge.Approval{Tool: "bash", Input: json.RawMessage(`{"command":` + input + `}`), Scopes: []bridge.Scope{bridge.ScopeOnce}}, MaxRounds: 3,
		},
		Agent:    "tester",
		Schedule: bridge.Schedule{Created: now, Deadline: now.Add(time.Hour)},
		Placement: bridge.Placement{
			Destinations: []bridge.Destination{{Platform: "slack", Channel: "C1"}}, Responders: []bridge.Responder{{Person: "ana", Platform: "slack", User: "U1"}},
		},
		Digest:   strings.Repeat("a", 64),
		Lineage:  bridge.Lineage{Round: 1},
		Webhooks: []string{"audit"},
	}
	resp := bridge.Response{
		State: bridge.StateApproved, Scope: bridge.ScopeOnce, Actor: &bridge.Actor{Platform: "slack", User: "U1", Person: "ana", Name: "bad \xff name"}, At: now, Digest: i.Digest,
		Annotations: map[string]bridge.Annotation{},
	}
	return s, i, resp
}

// contentOf returns the content of an interaction.
func contentOf(t testing.TB, i bridge.Interaction) string {
	t.Helper()
	content, err := Content(i)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// signed returns the receipt of a response.
func signed(t testing.TB, s *Signer, i bridge.Interaction, resp bridge.Response, votes ...bridge.Vote) string {
	t.Helper()
	token, err := s.Receipt(i, resp, votes, "")
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// stored returns a value in the form that it has after it was stored and read
// again.
func stored[T any](t testing.TB, v T) T {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out T
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestReceiptIsStable checks that a record verifies after it was stored and read
// again, for every kind of text in it: markup, invalid UTF-8 and the
// replacement character.
func TestReceiptIsStable(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`"make"`, `"<&>"`, `"a\u2028b"`, `"\ufffd"`, `"\\ufffd"`, `{ "b" : 1.50, "a" : [ 1e2 ] }`} {
		s, i, resp := provable(t, text)
		i.Prompt = "half \xc3 " + text
		i.Content = contentOf(t, i)
		token := signed(t, s, i, resp)
		back := stored(t, i)
		back.Created, back.Deadline = back.Created.Add(time.Hour), back.Deadline.Add(2*time.Hour) // the clock of Redis
		got := stored(t, resp)
		for n, signer := range []*Signer{s, signerOf(t, 1)} {
			if again, err := signer.Receipt(back, got, nil, token); err != nil || again != token {
				t.Errorf("%s, signer %d: it gets another receipt: %v", text, n, err)
			}
		}
		set := s.PublicKeys()
		if _, err := (&set).VerifyRecord(bridge.Record{Interaction: back, State: bridge.StateApproved, Response: &got, Receipt: token}); err == nil || !strings.Contains(err.Error(), "digest") {
			t.Errorf("%s: the digest is not computed again: %v", text, err) // the digest in the test is not a real one
		}
	}
}

// TestReceiptAgain checks that a decision that is recorded again keeps its receipt only
// if it is the same decision.
func TestReceiptAgain(t *testing.T) {
	t.Parallel()
	s, i, resp := provable(t, `"x"`)
	token, other := signed(t, s, i, resp), resp
	other.Reason = "other"
	if again, err := s.Receipt(i, other, nil, token); err != nil || again == token || again != signed(t, s, i, other) {
		t.Errorf("another decision: %v", err)
	}
	if again, err := s.Receipt(i, resp, nil, signed(t, signerOf(t, 2), i, resp)); err != nil || again != token {
		t.Errorf("a receipt by another key: %v", err)
	}
	if got, err := s.Receipt(i, bridge.Response{State: bridge.StateExpired}, nil, ""); err != nil || got != "" {
		t.Errorf("no decision: %q, %v", got, err)
	}
	if got, err := (*Signer)(nil).Receipt(i, resp, nil, ""); err != nil || got != "" {
		t.Errorf("no signer: %q, %v", got, err)
	}
}

// BenchmarkReceipt measures the cost of the receipt of a decision.
func BenchmarkReceipt(b *testing.B) {
	for name, input := range map[string]string{"200B": `"` + strings.Repeat("x", 200) + `"`, "60kB": `"` + strings.Repeat("x", 60_000) + `"`} {
		s, i, resp := provable(b, input)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Receipt(i, resp, nil, ""); err != nil {
					b.Fatal(err)
				}
			}
		})
		raw, _ := json.Marshal(i)
		b.Run("decode the request, to compare/"+name, func(b *testing.B) {
			for b.Loop() {
				var i bridge.Interaction
				if err := json.Unmarshal(raw, &i); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
