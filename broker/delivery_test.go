package broker_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// TestParts checks that each part of a long text is recorded once and in order,
// even if a call is repeated, and that other content starts again.
func TestParts(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "one")
		id := open(t, b, nil).Interaction.ID
		part := func(content string, n int, message string) bridge.Code {
			_, err := b.Mark(t.Context(), id, bridge.Mark{Part: &bridge.Part{Destination: 1, Content: content, N: n, Ref: bridge.MessageRef{Channel: "C", Message: message}}})
			return bridge.ErrorCode(err)
		}
		for n, step := range []struct {
			content string
			n       int
			message string
			want    bridge.Code
		}{
			{"aa", 0, "1", ""}, {"aa", 1, "2", ""}, {"aa", 1, "2", ""}, // a repeat after a lost reply
			{"aa", 1, "3", bridge.CodeConflict}, {"aa", 0, "3", bridge.CodeConflict}, {"aa", 3, "3", bridge.CodeConflict},
			{"bb", 1, "4", bridge.CodeConflict}, {"bb", 0, "4", ""},
		} {
			if got := part(step.content, step.n, step.message); got != step.want {
				t.Errorf("step %d: %q, want %q", n, got, step.want)
			}
		}
		if _, err := b.Mark(t.Context(), id, bridge.Mark{Shown: &bridge.Shown{Destination: 1, Content: "bb"}}); err != nil {
			t.Fatal(err)
		}
		rec, err := b.Load(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		want := map[int]bridge.Sending{1: {Content: "bb", Parts: []bridge.MessageRef{{Channel: "C", Message: "4"}}, Proofs: []string{""}}}
		if d := cmp.Diff(want, rec.Sending); d != "" {
			t.Errorf("parts (-want +got): %s", d)
		}
		if rec.Shown[1] != "bb" || rec.Shown[0] != "" {
			t.Errorf("shown: %v", rec.Shown)
		}
	})
}
