package audit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/rooms/audit"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// auditEntries appends three entries to the journal, and returns them.
func auditEntries(t *testing.T, b *ledger) []bridge.AuditEntry {
	t.Helper()
	for range 3 {
		if err := write(t, b, bridge.AuditEntry{Type: bridge.AuditRevoke, Agent: "ci", Data: json.RawMessage(`{"a":1}`)}); err != nil {
			t.Fatal(err)
		}
	}
	entries := stored.Must[[]bridge.AuditEntry](t)(b.AuditEntries(t.Context(), "", 10))
	if len(entries) != 3 {
		t.Fatalf("the entries are %+v", entries)
	}
	return entries
}

// TestAuditLog checks that the journal is read on from any entry, and that its newest
// entries are listed without events.
func TestAuditLog(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		b := daemon("n")
		entries := auditEntries(t, b)
		if string(entries[1].Data) != `{"a":1}` || entries[1].Type != bridge.AuditRevoke || entries[1].Agent != "ci" || entries[1].Timestamp == 0 || entries[1].Event != "" {
			t.Errorf("the entries are %+v", entries)
		}
		rest := stored.Must[[]bridge.AuditEntry](t)(b.AuditEntries(t.Context(), entries[1].Entry, 10))
		if len(rest) != 1 || rest[0].Entry != entries[2].Entry {
			t.Errorf("after the second are %+v", rest)
		}
		for _, key := range []string{"a", "b", "c", "d"} {
			r := stored.Open(t, b.Store, func(i *bridge.Interaction) { i.Session = key })
			r, _, err := b.Resolve(t.Context(), stored.Yes(r.Interaction.ID, "U"))
			if err != nil || r.Audit == nil || r.Audit.Entry == "" {
				t.Fatalf("the record names %+v, %v", r.Audit, err)
			}
		}
		seen, last, cursor := map[string]bool{}, "", ""
		for {
			page, next, err := b.AuditNewest(t.Context(), cursor, 2)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range page {
				if last != "" && bridge.CompareEntries(e.Entry, last) >= 0 || e.Type == bridge.AuditEvent {
					t.Errorf("entry %s is listed twice, out of order, or an event", e.Entry)
				}
				seen[e.Entry], last = true, e.Entry
			}
			if cursor = next; cursor == "" {
				break
			}
		}
		if len(seen) != 7 {
			t.Errorf("%d of 7 entries are listed", len(seen))
		}
		if _, _, err := b.AuditNewest(t.Context(), "x", 2); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("an invalid cursor: %v", err)
		}
	})
}

// TestJournal checks that a transition is one entry of the journal, and that
// readers of events get what they got before: no entry that is not an event.
func TestJournal(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		b := daemon("n")
		r := stored.Open(t, b.Store, func(i *bridge.Interaction) { i.Session, i.ToolCall = "s", "call-1" })
		id := r.Interaction.ID
		if _, _, err := b.Resolve(t.Context(), stored.Yes(id, "U")); err != nil {
			t.Fatal(err)
		}
		refusal := bridge.AuditEntry{Type: bridge.AuditRefusal, ID: id, Agent: r.Interaction.Agent, Session: "s", Data: json.RawMessage(`{"why":"secret"}`)}
		if err := write(t, b, refusal); err != nil {
			t.Fatal(err)
		}
		entries := stored.Must[[]bridge.AuditEntry](t)(b.AuditEntries(t.Context(), "", 10))
		if len(entries) != 3 {
			t.Fatalf("the journal has %+v", entries)
		}
		opened, decided, refused := entries[0], entries[1], entries[2]
		if opened.Type != bridge.AuditEvent || opened.Event != bridge.EventRequest || opened.Correlation == "" {
			t.Errorf("the opening is %+v", opened)
		}
		if decided.Type != bridge.AuditDecision || decided.Event != bridge.EventResponse || decided.State != bridge.StateApproved || len(decided.Data) == 0 {
			t.Errorf("the decision is %+v", decided)
		}
		if refused.Type != bridge.AuditRefusal || refused.Event != "" || refused.ID != id || refused.Session != "s" {
			t.Errorf("the refusal is %+v", refused)
		}
		events, _, err := b.Events(t.Context(), "", bridge.EventFilter{})
		if err != nil || len(events) != 2 || events[0].ToolCallID != "call-1" || string(events[1].Data) != string(decided.Data) {
			t.Errorf("the events are %+v, %v", events, err)
		}
	})
}

// TestCounts checks that the counts of a journal show a deleted entry, and that
// trimming does not look like one.
func TestCounts(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		b := daemon("n")
		entries := auditEntries(t, b)
		counts := stored.Must[bridge.AuditCounts](t)(b.AuditCounts(t.Context()))
		if counts.Added != 3 || counts.Last != entries[2].Entry || bridge.CompareEntries(counts.Deleted, entries[0].Entry) >= 0 {
			t.Errorf("the counts are %+v", counts)
		}
		seal := audit.NewSeal{Token: "a", Entry: entries[0].Entry}
		if err := b.PutSeal(t.Context(), seal); err != nil {
			t.Fatal(err)
		}
		if err := b.TrimAudit(t.Context(), audit.AuditTrim{Token: "t", Entry: entries[0].Entry}); err != nil {
			t.Fatal(err)
		}
		if after := stored.Must[bridge.AuditCounts](t)(b.AuditCounts(t.Context())); after != counts {
			t.Errorf("after a trim, the counts are %+v and not %+v", after, counts)
		}
		if err := b.DB.Remove(t.Context(), broker.Journal, []string{entries[1].Entry}); err != nil {
			t.Fatal(err)
		}
		if after := stored.Must[bridge.AuditCounts](t)(b.AuditCounts(t.Context())); after.Deleted != entries[1].Entry || after.Added != 3 {
			t.Errorf("after a deletion, the counts are %+v", after)
		}
	})
}

// TestSealRace checks that if two daemons seal the same log at once, exactly
// one of them succeeds each time, and that the seals are in order.
func TestSealRace(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		ctx, daemons := t.Context(), []*ledger{daemon("n1"), daemon("n2")}
		auditEntries(t, daemons[0])
		after := ""
		for n := int64(1); n <= 30; n++ {
			errs := make([]error, len(daemons))
			var both sync.WaitGroup
			for k, b := range daemons {
				both.Go(func() {
					token := fmt.Sprintf("%d by %d", n, k)
					entry, instead := fmt.Sprintf("%d-1", n+int64(k)), fmt.Sprintf("%d-1", n-1)
					errs[k] = b.PutSeal(ctx, audit.NewSeal{After: after, Token: token, Entry: entry, Instead: instead})
				})
			}
			both.Wait()
			won := slices.Index(errs, nil)
			if won < 0 || bridge.ErrorCode(errs[1-won]) != bridge.CodeConflict {
				t.Fatalf("both daemons sealed: %v", errs)
			}
			after = fmt.Sprintf("%d by %d", n, won)
			n += int64(won)
			head := stored.Must[audit.SealedAudit](t)(daemons[0].Sealed(ctx))
			if all := stored.Must[[]string](t)(daemons[1].Seals(ctx)); head.Sealed != after || all[len(all)-1] != after {
				t.Fatalf("the head is %q and the seals are %q, not %q", head.Sealed, all, after)
			}
		}
	})
}

// TestSeals checks that an entry has one seal, that a journal can be trimmed up
// to a seal, and that a slower daemon does not move its start back.
func TestSeals(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		ctx, b := t.Context(), daemon("n")
		entries := auditEntries(t, b)
		last := ""
		for n, e := range entries {
			s := audit.NewSeal{After: last, Token: fmt.Sprintf("seal-%d", n+1), Entry: e.Entry}
			if err := b.PutSeal(ctx, s); err != nil {
				t.Fatal(err)
			}
			last = s.Token
		}
		head := func() audit.SealedAudit { return stored.Must[audit.SealedAudit](t)(b.Sealed(ctx)) }
		if h := head(); h.Sealed != "seal-3" || h.Through != entries[2].Entry || h.Last != entries[2].Entry {
			t.Errorf("the head is %+v", h)
		}
		late := audit.NewSeal{After: "seal-2", Token: "other", Entry: entries[2].Entry, Instead: entries[1].Entry}
		if err := b.PutSeal(ctx, late); bridge.ErrorCode(err) != bridge.CodeConflict {
			t.Errorf("a second seal of the third entry: %v", err)
		}
		if seals := stored.Must[[]string](t)(b.Seals(ctx)); head().Sealed != "seal-3" || !slices.Equal(seals, []string{"seal-1", "seal-2", "seal-3"}) {
			t.Errorf("after a late seal, the seals are %v", seals)
		}
		// The second of two daemons that trim at once is slower.
		for _, n := range []int{1, 0} {
			if err := b.TrimAudit(ctx, audit.AuditTrim{Token: fmt.Sprintf("trim-%d", n+1), Entry: entries[n].Entry}); err != nil {
				t.Fatal(err)
			}
		}
		if seals := stored.Must[[]string](t)(b.Seals(ctx)); head().Trimmed != "trim-2" || !slices.Equal(seals, []string{"trim-2", "seal-3"}) {
			t.Errorf("the seals are %v", seals)
		}
		if rest := stored.Must[[]bridge.AuditEntry](t)(b.AuditEntries(ctx, "", 10)); len(rest) != 1 || rest[0].Entry != entries[2].Entry {
			t.Errorf("the trimmed journal has %+v", rest)
		}
	})
}

// deaf is a database whose reply to the next change is lost.
type deaf struct {
	broker.Store
	lost bool
}

func (d *deaf) Do(ctx context.Context, c broker.Change) (broker.Done, error) {
	done, err := d.Store.Do(ctx, c)
	if err == nil && !d.lost {
		d.lost, err = true, bridge.Errorf(bridge.CodeUnavailable, "the reply was lost")
	}
	return done, err
}

// TestTrimAgain checks that a trim whose reply was lost is completed when it is repeated.
func TestTrimAgain(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		b := daemon("n")
		entries := auditEntries(t, b)
		stored.NoError(t, b.PutSeal(t.Context(), audit.NewSeal{Token: "a", Entry: entries[0].Entry}))
		db := b.Documents()
		db.Store = &deaf{Store: db.Store}
		log, trim := audit.NewEntries(db, 0), audit.AuditTrim{Token: "t", Entry: entries[0].Entry}
		for _, want := range []bridge.Code{bridge.CodeUnavailable, "", ""} {
			if err := log.TrimAudit(t.Context(), trim); bridge.ErrorCode(err) != want {
				t.Errorf("%v, want %q", err, want)
			}
		}
		if rest := stored.Must[[]bridge.AuditEntry](t)(b.AuditEntries(t.Context(), "", 10)); len(rest) != len(entries)-1 {
			t.Errorf("the trimmed journal has %+v", rest)
		}
	})
}
