package audit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/rooms/audit"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// fillJournal appends openings, decisions and refusals to the journal, and returns
// its entries.
func fillJournal(t *testing.T, b *ledger, n int) (all []bridge.AuditEntry) {
	t.Helper()
	for range n {
		r := stored.Open(t, b.Store, func(i *bridge.Interaction) { i.Session = "s" })
		id := r.Interaction.ID
		if _, _, err := b.Resolve(t.Context(), stored.Yes(id, "U")); err != nil {
			t.Fatal(err)
		}
		e := bridge.AuditEntry{Type: bridge.AuditRefusal, ID: id, Session: "s", Data: json.RawMessage(`{"why":"x"}`)}
		if err := write(t, b, e); err != nil {
			t.Fatal(err)
		}
	}
	all = stored.Must[[]bridge.AuditEntry](t)(b.AuditEntries(t.Context(), "", 1000))
	if len(all) != 3*n {
		t.Fatalf("the journal has %d entries: %+v", len(all), all)
	}
	return all
}

// audits returns the entries of a journal without other events, read in pages.
func audits(ctx context.Context, t *testing.T, b *ledger, page int) (out []bridge.AuditEntry) {
	t.Helper()
	for after := ""; ; {
		entries, err := b.AuditEntries(ctx, after, page)
		if err != nil {
			t.Error(err)
			return out
		}
		for _, e := range entries {
			after = e.Entry
			if e.Type != bridge.AuditEvent {
				out = append(out, e)
			}
		}
		if len(entries) < page {
			return out
		}
	}
}

// newest returns all entries of the audit log, newest first, read in pages.
func newest(t *testing.T, b *ledger, page int) (out []bridge.AuditEntry) {
	t.Helper()
	for cursor := ""; ; {
		entries, next, err := b.AuditNewest(t.Context(), cursor, page)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, entries...)
		if cursor = next; cursor == "" {
			return out
		}
	}
}

func entryIDs(entries []bridge.AuditEntry) (out []string) {
	for _, e := range entries {
		out = append(out, e.Entry)
	}
	return out
}

// TestArchive checks that old events are removed while the audit log stays as it
// was, that nothing is removed after the last seal, and that a trim removes
// entries but not the events among them.
func TestArchive(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		b, ctx := daemon("n"), t.Context()
		all := fillJournal(t, b, 10)
		want, listed := audits(ctx, t, b, 1000), newest(t, b, 1000)
		ids := func(st broker.Stream) []string { return stream(t, b, st) }
		same := func(when string, want []bridge.AuditEntry) {
			t.Helper()
			for _, page := range []int{1, 2, 3, 7, 1000} {
				if got := audits(ctx, t, b, page); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s, pages of %d have %v, want %v", when, page, entryIDs(got), entryIDs(want))
				}
			}
		}
		later := time.Now().Add(time.Hour)
		if err := b.Archive(ctx, time.UnixMilli(1), ""); err != nil || len(ids(broker.Journal)) != len(all) {
			t.Errorf("recent entries were removed: %v", err)
		}
		for range 2 { // the second time it has nothing to do
			if err := b.Archive(ctx, later, all[13].Entry); err != nil {
				t.Fatal(err)
			}
			if left, old := ids(broker.Journal), ids(broker.Archive); !slices.Equal(left, entryIDs(all[14:])) || !slices.Equal(old, entryIDs(want[:9])) {
				t.Errorf("the journal has %v and the archive %v of %v", left, old, entryIDs(all))
			}
		}
		same("with an archive", want)
		for _, page := range []int{1, 3, 1000} {
			if got := newest(t, b, page); fmt.Sprint(got) != fmt.Sprint(listed) {
				t.Errorf("with an archive, %v are listed, want %v", entryIDs(got), entryIDs(listed))
			}
		}
		counts := stored.Must[bridge.AuditCounts](t)(b.AuditCounts(ctx))
		seal := audit.NewSeal{Token: "seal", Entry: all[19].Entry}
		if err := b.PutSeal(ctx, seal); err != nil {
			t.Fatal(err)
		}
		if err := b.TrimAudit(ctx, audit.AuditTrim{Token: "trim", Entry: seal.Entry}); err != nil {
			t.Fatal(err)
		}
		rest := want[slices.IndexFunc(want, func(e bridge.AuditEntry) bool { return bridge.CompareEntries(e.Entry, all[19].Entry) > 0 }):]
		same("once it is trimmed", rest)
		if got := newest(t, b, 3); len(got) != len(rest) {
			t.Errorf("once it is trimmed, %v are listed", entryIDs(got))
		}
		// Two daemons delete what was trimmed.
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if err := b.Archive(ctx, time.UnixMilli(1), ""); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		left := slices.DeleteFunc(slices.Clone(all[14:]), func(e bridge.AuditEntry) bool {
			return e.Type != bridge.AuditEvent && bridge.CompareEntries(e.Entry, all[19].Entry) <= 0
		})
		if got := ids(broker.Journal); !slices.Equal(got, entryIDs(left)) || len(ids(broker.Archive)) != 0 {
			t.Errorf("after a trim, the journal has %v, want %v; the archive has %v", got, entryIDs(left), ids(broker.Archive))
		}
		same("once it is deleted", rest)
		if got := newest(t, b, 1000); len(got) != len(rest) {
			t.Errorf("after a trim, %v are listed", entryIDs(got))
		}
		after := stored.Must[bridge.AuditCounts](t)(b.AuditCounts(ctx))
		if after.Added != counts.Added || after.Last != counts.Last || bridge.CompareEntries(after.Deleted, all[19].Entry) > 0 {
			t.Errorf("after a trim, the counts are %+v and not %+v", after, counts)
		}
	})
}

// TestArchiveWhileRead checks that a reader gets each entry once while entries
// go to the archive.
func TestArchiveWhileRead(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		b, ctx := daemon("n"), t.Context()
		all := fillJournal(t, b, 30)
		want := fmt.Sprint(entryIDs(audits(ctx, t, b, 1000)))
		var moving sync.WaitGroup
		moving.Go(func() {
			for _, e := range all {
				if err := b.Archive(ctx, time.Now().Add(time.Hour), e.Entry); err != nil {
					t.Error(err)
				}
			}
		})
		for _, page := range []int{1, 3, 5, 10, 50, 1000} {
			if got := fmt.Sprint(entryIDs(audits(ctx, t, b, page))); got != want {
				t.Errorf("pages of %d have %s, want %s", page, got, want)
			}
			if got := newest(t, b, page); len(got) != 60 {
				t.Errorf("%d of 60 entries are listed in pages of %d", len(got), page)
			}
		}
		moving.Wait()
	})
}

// stream returns the IDs of the entries of a stream.
func stream(t *testing.T, s *ledger, st broker.Stream) (out []string) {
	t.Helper()
	for _, e := range stored.Must[[]broker.Entry](t)(s.DB.Entries(t.Context(), st, "", 10000)) {
		out = append(out, e.ID)
	}
	return out
}

// add appends an entry with an ID to a stream, as only someone else can.
func add(t *testing.T, s *ledger, st broker.Stream, id string, fields ...string) {
	t.Helper()
	stored.NoError(t, s.DB.Copy(t.Context(), st, []broker.Entry{{ID: id, Fields: fields}}))
}

// TestArchiveBeforeSeals checks that no part of the journal is removed before it is
// sealed, and that one that is never sealed is trimmed by age.
func TestArchiveBeforeSeals(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		b := daemon("n")
		add(t, b, broker.Journal, "6-1", "t", "session_stopped", "a", "ci", "s", "x", "d", "{}")
		stored.NoError(t, b.Archive(t.Context(), time.Now(), "0-0"))
		if left := stream(t, b, broker.Journal); !slices.Equal(left, []string{"6-1"}) {
			t.Errorf("before the first seal, %v are left", left)
		}
		if err := b.Archive(t.Context(), time.UnixMilli(7), ""); err != nil || len(stream(t, b, broker.Journal)) != 0 {
			t.Errorf("the journal that is never sealed is not trimmed: %v", err)
		}
	})
}

// TestNewestOfOneMillisecond checks that pages list all entries of one
// millisecond of a journal with an archive once, newest first.
func TestNewestOfOneMillisecond(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		b, ctx := daemon("n"), t.Context()
		var want []string
		for n := 1; n <= 10; n++ {
			entry := []string{"k", "grant", "d", "{}"}
			if n%3 == 0 {
				entry = []string{"t", "x", "k", ""}
			} else {
				want = append([]string{fmt.Sprintf("4000-%d", n)}, want...)
			}
			add(t, b, broker.Journal, fmt.Sprintf("4000-%d", n), entry...)
		}
		if err := b.Archive(ctx, time.Now(), "4000-6"); err != nil {
			t.Fatal(err)
		}
		for _, page := range []int{1, 2, 3, 100} {
			if got := entryIDs(newest(t, b, page)); !slices.Equal(got, want) {
				t.Errorf("pages of %d list %v, want %v", page, got, want)
			}
		}
	})
}

// TestEventsBetweenAuditEntries checks that a reader of events does not take many
// entries of the audit log for the end.
func TestEventsBetweenAuditEntries(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		b, ctx := daemon("n"), t.Context()
		for range 250 {
			if err := write(t, b, bridge.AuditEntry{Type: bridge.AuditRefusal, Session: "s", Agent: "ci", Data: json.RawMessage(`{}`)}); err != nil {
				t.Fatal(err)
			}
		}
		stored.Open(t, b.Store, func(i *bridge.Interaction) { i.Session = "s" })
		for _, f := range []bridge.EventFilter{{}, {Session: "s"}, {Agent: "ci"}} {
			if got, _, err := b.Events(ctx, "", f); err != nil || len(got) != 1 {
				t.Errorf("with the filter %+v, %d events are read, %v", f, len(got), err)
			}
		}
	})
}

// TestAddedToArchive checks that an entry that someone adds to an archive does
// not hide those of the journal.
func TestAddedToArchive(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		b, ctx := daemon("n"), t.Context()
		fillJournal(t, b, 5)
		want := entryIDs(audits(ctx, t, b, 100))
		add(t, b, broker.Archive, "99999999999999-0", "t", "x")
		for _, page := range []int{2, 5, 100} {
			if got := entryIDs(audits(ctx, t, b, page)); !slices.Equal(got, want) {
				t.Errorf("pages of %d have %v, want %v", page, got, want)
			}
		}
	})
}

// TestArchiveOfHostileEntries checks that nothing that someone adds to the journal of a
// Redis keeps entries from the archive.
func TestArchiveOfHostileEntries(t *testing.T) {
	t.Parallel()
	many := []string{"k", "grant", "d", "{}"}
	for n := range 8000 {
		many = append(many, fmt.Sprint("f", n), "x")
	}
	for name, x := range map[string]struct {
		id     string
		fields []string
		want   int
	}{
		"highest number": {"9000-18446744073709551615", []string{"k", "grant", "d", "{}"}, 2},
		"many fields":    {"9000-7", many, 2},
		"an event":       {"9000-7", []string{"k", "event", "x", "{"}, 1},
		"unknown fields": {"9000-7", []string{"a b", "c"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := ledgerOf(t, stored.OnRedis(t, redistest.Shared(t).Client(t), "n", 0))
			add(t, b, broker.Journal, "4000-1", "k", "grant", "d", "{}")
			add(t, b, broker.Journal, x.id, x.fields...)
			for range 2 {
				stored.NoError(t, b.Archive(t.Context(), time.Now(), x.id))
			}
			if left, old := stream(t, b, broker.Journal), stream(t, b, broker.Archive); len(left) != 0 || len(old) != x.want {
				t.Errorf("%v are left, and %v in the archive", left, old)
			}
		})
	}
}

// TestPlantedArchive checks that an entry which the archive cannot take stays in the
// journal.
func TestPlantedArchive(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		b := daemon("n")
		all := fillJournal(t, b, 3)
		want := audits(t.Context(), t, b, 1000)
		planted := broker.Entry{ID: "99999999999999-0", Fields: []string{"t", "x"}}
		stored.NoError(t, b.DB.Copy(t.Context(), broker.Archive, []broker.Entry{planted}))
		for range 2 {
			if err := b.Archive(t.Context(), time.Now().Add(time.Hour), ""); bridge.ErrorCode(err) != bridge.CodeConflict {
				t.Errorf("it is archived: %v", err)
			}
		}
		if left := stream(t, b, broker.Journal); !slices.Equal(left, entryIDs(all)) {
			t.Errorf("the journal has %v of %v", left, entryIDs(all))
		}
		if got := audits(t.Context(), t, b, 1000); fmt.Sprint(entryIDs(got)) != fmt.Sprint(entryIDs(want)) {
			t.Errorf("the audit log has %v of %v", entryIDs(got), entryIDs(want))
		}
	})
}
