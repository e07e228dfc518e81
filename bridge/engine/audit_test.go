package engine_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/broker"
)

// TestExport checks that the audit log is exported with seals that verify, and
// that what outlived its retention goes.
func TestExport(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.signer, s.kept = newSigner(t), time.Nanosecond
	w := newWorld(t, s)
	id := w.asked(nil, confirm).Interaction.ID
	w.use("eve", id, bridge.ActionChoose, 0, 0, nil)
	w.use("ana", id, bridge.ActionChoose, 0, 0, nil)
	var log bytes.Buffer
	verified := func() proof.AuditReport {
		log.Reset()
		if err := w.engine.Audit.Export(t.Context(), &log); err != nil {
			t.Fatal(err)
		}
		r, err := proof.VerifyAudit(bytes.NewReader(log.Bytes()), w.engine.Audit.PublicKeys())
		if err != nil || len(r.Problems) != 0 {
			t.Fatalf("the log: %+v, %v", r, err)
		}
		return r
	}
	w.eventually("the log is sealed", func() bool {
		r := verified()
		return r.Entries == 2 && r.Unsealed == 0 && r.Seals > 0
	})
	if h := w.engine.Audit.Health(); h.State != bridge.HealthUp {
		t.Errorf("its health is %+v", h)
	}
	if err := w.engine.Audit.TrimBefore(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	later := w.asked(nil, confirm).Interaction.ID // so that the log goes on after what was trimmed
	w.use("ana", later, bridge.ActionChoose, 0, 0, nil)
	if r := verified(); r.Entries == 0 || strings.Contains(log.String(), string(id)) {
		t.Errorf("after it was trimmed: %+v", r)
	}
}

// TestEvents checks that readers get the events and lists that verify.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.signer = newSigner(t)
	route := s.routes["default"]
	route.Quorum = 2
	s.routes["default"] = route
	w := newWorld(t, s)
	id := w.open(bridge.Agent{Name: "ci"}, shell("make x")).Interaction.ID
	w.press("ana", id, "C1", bridge.DecideOnce, "")
	w.press("bo", id, "C1", bridge.DecideOnce, "")
	w.state(id, bridge.StateApproved)
	list, err := w.store.List(t.Context(), bridge.ListFilter{})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("the list: %+v, %v", list, err)
	}
	if r := list.Items[0]; r.Unverified != "" || r.Receipt == "" {
		t.Errorf("the record is %q", r.Unverified)
	}
	rec, err := w.engine.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	cursor := w.store.CursorAt(time.Now().Add(-time.Hour))
	events, _, err := w.store.Events(t.Context(), cursor, bridge.EventFilter{})
	if err != nil || len(events) < 4 {
		t.Fatalf("%d events: %v", len(events), err)
	}
	of := life.Life{Agent: "ci", Session: rec.Interaction.Session}
	other := of
	other.Agent = "other"
	forged := rec.Votes[0]
	forged.Actor.Person = "eve"
	if _, err := w.store.DB.Do(t.Context(), broker.Change{Journal: []broker.Entry{
		life.Entry(bridge.EventVoted, id, of, bridge.StatePending, string(proof.Stable(forged)), bridge.AuditVote),
		life.Entry(bridge.EventVoted, id, of, bridge.StatePending, string(proof.Stable(rec.Votes[0])), ""),
		life.Entry(bridge.EventResponse, id, of, bridge.StateDenied, string(proof.Stable(rec.Response)), ""),
		life.Entry(bridge.EventDelivered, id, of, bridge.StateDenied, "", ""),
		life.Entry(bridge.EventRequest, id, other, bridge.StatePending, string(proof.Stable(rec.Interaction)), ""),
		life.Entry(bridge.EventWidened, id, other, bridge.StatePending, string(proof.Stable(rec.Interaction)), ""),
	}}); err != nil {
		t.Fatal(err)
	}
	again, _, err := w.store.Events(t.Context(), cursor, bridge.EventFilter{})
	if err != nil || len(again) != len(events) {
		t.Errorf("%d events with forged ones, want %d: %v", len(again), len(events), err)
	}
	if got, err := w.engine.Inspect(t.Context(), id); err != nil || got.Receipt == "" {
		t.Errorf("as stored, it is %q, %v", got.Unverified, err)
	}
	if token, err := w.engine.Audit.StateAnswer([]bridge.Record{rec}, []byte("{}")); err != nil || token == "" {
		t.Errorf("the statement: %q, %v", token, err)
	}
}
