package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/directory"
	"github.com/nodbridge/nod/broker"
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
			between := &meddler{Port: w.store}
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

// handsOver returns a route whose requests can be delegated to cy.
func handsOver(r bridge.Route) bridge.Route {
	r.HandOver = []string{"cy"}
	return r
}

// refusing is a database that refuses changes.
type refusing struct {
	broker.Store
	refuses func(broker.Change) bool
}

func (r refusing) Do(ctx context.Context, c broker.Change) (broker.Done, error) {
	if r.refuses(c) {
		return broker.Done{}, bridge.Errorf(bridge.CodeUnavailable, "refused")
	}
	return r.Store.Do(ctx, c)
}

// TestDelegationAudited checks that the audit log has each delegation in the change that
// stores it, and nothing about a click that changes nothing because another one was first.
func TestDelegationAudited(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.routes["default"] = handsOver(s.routes["default"])
	w := newWorld(t, s)
	id := w.open(agentCI, shell("make x")).Interaction.ID
	db := w.store.DB
	w.store.DB = refusing{db, func(c broker.Change) bool { return len(c.Journal) > 0 }}
	w.reload(s)
	between := &meddler{Port: w.store, first: func() {
		if v := w.picks("bo", "U-cy", id); v.Kind != bridge.VerdictNoted {
			t.Errorf("bo delegates: %+v", v)
		}
	}}
	w.between = between
	w.reload(s)
	w.said(w.picks("ana", "U-cy", id), bridge.VerdictNoted, "already asked")
	w.store.DB = db
	var by []string
	for _, e := range w.audited(bridge.AuditHandOver) {
		by = append(by, string(e.Data))
	}
	if len(by) != 1 || !strings.Contains(by[0], "U-bo") {
		t.Errorf("the audit log has %q", by)
	}
}
