package broker_test

import (
	"testing"
	"time"

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

// TestDeleted checks that a message that was deleted is forgotten, that its card is
// posted again if that is asked for, and that another message of the card stays.
func TestDeleted(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "one")
		id := open(t, b, nil).Interaction.ID
		ref, other := bridge.MessageRef{Channel: "C", Message: "1"}, bridge.MessageRef{Channel: "C", Message: "2"}
		mark := func(m bridge.Mark) bridge.Record {
			t.Helper()
			r, err := b.Mark(t.Context(), id, m)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		jobs := func() map[bridge.JobKind]int {
			t.Helper()
			all, err := b.Claim(t.Context(), 10, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			kinds := map[bridge.JobKind]int{}
			for _, j := range all {
				if j.Destination == 0 {
					kinds[j.Kind]++
				}
				if err := b.Finish(t.Context(), j); err != nil {
					t.Fatal(err)
				}
			}
			return kinds
		}
		jobs()
		posted := func(ref bridge.MessageRef) {
			t.Helper()
			mark(bridge.Mark{Posted: &bridge.Posted{Ref: ref, Revision: 1, Content: "aa", Look: time.Hour}})
		}
		posted(ref)
		if got := jobs(); len(got) > 0 {
			t.Errorf("after the post, %v is due", got)
		}
		if r := mark(bridge.Mark{Deleted: &bridge.Deleted{Ref: other, Again: true}}); r.Messages[0] != ref || len(jobs()) > 0 {
			t.Errorf("after another message was deleted: %+v", r.Messages)
		}
		if r := mark(bridge.Mark{Deleted: &bridge.Deleted{Ref: ref, Again: true}}); len(r.Messages) > 0 || r.Shown[0] != "" {
			t.Errorf("after it was deleted: %+v, shown %v", r.Messages, r.Shown)
		}
		if got := jobs(); got[bridge.JobPost] != 1 {
			t.Errorf("after it was deleted, %v is due", got)
		}
		posted(other)
		if r := mark(bridge.Mark{Deleted: &bridge.Deleted{Ref: other}}); len(r.Messages) > 0 || len(jobs()) > 0 {
			t.Errorf("after the second one was deleted: %+v", r.Messages)
		}
		if r := mark(bridge.Mark{Failed: &bridge.Failed{Reason: "deleted twice"}}); r.Failures[0] != "deleted twice" {
			t.Errorf("after it was given up: %v", r.Failures)
		}
	})
}
