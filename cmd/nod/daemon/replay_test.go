package daemon_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/rig"
)

// What the events of a session say is what its records say.
func TestReplay(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	req := rig.One(bridge.WidgetText)
	req.Session = "story"
	a := r.Ask(req)
	r.Typed("ana", a.On("slack"), "Answer", "v0")
	a.End()
	next, err := r.Agent.Reprompt(r.Ctx, a.Interaction.ID, bridge.Request{Ask: bridge.Ask{Error: "no"}}, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Agent.Queue(r.Ctx, next.Interaction.ID, 0, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Person.Respond(r.Ctx, next.Interaction.ID, bridge.Reply{Answers: map[string]bridge.Answer{"q": bridge.TextAnswer("v1")}}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Agent.Complete(r.Ctx, next.Interaction.ID, bridge.Completion{Result: "done"}); err != nil {
		t.Fatal(err)
	}
	yes := rig.Approval()
	yes.Session = "story"
	b := r.Ask(yes)
	r.Press("bo", b.On("telegram"), "Deny")
	b.End()
	late := rig.Approval()
	late.Session, late.Timeout = "story", bridge.Duration(time.Second)
	c := r.Ask(late)
	c.End()
	var pair []bridge.ID
	for n := range 3 { // two in one message, the third joins the second
		req := rig.Approval()
		req.Session, req.Batch, req.Join = "story", bridge.Duration(2*time.Second), true
		req.Approval.Input = fmt.Appendf(nil, `{"command":"step %d"}`, min(n, 1))
		rec, err := r.Agent.Open(r.Ctx, req, "")
		if err != nil {
			t.Fatal(err)
		}
		pair = append(pair, rec.Interaction.ID)
	}
	for _, id := range pair[:2] {
		r.Eventually("they are posted", func() bool { rec, err := r.Agent.Get(r.Ctx, pair[0]); return err == nil && len(rec.Messages) == 3 })
		if _, err := r.Person.Respond(r.Ctx, id, rig.AnswerOnce); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Agent.Wait(r.Ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	want := map[bridge.ID]bridge.Record{}
	for _, id := range []bridge.ID{a.Interaction.ID, next.Interaction.ID, b.Interaction.ID, c.Interaction.ID, pair[0], pair[1]} {
		r.Eventually("the delivery is noted", func() bool {
			want[id], err = r.Daemons[0].Engine().Get(r.Ctx, id)
			return err == nil && (!want[id].Delivered.IsZero() || !want[id].Queued.IsZero())
		})
	}
	var replay bridge.Replay
	var events []bridge.Event
	if err := r.Agent.History(r.Ctx, "0", "story", func(e bridge.Event) error { events = append(events, e); return replay.Add(e) }); err != nil {
		t.Fatal(err)
	}
	got := replay.Records()
	if len(got) != len(want) {
		t.Fatalf("%d records from the events, want %d", len(got), len(want))
	}
	ignore := cmp.Options{
		cmpopts.IgnoreFields(bridge.Record{}, "Revision", "Head", "Unawaited", "Audit", "Receipt", "Sending", "Shown", "Held"), cmpopts.EquateEmpty(),
		cmpopts.EquateApproxTime(time.Second), // of the agent's clock and Redis's
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
	// From any event on, and from any time on.
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
		if err := r.Agent.History(r.Ctx, after, "story", func(e bridge.Event) error { rest = append(rest, name(e)); return nil }); err != nil {
			t.Fatal(err)
		}
		// A time is met within the millisecond that a script takes.
		if n := len(all) - len(rest); n > from || n < from-2 || after == events[2].Cursor && n != from {
			t.Errorf("after %s come %d events of %d, want all from %d on", after, len(rest), len(all), from)
		} else if d := cmp.Diff(all[n:], rest); d != "" {
			t.Errorf("after %s (-want +got):\n%s", after, d)
		}
	}
}
