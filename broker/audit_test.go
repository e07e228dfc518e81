package broker_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/redistest"
)

// appendLinked appends an entry to a log as versions before the journal do.
func appendLinked(t *testing.T, c redis.UniversalClient, e bridge.AuditEntry) {
	t.Helper()
	code, err := os.ReadFile("testdata/audit-1.lua")
	if err != nil {
		t.Fatal(err)
	}
	p := fmt.Sprintf("nod:{%d}:", e.Partition)
	if err := c.Eval(t.Context(), string(code), []string{p + "au", p + "auh"},
		string(e.ID), string(e.Type), e.Agent, e.Session, string(e.State), string(e.Data)).Err(); err != nil {
		t.Fatal(err)
	}
}

// auditParts are the logs of the first partition.
var auditParts = []bridge.AuditPart{{Linked: true}, {}}

// auditEntries appends three entries to a log of the first partition, and
// returns them.
func auditEntries(t *testing.T, c redis.UniversalClient, b *broker.Broker, part bridge.AuditPart) []bridge.AuditEntry {
	t.Helper()
	for range 3 {
		e := bridge.AuditEntry{Type: bridge.AuditRevoke, Agent: "ci", Data: json.RawMessage(`{"a":1}`)}
		if part.Linked {
			appendLinked(t, c, e)
		} else if err := b.Audit(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	entries := must[[]bridge.AuditEntry](t)(b.AuditEntries(t.Context(), part, "", 10))
	if len(entries) != 3 {
		t.Fatalf("the entries are %+v", entries)
	}
	return entries
}

// placeOf is the place of the seal of an entry.
func placeOf(e bridge.AuditEntry) bridge.SealPlace { return bridge.SealPlace{N: e.N, Entry: e.Entry} }

// TestAuditLog checks that both logs are read on from any entry, and that the
// newest entries of both are listed without events.
func TestAuditLog(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "n")
		for _, part := range auditParts {
			entries := auditEntries(t, c, b, part)
			if string(entries[1].Data) != `{"a":1}` || entries[1].Type != bridge.AuditRevoke || entries[1].Agent != "ci" || entries[1].Timestamp == 0 {
				t.Errorf("the entries are %+v", entries)
			}
			if part.Linked != (entries[2].N == 3) || part.Linked != (entries[2].Link != "") || part.Linked == (entries[2].Entry != "") {
				t.Errorf("the last entry of %+v is %+v", part, entries[2])
			}
			rest := must[[]bridge.AuditEntry](t)(b.AuditEntries(t.Context(), part, entries[1].Cursor, 10))
			if len(rest) != 1 || rest[0].Cursor != entries[2].Cursor {
				t.Errorf("after the second are %+v", rest)
			}
		}
		for _, key := range []string{"a", "b", "c", "d"} {
			r := open(t, b, func(i *bridge.Interaction) { i.Session = key })
			r, _, err := b.Settle(t.Context(), yes(r.Interaction.ID, "U"))
			if err != nil || r.Audit == nil || r.Audit.Entry == "" {
				t.Fatalf("the record names %+v, %v", r.Audit, err)
			}
		}
		seen, last, ofLog, cursor := map[string]bool{}, "9", map[string]string{}, "" // times have the same length
		for {
			page, next, err := b.AuditNewest(t.Context(), cursor, 2)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range page {
				key, log := fmt.Sprint(e.Partition, " ", e.N, e.Entry), fmt.Sprint(e.Partition, e.N > 0)
				// The scripts of the embedded server may start before the time in the ID.
				at, before := e.Cursor[:strings.Index(e.Cursor, "-")], ofLog[log] == "" || bridge.CompareEntries(e.Cursor, ofLog[log]) < 0
				if seen[key] || at > last || !before || e.Type == bridge.AuditEvent {
					t.Errorf("entry %s is listed twice, out of order, or an event", key)
				}
				seen[key], last, ofLog[log] = true, at, e.Cursor
			}
			if cursor = next; cursor == "" {
				break
			}
		}
		if len(seen) != 10 {
			t.Errorf("%d of 10 entries are listed", len(seen))
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
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "n")
		r := open(t, b, func(i *bridge.Interaction) { i.Session, i.ToolCall = "s", "call-1" })
		id := r.Interaction.ID
		if _, _, err := b.Settle(t.Context(), yes(id, "U")); err != nil {
			t.Fatal(err)
		}
		refusal := bridge.AuditEntry{Type: bridge.AuditRefusal, ID: id, Agent: r.Interaction.Agent, Session: "s", Data: json.RawMessage(`{"why":"secret"}`)}
		if err := b.Audit(t.Context(), refusal); err != nil {
			t.Fatal(err)
		}
		entries := must[[]bridge.AuditEntry](t)(b.AuditEntries(t.Context(), bridge.AuditPart{Partition: id.Partition()}, "", 10))
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
		// An earlier version decodes an event by these names.
		for _, m := range c.XRange(t.Context(), fmt.Sprintf("nod:{%d}:ev", id.Partition()), "-", "+").Val() {
			if m.ID == refused.Entry && (m.Values["t"] != nil || m.Values["i"] != nil || m.Values["a"] != nil || m.Values["s"] != nil || m.Values["d"] != nil) {
				t.Errorf("an earlier version shows the refusal to agents: %v", m.Values)
			}
		}
	})
}

// TestCounts checks that the counts of a journal show a deleted entry, and that
// trimming does not look like one.
func TestCounts(t *testing.T) {
	t.Parallel()
	c := redistest.Shared(t).Client(t)
	b, part := newBroker(t, c, "n"), bridge.AuditPart{}
	entries := auditEntries(t, c, b, part)
	counts := must[bridge.AuditCounts](t)(b.AuditCounts(t.Context(), part))
	if counts.Added != 3 || counts.Last != entries[2].Entry || bridge.CompareEntries(counts.Deleted, entries[0].Entry) >= 0 {
		t.Errorf("the counts are %+v", counts)
	}
	seal := bridge.NewSeal{Token: "a", Place: placeOf(entries[0]), Cursor: entries[0].Cursor}
	if err := b.PutSeal(t.Context(), part, seal); err != nil {
		t.Fatal(err)
	}
	if err := b.TrimAudit(t.Context(), part, bridge.AuditTrim{Token: "t", Place: placeOf(entries[0])}); err != nil {
		t.Fatal(err)
	}
	if after := must[bridge.AuditCounts](t)(b.AuditCounts(t.Context(), part)); after != counts {
		t.Errorf("after a trim, the counts are %+v and not %+v", after, counts)
	}
	if err := c.XDel(t.Context(), "nod:{0}:ev", entries[1].Entry).Err(); err != nil {
		t.Fatal(err)
	}
	if after := must[bridge.AuditCounts](t)(b.AuditCounts(t.Context(), part)); after.Deleted != entries[1].Entry || after.Added != 3 {
		t.Errorf("after a deletion, the counts are %+v", after)
	}
}

// TestSealRace checks that of two daemons that seal the same log at once, each
// time exactly one succeeds, and that the seals are in order.
func TestSealRace(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		ctx, daemons := t.Context(), []*broker.Broker{newBroker(t, c, "n1"), newBroker(t, c, "n2")}
		part := bridge.AuditPart{Linked: true}
		auditEntries(t, c, daemons[0], part)
		after := ""
		for n := int64(1); n <= 30; n++ {
			errs := make([]error, len(daemons))
			var both sync.WaitGroup
			for k, b := range daemons {
				both.Go(func() {
					token := fmt.Sprintf("%d by %d", n, k)
					place, instead := bridge.SealPlace{N: n + int64(k)}, bridge.SealPlace{N: n - 1}
					errs[k] = b.PutSeal(ctx, part, bridge.NewSeal{After: after, Token: token, Place: place, Cursor: fmt.Sprintf("%d-1", n), Instead: instead})
				})
			}
			both.Wait()
			won := slices.Index(errs, nil)
			if won < 0 || bridge.ErrorCode(errs[1-won]) != bridge.CodeConflict {
				t.Fatalf("both daemons sealed: %v", errs)
			}
			after = fmt.Sprintf("%d by %d", n, won)
			n += int64(won)
			head := must[[]bridge.SealedAudit](t)(daemons[0].Audits(ctx))[0]
			if all := must[[]string](t)(daemons[1].Seals(ctx, part)); head.Sealed != after || all[len(all)-1] != after {
				t.Fatalf("the head is %q and the seals are %q, not %q", head.Sealed, all, after)
			}
		}
	})
}

// TestSeals checks that an entry has one seal, that a log can be trimmed up to
// a seal, and that a slower daemon does not move its start back.
func TestSeals(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		ctx, b := t.Context(), newBroker(t, c, "n")
		for k, part := range auditParts {
			entries := auditEntries(t, c, b, part)
			last := ""
			for n, e := range entries {
				s := bridge.NewSeal{After: last, Token: fmt.Sprintf("seal-%d", n+1), Place: placeOf(e), Cursor: e.Cursor}
				if err := b.PutSeal(ctx, part, s); err != nil {
					t.Fatal(err)
				}
				last = s.Token
			}
			head := func() bridge.SealedAudit {
				return must[[]bridge.SealedAudit](t)(b.Audits(ctx))[k*broker.DefaultPartitions]
			}
			if h := head(); h.Part != part || h.Sealed != "seal-3" || h.Cursor != entries[2].Cursor || part.Linked != (h.N == 3) || !part.Linked && h.Last != entries[2].Entry {
				t.Errorf("the head is %+v", h)
			}
			late := bridge.NewSeal{After: "seal-2", Token: "other", Place: placeOf(entries[2]), Cursor: entries[2].Cursor, Instead: placeOf(entries[1])}
			if err := b.PutSeal(ctx, part, late); bridge.ErrorCode(err) != bridge.CodeConflict {
				t.Errorf("a second seal of the third entry: %v", err)
			}
			if seals := must[[]string](t)(b.Seals(ctx, part)); head().Sealed != "seal-3" || !slices.Equal(seals, []string{"seal-1", "seal-2", "seal-3"}) {
				t.Errorf("after a late seal, the seals are %v", seals)
			}
			// The second of two daemons that trim at once is slower.
			for _, n := range []int{1, 0} {
				if err := b.TrimAudit(ctx, part, bridge.AuditTrim{Token: fmt.Sprintf("trim-%d", n+1), Place: placeOf(entries[n])}); err != nil {
					t.Fatal(err)
				}
			}
			if seals := must[[]string](t)(b.Seals(ctx, part)); head().Trimmed != "trim-2" || !slices.Equal(seals, []string{"trim-2", "seal-3"}) {
				t.Errorf("the seals are %v", seals)
			}
			if rest := must[[]bridge.AuditEntry](t)(b.AuditEntries(ctx, part, "", 10)); len(rest) != 1 || rest[0].Cursor != entries[2].Cursor {
				t.Errorf("the trimmed log has %+v", rest)
			}
		}
	})
}

// TestEventsOfEarlierVersions checks that a journal starts after the events that
// are already stored, and that those are read as before and removed by age, but
// that the journal is not before it is sealed.
func TestEventsOfEarlierVersions(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		const stream = "nod:{0}:ev"
		old := func(id string) {
			t.Helper()
			values := []any{"t", "session_stopped", "i", "", "a", "ci", "st", "", "s", "x", "d", "{}"}
			if err := c.XAdd(t.Context(), &redis.XAddArgs{Stream: stream, ID: id, Values: values}).Err(); err != nil {
				t.Fatal(err)
			}
		}
		old("5-1")
		old("5-2")
		b := newBroker(t, c, "n")
		old("6-1") // an earlier version still runs
		entries := must[[]bridge.AuditEntry](t)(b.AuditEntries(t.Context(), bridge.AuditPart{}, "", 10))
		if len(entries) != 1 || entries[0].Entry != "6-1" || entries[0].Type != bridge.AuditEvent {
			t.Errorf("the journal has %+v", entries)
		}
		events, _, err := b.Events(t.Context(), "", bridge.EventFilter{Agent: "ci"})
		if err != nil || len(events) != 3 {
			t.Errorf("the events are %+v, %v", events, err)
		}
		newBroker(t, c, "n2") // does not move the start
		start := must[[]bridge.SealedAudit](t)(b.Audits(t.Context()))[broker.DefaultPartitions].Cursor
		if err := b.Archive(t.Context(), 0, time.Now(), start); err != nil {
			t.Fatal(err)
		}
		if left := c.XRange(t.Context(), stream, "-", "+").Val(); len(left) != 1 || left[0].ID != "6-1" {
			t.Errorf("before the first seal, %v are left", left)
		}
		if err := b.Archive(t.Context(), 0, time.UnixMilli(7), ""); err != nil || c.XLen(t.Context(), stream).Val() != 0 {
			t.Errorf("the journal that is never sealed is not trimmed: %v", err)
		}
	})
}
