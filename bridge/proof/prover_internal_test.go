package proof

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

func provable(t testing.TB, input string) (*Prover, bridge.Interaction, bridge.Response) {
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
	return NewProver(s), i, resp
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

// prove states the content of an interaction, and adds its proof.
func prove(t testing.TB, p *Prover, i *bridge.Interaction) {
	t.Helper()
	i.Content = contentOf(t, *i)
	p.ProveInteraction(i)
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

// TestProofIsStable checks that a record verifies after it was stored and read
// again, for every kind of text in it: markup, invalid UTF-8 and the
// replacement character.
func TestProofIsStable(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`"make"`, `"<&>"`, `"a\u2028b"`, `"\ufffd"`, `"\\ufffd"`, `{ "b" : 1.50, "a" : [ 1e2 ] }`} {
		p, i, resp := provable(t, text)
		i.Prompt = "half \xc3 " + text
		prove(t, p, &i)
		if err := p.ProveResponse(i, &resp, nil); err != nil {
			t.Fatal(err)
		}
		back := stored(t, i)
		back.Stated = bridge.Times{Created: back.Created, Deadline: back.Deadline}
		back.Created, back.Deadline = back.Created.Add(time.Hour), back.Deadline.Add(2*time.Hour) // the clock of Redis
		got := stored(t, resp)
		p.known.Purge()
		if why := p.problem(bridge.Record{Interaction: back, State: bridge.StateApproved, Response: &got}); why != "" {
			t.Errorf("%s: %s", text, why)
		}
		set := p.signer.PublicKeys()
		if _, err := (&set).VerifyRecord(bridge.Record{Interaction: back, State: bridge.StateApproved, Response: &got, Receipt: got.Proof}); err == nil || !strings.Contains(err.Error(), "digest") {
			t.Errorf("%s: the digest is not computed again: %v", text, err) // the digest in the test is not a real one
		}
	}
}

// TestPreparedResponse checks that the prepared response for a deadline does
// not count before the deadline.
func TestPreparedResponse(t *testing.T) {
	t.Parallel()
	p, i, resp := provable(t, `"x"`)
	prove(t, p, &i)
	resp.Actor, resp.State, resp.Scope, resp.At = nil, bridge.StateDenied, "", i.Deadline
	if err := p.ProveResponse(i, &resp, nil); err != nil {
		t.Fatal(err)
	}
	if why := p.problem(bridge.Record{Interaction: i, State: bridge.StateDenied, Response: &resp}); why == "" {
		t.Error("an hour early, it counts")
	}
}

// TestVotesOfEarlierTerms checks that an approval does not count after the
// requirements became stricter.
func TestVotesOfEarlierTerms(t *testing.T) {
	t.Parallel()
	p, i, resp := provable(t, `"x"`)
	i.Quorum = 2
	vote := func(state bridge.State, terms int) bridge.Vote {
		under := i
		under.Terms = terms
		v := bridge.Vote{Actor: *resp.Actor, State: state, At: resp.At, Content: contentOf(t, under)}
		p.ProveVote(i.ID, &v)
		return v
	}
	i.Terms = 1
	prove(t, p, &i)
	for _, c := range []struct {
		state bridge.State
		terms int
		good  bool
	}{{bridge.StateApproved, 0, false}, {bridge.StateApproved, 1, true}, {bridge.StateDenied, 0, true}} {
		votes := []bridge.Vote{vote(c.state, c.terms)}
		if why := p.problem(bridge.Record{Interaction: i, State: bridge.StatePending, Votes: votes}); (why == "") != c.good {
			t.Errorf("%s under terms %d: %q", c.state, c.terms, why)
		}
	}
}

// BenchmarkProof measures the cost of the proofs of an opening, a decision and
// a read.
func BenchmarkProof(b *testing.B) {
	for name, input := range map[string]string{"200B": `"` + strings.Repeat("x", 200) + `"`, "60kB": `"` + strings.Repeat("x", 60_000) + `"`} {
		p, i, resp := provable(b, input)
		b.Run("open/"+name, func(b *testing.B) {
			for b.Loop() {
				p.ProveInteraction(&i)
			}
		})
		b.Run("decide/"+name, func(b *testing.B) {
			for b.Loop() {
				if err := p.ProveResponse(i, &resp, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		pending := bridge.Record{Interaction: i, State: bridge.StatePending}
		final := bridge.Record{Interaction: i, State: bridge.StateApproved, Response: &resp}
		for what, r := range map[string]bridge.Record{"pending": pending, "decided": final} {
			b.Run("read "+what+"/"+name, func(b *testing.B) {
				for b.Loop() {
					if why := p.problem(r); why != "" {
						b.Fatal(why)
					}
				}
			})
		}
		b.Run("read decided elsewhere/"+name, func(b *testing.B) {
			for b.Loop() {
				p.known.Purge()
				if why := p.problem(final); why != "" {
					b.Fatal(why)
				}
			}
		})
		raw, _ := json.Marshal(i)
		b.Run("decode, to compare/"+name, func(b *testing.B) {
			for b.Loop() {
				var i bridge.Interaction
				if err := json.Unmarshal(raw, &i); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
