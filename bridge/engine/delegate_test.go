package engine_test

import (
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/directory"
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
