package broker

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
)

// TestRemembered checks that a record that is read with the memory of its opening
// and of its response is the same as without.
func TestRemembered(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC()
	s := newSide(t, now, true)
	p := &pair{t: t, rand: rand.New(rand.NewPCG(1, 3)), now: now}
	opened, answers := 0, 0
	for range 300 {
		o := p.opening()
		p.vary(&o)
		i := &o.Interaction
		i.Prompt = []string{"Deploy?", "caf\xc3\xa9", "\xff", "<b>"}[p.rand.IntN(4)]
		if p.likely(3) {
			i.Initial = map[string]bridge.Answer{"q": {Text: "a"}}
		}
		if _, created, err := s.Open(t.Context(), o); err != nil || !created {
			continue
		}
		one := settlementOf(i.ID, "n")
		one.Response.At, one.Response.Reason = now, i.Prompt
		if p.likely(3) {
			one.Response.Proof = "signed"
		}
		if p.likely(3) {
			one.Response.Annotations = nil
		}
		r, won, err := s.Settle(t.Context(), one)
		if err != nil {
			continue // it belongs to a request that is gone
		}
		fields := s.client.HGetAll(t.Context(), s.core.keys.record(i.ID))
		want, err := decodeRecord(i.ID, fields.Val())
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.Load(t.Context(), i.ID)
		if err != nil || !reflect.DeepEqual(again, want) {
			t.Fatalf("read again: %v\n%s", err, cmp.Diff(want, again))
		}
		if won && !reflect.DeepEqual(r, want) {
			t.Fatalf("returned by the settlement:\n%s", cmp.Diff(want, r))
		}
		if s.core.remembered.get(i.ID, want.Stored) != nil {
			opened++
		}
		if a, err := newAnswer(one.Response); err == nil && a.lasts {
			answers++
		}
	}
	if opened < 50 || answers < 50 {
		t.Errorf("only %d interactions and %d responses were not decoded", opened, answers)
	}
}

// TestRememberedText checks that only a record with the stored text takes the
// interaction from memory, and that the memory is bounded.
func TestRememberedText(t *testing.T) {
	t.Parallel()
	m := newRemembered()
	i := bridge.Interaction{ID: "one", Ask: bridge.Ask{Prompt: "Deploy?"}}
	text := data(&i)
	m.add(&i, text)
	if got := m.get("one", string(text)); got == nil || got.Prompt != i.Prompt {
		t.Errorf("remembered %+v", got)
	}
	if m.get("one", string(text)+" ") != nil || m.get("two", string(text)) != nil {
		t.Error("another text is remembered")
	}
	for n := range 3 * rememberedMany {
		m.add(&bridge.Interaction{ID: bridge.ID(strings.Repeat("i", 1+n%7) + string(rune(n)))}, make([]byte, rememberedBytes/1000))
	}
	if m.get("one", string(text)) != nil || m.Len() > 1000 {
		t.Errorf("%d interactions are remembered", m.Len())
	}
	if m.add(&i, make([]byte, rememberedBytes+1)); m.get("one", string(make([]byte, rememberedBytes+1))) != nil {
		t.Error("a text that is too large is remembered")
	}
}
