package broker

import (
	"fmt"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
)

// storedRecords returns the fields of stored records in several states.
func storedRecords(t *testing.T) (all []map[string]string) {
	t.Helper()
	now := time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)
	s, h := newSide(t, now), &hostile{t: t, rand: seed.Rand(t), now: now}
	for n := range 24 {
		o := h.opening()
		if o.Identity.Name != "" {
			o.Identity.Name += fmt.Sprint(n)
		}
		if _, _, err := s.Open(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		id := o.Interaction.ID
		steps := []func() error{
			func() error {
				ref := bridge.MessageRef{Channel: "C", Message: "1.1", Thread: "1.0"}
				_, err := s.Mark(t.Context(), id, bridge.Mark{Posted: &bridge.Posted{Ref: ref, Revision: 1, Content: "aa"}})
				return err
			},
			func() error {
				_, err := s.Mark(t.Context(), id, bridge.Mark{Joined: true})
				return err
			},
			func() error {
				_, _, err := s.Settle(t.Context(), bridge.Settlement{ID: id, Nonce: "n", Response: bridge.Response{State: bridge.StateApproved, At: now}})
				return err
			},
			func() error {
				_, err := s.Mark(t.Context(), id, bridge.Mark{Completed: &bridge.Completion{Result: "done"}})
				return err
			},
		}
		for _, step := range steps[:n%(len(steps)+1)] {
			if err := step(); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, s.client.HGetAll(t.Context(), s.core.keys.record(id)).Val())
	}
	return all
}

// TestDecodeHostile checks that a record whose fields were changed at random is
// decoded or refused, without a panic: a caller that waits decodes it on a goroutine
// whose panics end the process.
func TestDecodeHostile(t *testing.T) {
	t.Parallel()
	all := storedRecords(t)
	parts := []string{"", "|", "\x1e", "\x1f", "\n", ",", "-1", "99999999999999999999", "null", "[]", "{}", `"`, "\xff", "0", ";"}
	r := seed.Rand(t)
	some := func(m map[string]string) (name string) {
		n := r.IntN(len(m))
		for name = range m {
			if n--; n < 0 {
				break
			}
		}
		return name
	}
	refused := 0
	for range 20_000 {
		fields := map[string]string{}
		for k, v := range all[r.IntN(len(all))] {
			fields[k] = v
		}
		for range 1 + r.IntN(3) {
			name := recordFields[r.IntN(len(recordFields))].name
			if r.IntN(2) == 0 {
				name = some(fields)
			}
			if name[len(name)-1] == '#' {
				name = name[:1] + []string{"0", "1", "-1", "31", "32", "99999999999"}[r.IntN(6)]
			}
			v := fields[name]
			if r.IntN(3) == 0 {
				v = all[r.IntN(len(all))][some(all[0])]
			}
			from := r.IntN(len(v) + 1)
			to := min(len(v), from+r.IntN(4))
			fields[name] = v[:from] + parts[r.IntN(len(parts))] + v[to:]
		}
		rec, err := decodeRecord("01a207da-1984-72be-a203-08674f5e110b", fields)
		if err != nil {
			refused++
			continue
		}
		if _, err := bridge.EncodeJSON(&rec); err != nil {
			refused++
		}
	}
	if refused < 1000 {
		t.Errorf("only %d were refused", refused)
	}
}
