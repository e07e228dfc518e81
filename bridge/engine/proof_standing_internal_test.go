package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// shelf is a store of one record, as whoever can write to Redis sees it.
type shelf struct {
	bridge.Store
	rec bridge.Record
}

func (s *shelf) Load(context.Context, bridge.ID) (bridge.Record, error) {
	r := s.rec
	r.Shown = maps.Clone(r.Shown)
	return r, nil
}

// Mark stores marks of delivery as the broker does.
func (s *shelf) Mark(ctx context.Context, id bridge.ID, m bridge.Mark) (bridge.Record, error) {
	switch {
	case m.Shown != nil:
		s.rec.Shown = map[int]string{m.Shown.Destination: m.Shown.Content}
	case m.Posted != nil:
		s.rec.Shown = map[int]string{m.Posted.Destination: m.Posted.Content}
	case m.Part != nil:
		was := s.rec.Sending[m.Part.Destination]
		s.rec.Sending = map[int]bridge.Sending{m.Part.Destination: {Content: m.Part.Content, Parts: append(was.Parts, m.Part.Ref), Proofs: append(was.Proofs, m.Part.Proof)}}
	case m.Queued > 0:
		s.rec.Queued, s.rec.Held = time.Now(), m.Held
	}
	return s.Load(ctx, id)
}

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

// shelved is a proven store of one pending record.
func shelved(t *testing.T) (*shelf, Ports, *proof.Prover) {
	t.Helper()
	p, i := provable(t)
	p.ProveInteraction(&i)
	s := &shelf{rec: bridge.Record{Interaction: i, State: bridge.StatePending}}
	return s, Proven(s, mustSigner(t), nil), p
}

// TestForgedMarks checks that a card counts as shown only by the mark that a
// daemon made for that interaction, destination and content.
func TestForgedMarks(t *testing.T) {
	t.Parallel()
	s, store, _ := shelved(t)
	id, content := s.rec.Interaction.ID, s.rec.Interaction.Content
	for what, m := range map[string]bridge.Mark{
		"shown": {Shown: &bridge.Shown{Destination: 0, Content: content}}, "posted": {Posted: &bridge.Posted{Destination: 0, Content: content}},
	} {
		rec, err := store.Records.Mark(t.Context(), id, m)
		if err != nil || !seen(rec, 0) {
			t.Fatalf("%s: it is not seen: %+v, %v", what, rec.Shown, err)
		}
	}
	good := s.rec.Shown[0]
	otherID, _ := bridge.NewID()
	forged := map[string]func(){
		"the content alone": func() { s.rec.Shown = map[int]string{0: content} },
		"another place's":   func() { s.rec.Shown = map[int]string{1: good} },
		"another request's": func() {
			other := &shelf{rec: s.rec}
			store := Proven(other, mustSigner(t), nil)
			if _, err := store.Records.Mark(t.Context(), otherID, bridge.Mark{Shown: &bridge.Shown{Content: content}}); err != nil {
				t.Fatal(err)
			}
			s.rec.Shown = map[int]string{0: other.rec.Shown[0]}
		},
	}
	for what, forge := range forged {
		forge()
		rec, err := store.Records.Load(t.Context(), id)
		if err != nil || seen(rec, 0) || seen(rec, 1) {
			t.Errorf("%s: it counts as seen: %v", what, err)
		}
	}
}

// TestForgedParts checks that a part of a long text counts as sent only where
// a daemon noted that it was.
func TestForgedParts(t *testing.T) {
	t.Parallel()
	s, store, _ := shelved(t)
	id := s.rec.Interaction.ID
	ref := func(n string) bridge.MessageRef { return bridge.MessageRef{Channel: "C1", Message: n} }
	for n, m := range []string{"1", "2"} {
		rec, err := store.Records.Mark(t.Context(), id, bridge.Mark{Part: &bridge.Part{Content: "aa", N: n, Ref: ref(m)}})
		if err != nil || len(rec.Sending[0].Parts) != n+1 {
			t.Fatalf("part %d: %+v, %v", n, rec.Sending, err)
		}
	}
	good := s.rec.Sending[0]
	for what, forged := range map[string]bridge.Sending{
		"without a proof": {Content: "aa", Parts: []bridge.MessageRef{ref("1"), ref("2")}},
		"the same twice":  {Content: "aa", Parts: []bridge.MessageRef{good.Parts[1], good.Parts[1]}, Proofs: []string{good.Proofs[1], good.Proofs[1]}},
		"another content": {Content: "bb", Parts: good.Parts, Proofs: good.Proofs},
		"another message": {Content: "aa", Parts: []bridge.MessageRef{ref("3"), ref("4")}, Proofs: good.Proofs},
	} {
		s.rec.Sending = map[int]bridge.Sending{0: forged}
		rec, err := store.Records.Load(t.Context(), id)
		if err != nil || len(rec.Sending[0].Parts) > 0 {
			t.Errorf("%s: %d parts count as sent, %v", what, len(rec.Sending[0].Parts), err)
		}
	}
}

// TestMovedDeadline checks that a deadline which was moved in Redis keeps
// nothing open, and that nothing decided after the signed one counts.
func TestMovedDeadline(t *testing.T) {
	t.Parallel()
	past := func(change func(*bridge.Interaction)) (*proof.Prover, bridge.Interaction) {
		p, i := provable(t)
		i.Created, i.Deadline = i.Created.Add(-3*time.Hour), i.Created.Add(-2*time.Hour)
		if change != nil {
			change(&i)
		}
		p.ProveInteraction(&i)
		i.Deadline = time.Now().Add(time.Hour) // as Redis says
		return p, i
	}
	p, i := past(nil)
	if why := p.Marked(bridge.Record{Interaction: i, State: bridge.StatePending}).Unverified; why == "" {
		t.Error("it can still be decided")
	}
	resp := bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeOnce, Actor: &bridge.Actor{Platform: "slack", User: "U1", Person: "ana"}, Digest: i.Digest, Annotations: map[string]bridge.Annotation{}}
	for after, counts := range map[time.Duration]bool{-3 * time.Minute: true, 3 * time.Minute: false} {
		resp.At = i.Stated.Deadline.Add(after)
		if err := p.ProveResponse(i, &resp, nil); err != nil {
			t.Fatal(err)
		}
		if why := p.Marked(bridge.Record{Interaction: i, State: bridge.StateApproved, Response: &resp}).Unverified; (why == "") != counts {
			t.Errorf("decided %s after the deadline: %q", after, why)
		}
	}
	// One that stays open by what was signed.
	p, i = past(func(i *bridge.Interaction) {
		i.OnTimeout, i.Hold = bridge.OnTimeoutPending, bridge.Duration(24*time.Hour)
	})
	if why := p.Marked(bridge.Record{Interaction: i, State: bridge.StatePending, Queued: time.Now()}).Unverified; why != "" {
		t.Errorf("a queued one: %s", why)
	}
	// One that a daemon was asked to keep open longer than that.
	p, i = past(nil)
	s := &shelf{rec: bridge.Record{Interaction: i, State: bridge.StatePending}}
	store := Proven(s, mustSigner(t), nil)
	if rec, err := store.Records.Mark(t.Context(), i.ID, bridge.Mark{Queued: time.Hour}); err != nil || rec.State != bridge.StatePending {
		t.Errorf("one that was queued: %s, %v", rec.State, err)
	}
	other := &s.rec.Interaction
	other.ID, _ = bridge.NewID()
	other.Deadline = other.Stated.Deadline
	p.ProveInteraction(other)
	other.Deadline = time.Now().Add(time.Hour)
	if rec, err := store.Records.Load(t.Context(), i.ID); err != nil || rec.Unverified == "" {
		t.Errorf("another one by the same proof: %s, %v", rec.State, err)
	}
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
