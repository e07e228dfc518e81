package core_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
)

// TestOutbox checks that a leased job is not handed out again, that several edits of a
// message become one job, and that a stale worker ends nothing.
func TestOutbox(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		ctx, s := t.Context(), daemon("n")
		r := open(t, s, nil)
		jobs := claimAll(t, s, 2)
		if again := must[[]core.Job](t)(s.Claim(ctx, 10, time.Minute)); len(again) != 0 {
			t.Errorf("leased jobs were handed out again: %v", again)
		}
		posted(t, s, r, 0)
		approve(t, s, r.Interaction.ID)
		if got := posted(t, s, r, 1); got.State != bridge.StateApproved { // what it shows is older
			t.Errorf("the poster got %s", got.State)
		}
		noError(t, s.Delivered(ctx, r))
		for _, j := range jobs {
			noError(t, s.Finish(ctx, j))
		}
		edits := claimAll(t, s, 2)
		if edits[0].Kind != life.JobEdit || edits[1].Kind != life.JobEdit || edits[0].Destination == edits[1].Destination {
			t.Fatalf("the edits are %+v", edits)
		}
		noError(t, s.Retry(ctx, edits[0], 0, "test"))
		second := claimAll(t, s, 1)
		if second[0].Attempt != 2 || second[0].Fence == edits[0].Fence {
			t.Errorf("the retry is %+v", second[0])
		}
		noError(t, s.Finish(ctx, edits[0])) // a stale worker
		if ok := must[bool](t)(s.Extend(ctx, edits[0], time.Hour)); ok {
			t.Error("a stale worker extends the lease")
		}
		if ok := must[bool](t)(s.Extend(ctx, second[0], time.Hour)); !ok {
			t.Error("the lease was lost")
		}
		noError(t, s.Bury(ctx, second[0], "no"))
		noError(t, s.Finish(ctx, edits[1]))
		if st := must[bridge.Stats](t)(s.Stats(ctx)); st.Jobs != 0 || st.Dead != 1 {
			t.Errorf("the figures are %+v", st)
		}
	})
}

// TestLines checks that the cards of one agent are posted to a channel in the order of
// their openings, whichever daemon opened them: only the first can be claimed. The next
// one follows once it is posted or fails for a reason of its own, but not while the
// platform refuses it.
func TestLines(t *testing.T) {
	t.Parallel()
	one := func(i *bridge.Interaction) { i.Destinations = i.Destinations[:1] }
	each(t, func(t *testing.T, daemon opener) {
		ctx, nodes := t.Context(), []interface {
			core.Port
		}{daemon("a"), daemon("b")}
		s := daemon("c")
		var ids []bridge.ID
		for n := range 5 {
			ids = append(ids, open(t, nodes[n%2], one).Interaction.ID)
		}
		other := open(t, s, func(i *bridge.Interaction) { one(i); i.Agent = "other" }).Interaction.ID
		held := open(t, s, func(i *bridge.Interaction) { one(i); i.Grace = bridge.Duration(time.Hour) }).Interaction.ID
		next := func(want ...bridge.ID) core.Job {
			t.Helper()
			jobs := must[[]core.Job](t)(s.Claim(ctx, 10, time.Minute))
			var got []bridge.ID
			for _, j := range jobs {
				got = append(got, j.Interaction)
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Fatalf("due are %v, want %v", got, want)
			}
			i := slices.IndexFunc(jobs, func(j core.Job) bool { return j.Interaction != other })
			if i < 0 {
				return core.Job{}
			}
			return jobs[i]
		}
		j := next(ids[0], other)
		next()
		noError(t, s.Finish(ctx, j))
		j = next(ids[1])
		noError(t, s.Retry(ctx, j, time.Hour, "the channel is gone")) // the job itself failed
		j = next(ids[2])
		j.KeepsPlace = true
		noError(t, s.Retry(ctx, j, time.Millisecond, "")) // the platform limits the rate
		pass(t, 5*time.Millisecond)
		j = next(ids[2])
		if j.Attempt != 1 {
			t.Errorf("a wait for the platform counts as an attempt: %d", j.Attempt)
		}
		j.KeepsPlace = true
		noError(t, s.Finish(ctx, j)) // there is no place to keep
		j = next(ids[3])
		approve(t, s, ids[4])
		noError(t, s.Bury(ctx, j, "no"))
		next(ids[4]) // the card shows the end
		if _, err := s.Load(ctx, held); err != nil {
			t.Error(err)
		}
	})
}

// TestParts checks that each part of a long text is recorded once and in order, even
// if a call is repeated, and that other content starts again.
func TestParts(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		s := daemon("one")
		id := open(t, s, nil).Interaction.ID
		part := func(content string, n int, message string) bridge.Code {
			_, err := s.Mark(t.Context(), id, life.Part{Destination: 1, Content: content, N: n, Ref: bridge.MessageRef{Channel: "C", Message: message}})
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
		rec := mark(t, s, id, life.Shown{Destination: 1, Content: "bb"})
		want := map[int]bridge.SentParts{1: {Content: "bb", Parts: []bridge.MessageRef{{Channel: "C", Message: "4"}}}}
		if d := cmp.Diff(want, rec.SentParts); d != "" {
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
	bubble(t, func(t *testing.T, daemon opener) {
		s := daemon("one")
		id := open(t, s, nil).Interaction.ID
		ref, other := bridge.MessageRef{Channel: "C", Message: "1"}, bridge.MessageRef{Channel: "C", Message: "2"}
		work(t, s)
		post := func(ref bridge.MessageRef) {
			t.Helper()
			mark(t, s, id, life.Posted{Ref: ref, Revision: 1, Content: "aa", Look: time.Hour})
		}
		post(ref)
		if got := work(t, s); len(got) > 0 {
			t.Errorf("after the post, %v is due", got)
		}
		if r := mark(t, s, id, life.Deleted{Ref: other, Again: true}); r.Messages[0] != ref || len(work(t, s)) > 0 {
			t.Errorf("after another message was deleted: %+v", r.Messages)
		}
		if r := mark(t, s, id, life.Deleted{Ref: ref, Again: true}); len(r.Messages) > 0 || r.Shown[0] != "" {
			t.Errorf("after it was deleted: %+v, shown %v", r.Messages, r.Shown)
		}
		if got := work(t, s); got[life.JobPost] != 1 {
			t.Errorf("after it was deleted, %v is due", got)
		}
		post(other)
		twice := life.Deleted{Failed: life.Failed{Reason: "deleted twice"}, Ref: ref}
		if r := mark(t, s, id, twice); r.Messages[0] != other || r.Failures[0] != "" {
			t.Errorf("after the first one was reported again: %+v, %v", r.Messages, r.Failures)
		}
		twice.Ref = other
		if r := mark(t, s, id, twice); len(r.Messages) > 0 || len(work(t, s)) > 0 || r.Failures[0] != "deleted twice" {
			t.Errorf("after the second one was deleted: %+v, %v", r.Messages, r.Failures)
		}
	})
}

// TestLook checks that a card that is up to date is drawn again after some time.
func TestLook(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		s := daemon("n")
		r := open(t, s, func(i *bridge.Interaction) { i.Deadline = i.Created.Add(3 * time.Hour) })
		work(t, s)
		mark(t, s, r.Interaction.ID, life.Posted{Ref: bridge.MessageRef{Channel: "C", Message: "1"}, Revision: 1, Look: time.Hour})
		pass(t, time.Hour-time.Second)
		if got := work(t, s); len(got) > 0 {
			t.Errorf("before its time: %v", got)
		}
		pass(t, time.Second)
		if got := work(t, s); got[life.JobEdit] != 1 {
			t.Errorf("at its time: %v", got)
		}
	})
}

// TestRefresh checks that a delayed update does not postpone an earlier one.
func TestRefresh(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		s := daemon("n")
		r := open(t, s, nil)
		posted(t, s, r, 0)
		work(t, s)
		for _, d := range []time.Duration{time.Hour, 0, time.Hour} {
			mark(t, s, r.Interaction.ID, life.Refresh{Delay: d})
			if got := must[bridge.Stats](t)(s.Stats(t.Context())); got.Jobs != 1 {
				t.Errorf("%d jobs", got.Jobs)
			}
		}
		if got := work(t, s); fmt.Sprint(got) != "map[edit:1]" {
			t.Errorf("due are %v", got)
		}
	})
}
