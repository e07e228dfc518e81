package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// overview returns everything that concerns a person on the platform of the cards.
func (w *world) overview(who string, n int) bridge.Overview {
	w.t.Helper()
	o, err := w.engine.Overview(w.t.Context(), bridge.Actor{Platform: "chat", User: "U-" + who}, n)
	if err != nil {
		w.t.Fatal(err)
	}
	return o
}

// TestOverview checks that people see their pending requests, that the controls
// work, and that other people see nothing.
func TestOverview(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	later := w.asked(func(r *bridge.Request) { r.Timeout = bridge.Duration(2 * time.Hour) }, confirm).Interaction.ID
	sooner := w.asked(func(r *bridge.Request) { r.Timeout = bridge.Duration(time.Hour) }, confirm).Interaction.ID
	w.asked(func(r *bridge.Request) { r.Kind, r.Prompt = bridge.KindNotice, "Done." })
	o := w.overview("ana", 5)
	if len(o.Waiting) != 2 || o.More || o.Waiting[0].View.Record.Interaction.ID != sooner || o.Waiting[1].Card != w.get(later).Messages[0] {
		t.Fatalf("ana has %+v", o)
	}
	if o := w.overview("ana", 1); len(o.Waiting) != 1 || !o.More {
		t.Errorf("one of two is %+v", o)
	}
	if o := w.overview("eve", 5); len(o.Waiting)+len(o.Grants)+len(o.Decided) > 0 {
		t.Errorf("eve has %+v", o)
	}
	before, err := w.engine.Changes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.eventually("the card is recorded", func() bool { return !w.overview("ana", 5).Waiting[0].Elsewhere })
	v, err := w.engine.Click(t.Context(), bridge.Click{
		Token: w.overview("ana", 5).Waiting[0].View.Token(bridge.ActionChoose, 0, 0), Actor: bridge.Actor{Platform: "chat", User: "U-ana"},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.said(v, bridge.VerdictSettled, "")
	w.state(sooner, bridge.StateAnswered)
	if after, err := w.engine.Changes(t.Context()); err != nil || after == before {
		t.Errorf("nothing has changed, %v", err)
	}
}

// TestUnreadable checks that lists of pending requests and grants count those that nod
// cannot read, instead of hiding them.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		kind   string
		format int
	}{
		"a newer nod wrote it":     {"life", 9999},
		"it does not fit its life": {"body", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, newSetup())
			bad, good := w.asked(nil, confirm).Interaction.ID, w.asked(nil, confirm).Interaction.ID
			d := stored.Must[[]broker.Doc](t)(w.store.DB.Get(t.Context(), broker.Key{Kind: x.kind, ID: string(bad)}))[0]
			d.Format = x.format
			stored.Must[broker.Done](t)(w.store.DB.Do(t.Context(), broker.Change{Put: []broker.Doc{d}}))
			found, _, err := w.engine.Pending(t.Context(), 0, func(bridge.Record) (bool, error) { return true, nil })
			if err != nil || len(found.Items) != 1 || found.Items[0].Interaction.ID != good || found.Unreadable != 1 {
				t.Errorf("%d are pending, %d unreadable: %v", len(found.Items), found.Unreadable, err)
			}
			if o := w.overview("ana", 5); o.Unreadable != 1 {
				t.Errorf("the overview is %+v", o)
			}
		})
	}
}

// TestNextDeadline checks that the requests that a person sees are those with
// the next deadlines, however many newer ones there are.
func TestNextDeadline(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	urgent := w.asked(func(r *bridge.Request) { r.Timeout = bridge.Duration(time.Hour) }, confirm).Interaction.ID
	for range 250 {
		w.asked(func(r *bridge.Request) { r.Timeout = bridge.Duration(2 * time.Hour) }, confirm)
	}
	if o := w.overview("ana", 5); len(o.Waiting) != 5 || !o.More || o.Waiting[0].View.Record.Interaction.ID != urgent {
		t.Errorf("the first of %d is not the one that expires next", len(o.Waiting))
	}
	all := func(bridge.Record) (bool, error) { return true, nil }
	found, more, err := w.engine.Pending(t.Context(), 0, all)
	if err != nil || more || len(found.Items) != 251 || found.Items[0].Interaction.ID != urgent {
		t.Errorf("%d are pending, more: %v, %v", len(found.Items), more, err)
	}
}

// TestRevokeAs checks that a person revokes a grant only if they may see it.
func TestRevokeAs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	id := w.open(agentCI, always("make x")).Interaction.ID
	w.press("ana", id, "C1", bridge.DecideAlways, "")
	w.state(id, bridge.StateApproved)
	if _, err := w.engine.Await(context.WithoutCancel(t.Context()), id); err != nil {
		t.Fatal(err)
	}
	o := w.overview("bo", 5)
	if len(o.Grants) != 1 {
		t.Fatalf("bo has %+v", o.Grants)
	}
	for _, c := range []struct{ who, want string }{{"eve", "Nothing was changed"}, {"bo", "Revoked"}, {"bo", "Nothing was changed"}} {
		said, err := w.engine.RevokeAs(t.Context(), bridge.Actor{Platform: "chat", User: "U-" + c.who}, o.Grants[0].ID())
		if err != nil || !strings.Contains(said, c.want) {
			t.Errorf("%s reads %q, %v", c.who, said, err)
		}
	}
	if left := w.overview("bo", 5).Grants; len(left) != 0 {
		t.Errorf("%+v is left", left)
	}
}
