package engine_test

import (
	"context"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/directory"
	"github.com/nodbridge/nod/bridge/life"
)

// picks delegates to an account that a person picks in a select of people.
func (w *world) picks(who, to string, id bridge.ID) bridge.Verdict {
	w.t.Helper()
	c := w.control(who, id, bridge.ActionHandOver, 0, bridge.OptionAnyone, nil)
	c.Picked = to
	v, err := w.engine.Click(w.t.Context(), c)
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

// TestDelegateToPicked checks that a picked account gets a request only if the
// route names its person or a group of the person.
func TestDelegateToPicked(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.groups = map[string]directory.Group{"sre": {People: []string{"cy", "di"}}}
	route := s.routes["default"]
	route.HandOver = []string{"@sre"}
	s.routes["default"] = route
	w := newWorld(t, s)
	id := w.asked(func(r *bridge.Request) { r.Requester = "di" }, confirm).Interaction.ID
	for _, c := range []struct {
		by, to string
		want   bridge.VerdictKind
		note   string
	}{
		{"eve", "U-cy", bridge.VerdictForbidden, "may not answer"},
		{"ana", "U-eve", bridge.VerdictForbidden, "Nothing was changed"},
		{"ana", "U-nobody", bridge.VerdictForbidden, "does not know this account"},
		{"ana", "U-di", bridge.VerdictForbidden, "requested this"},
		{"ana", "", bridge.VerdictUnknown, ""},
	} {
		w.said(w.picks(c.by, c.to, id), c.want, c.note)
	}
	if r := w.get(id); len(r.Interaction.Called) > 0 || len(r.Reminders) > 0 {
		t.Fatalf("delegated to %v", r.Interaction.Called)
	}
	w.said(w.use("cy", id, bridge.ActionChoose, 0, 0, nil), bridge.VerdictForbidden, "")
	w.said(w.use("ana", id, bridge.ActionHandOver, 0, 0, nil), bridge.VerdictUnknown, "") // a group has no button
	w.said(w.picks("ana", "U-cy", id), bridge.VerdictNoted, "cy can answer now")
	w.said(w.use("cy", id, bridge.ActionChoose, 0, 0, nil), bridge.VerdictSettled, "")
}

// marks lets something happen right before the first amendment is stored.
type marks struct {
	core.Port
	first func()
}

func (o *marks) Mark(ctx context.Context, id bridge.ID, m life.Mark) (bridge.Record, error) {
	if f := o.first; f != nil && m.Amended != nil {
		o.first = nil
		f()
	}
	return o.Port.Mark(ctx, id, m)
}

// TestChangedWhileDelegating checks that no one is added to a request whose rules another
// daemon has changed so that they do not allow it.
func TestChangedWhileDelegating(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*setup){
		"no delegation":         func(s *setup) { s.routes["default"] = routeTo("C1", "ana", "bo", "eve") },
		"another responder now": func(s *setup) { s.routes["default"] = handsOver(routeTo("C1", "bo", "eve")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup()
			s.policy = ruledBy(bridge.Ruling{})
			s.routes["default"] = handsOver(s.routes["default"])
			w := newWorld(t, s)
			id := w.open(agentCI, shell("make x")).Interaction.ID
			between := &marks{Port: w.store}
			w.between = between
			w.reload(s)
			w.between = nil
			here := w.engine
			between.first = func() {
				restated(func(s *setup) {
					change(s)
					s.policy = ruledBy(bridge.Ruling{Risk: "critical"})
				})(nil, w, id)
				w.engine = here
			}
			v := w.picks("ana", "U-cy", id)
			if w.engine.People.MayAnswer(t.Context(), w.get(id).Interaction, bridge.Actor{Platform: "chat", User: "U-cy"}) {
				t.Error("cy can answer")
			}
			w.said(v, bridge.VerdictForbidden, "have changed")
		})
	}
}

// handsOver returns a route that can hand over to cy.
func handsOver(r bridge.Route) bridge.Route {
	r.HandOver = []string{"cy"}
	return r
}
