package daemon_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// TestReplay checks that the events of a session contain the same as its
// records.
func TestReplay(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	want := map[bridge.ID]bridge.Record{}
	for _, id := range story(r) {
		r.Eventually("the delivery is recorded", func() bool {
			var err error
			want[id], err = r.Daemons[0].Engine().Get(r.Ctx, id)
			return err == nil && (!want[id].Delivered.IsZero() || !want[id].Queued.IsZero())
		})
	}
	var replay bridge.Replay
	var events []bridge.Event
	err := r.Agent.History(r.Ctx, "0", "story", func(e bridge.Event) error {
		events = append(events, e)
		return replay.Add(e)
	})
	if err != nil {
		t.Fatal(err)
	}
	sameRecords(t, want, replay.Records())
	replaysFrom(r, events)
}

// story takes a session through all kinds of events: a follow-up that is
// deferred and completed, a denial, a timeout, and two requests. A third request
// joins the second. It returns the IDs of the requests.
func story(r *rig.Rig) []bridge.ID {
	r.T.Helper()
	must := func(rec bridge.Record, err error) bridge.Record {
		r.T.Helper()
		if err != nil {
			r.T.Fatal(err)
		}
		return rec
	}
	answer := func(id bridge.ID, reply bridge.Reply) {
		r.T.Helper()
		if _, err := r.Person.Respond(r.Ctx, id, reply); err != nil {
			r.T.Fatal(err)
		}
	}
	req := samples.One(bridge.WidgetText)
	req.Session = "story"
	a := r.Ask(req)
	r.Typed("ana", a.On("slack"), "Answer", "v0")
	a.End()
	next := must(r.Agent.Reprompt(r.Ctx, a.Interaction.ID, bridge.Request{Ask: bridge.Ask{Error: "no"}}, "")).Interaction.ID
	must(r.Agent.Queue(r.Ctx, next, 0, ""))
	answer(next, bridge.Reply{Answers: map[string]bridge.Answer{"q": bridge.TextAnswer("v1")}})
	must(r.Agent.Complete(r.Ctx, next, bridge.Completion{Result: "done"}))
	yes := samples.Approval()
	yes.Session = "story"
	b := r.Ask(yes)
	r.Press("bo", b.On("telegram"), "Deny")
	b.End()
	late := samples.Approval()
	late.Session, late.Timeout = "story", bridge.Duration(inTime)
	c := r.Ask(late)
	c.End()
	var twins []bridge.ID
	for n := range 3 {
		req := samples.Approval()
		req.Session, req.Join = "story", true
		req.Approval.Input = fmt.Appendf(nil, `{"command":"step %d"}`, min(n, 1))
		twins = append(twins, must(r.Agent.Open(r.Ctx, req, "")).Interaction.ID)
	}
	for _, id := range twins[:2] {
		r.Eventually("it is posted", func() bool {
			rec, err := r.Agent.Get(r.Ctx, id)
			return err == nil && len(rec.Messages) == 3
		})
		answer(id, rig.AnswerOnce)
		must(r.Agent.Wait(r.Ctx, id))
	}
	return []bridge.ID{a.Interaction.ID, next, b.Interaction.ID, c.Interaction.ID, twins[0], twins[1]}
}

// sameRecords compares records from events with those in the store.
func sameRecords(t *testing.T, want map[bridge.ID]bridge.Record, got []bridge.Record) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d records from the events, want %d", len(got), len(want))
	}
	ignore := cmp.Options{
		cmpopts.IgnoreFields(bridge.Record{}, "Revision", "Head", "Unawaited", "Audit", "Receipt", "SentParts", "Shown"),
		cmpopts.EquateEmpty(),
		cmpopts.EquateApproxTime(time.Minute), // of the agent's clock and Redis's
	}
	for _, rec := range got {
		w := want[rec.Interaction.ID]
		if rec.Interaction.Previous != "" || !w.Queued.IsZero() {
			rec.Messages, w.Messages = nil, nil // taken over, not posted
			rec.Interaction.Deadline = w.Interaction.Deadline
		}
		if d := cmp.Diff(w, rec, ignore); d != "" {
			t.Errorf("%s (-stored +replayed):\n%s", rec.Interaction.ID, d)
		}
	}
}

// replaysFrom checks the history after a cursor and after a time.
func replaysFrom(r *rig.Rig, events []bridge.Event) {
	r.T.Helper()
	name := func(e bridge.Event) string {
		return fmt.Sprint(e.Timestamp.UnixMilli(), e.Type, e.InteractionID, string(e.Data))
	}
	var all []string
	for _, e := range events {
		all = append(all, name(e))
	}
	sameTime := slices.IndexFunc(events, func(e bridge.Event) bool { return !e.Timestamp.Before(events[3].Timestamp) })
	for after, from := range map[string]int{events[2].Cursor: 3, events[3].Timestamp.Format(time.RFC3339Nano): sameTime} {
		var rest []string
		err := r.Agent.History(r.Ctx, after, "story", func(e bridge.Event) error { rest = append(rest, name(e)); return nil })
		if err != nil {
			r.T.Fatal(err)
		}
		// A time is met within the millisecond that a script takes.
		if n := len(all) - len(rest); n > from || n < from-2 || after == events[2].Cursor && n != from {
			r.T.Errorf("after %s come %d events of %d, want all from %d on", after, len(rest), len(all), from)
		} else if d := cmp.Diff(all[n:], rest); d != "" {
			r.T.Errorf("after %s (-want +got):\n%s", after, d)
		}
	}
}
