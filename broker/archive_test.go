package broker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// fillJournal appends openings, decisions and refusals to the journal, and returns
// its entries.
func fillJournal(t *testing.T, b *broker.Broker, n int) (all []bridge.AuditEntry) {
	t.Helper()
	for range n {
		r := open(t, b, func(i *bridge.Interaction) { i.Session = "s" })
		id := r.Interaction.ID
		if _, _, err := b.Settle(t.Context(), yes(id, "U")); err != nil {
			t.Fatal(err)
		}
		e := bridge.AuditEntry{Type: bridge.AuditRefusal, ID: id, Session: "s", Data: json.RawMessage(`{"why":"x"}`)}
		if err := b.Audit(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	all = must[[]bridge.AuditEntry](t)(b.AuditEntries(t.Context(), "", 1000))
	if len(all) != 3*n {
		t.Fatalf("the journal has %d entries: %+v", len(all), all)
	}
	return all
}

// audits returns the entries of a journal without other events, read in pages.
func audits(ctx context.Context, t *testing.T, b *broker.Broker, page int) (out []bridge.AuditEntry) {
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
func newest(t *testing.T, b *broker.Broker, page int) (out []bridge.AuditEntry) {
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
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b, ctx := newBroker(t, c, "n"), t.Context()
		all := fillJournal(t, b, 10)
		want, listed := audits(ctx, t, b, 1000), newest(t, b, 1000)
		ids := func(key string) (out []string) {
			for _, m := range c.XRange(ctx, "nod:{nod}:"+key, "-", "+").Val() {
				out = append(out, m.ID)
			}
			return out
		}
		same := func(when string, want []bridge.AuditEntry) {
			t.Helper()
			for _, page := range []int{1, 2, 3, 7, 1000} {
				if got := audits(ctx, t, b, page); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s, pages of %d have %v, want %v", when, page, entryIDs(got), entryIDs(want))
				}
			}
		}
		later := time.Now().Add(time.Hour)
		if err := b.Archive(ctx, time.UnixMilli(1), ""); err != nil || len(ids("ev")) != len(all) {
			t.Errorf("recent entries were removed: %v", err)
		}
		for range 2 { // the second time it has nothing to do
			if err := b.Archive(ctx, later, all[13].Entry); err != nil {
				t.Fatal(err)
			}
			if left, old := ids("ev"), ids("ja"); !slices.Equal(left, entryIDs(all[14:])) || !slices.Equal(old, entryIDs(want[:9])) {
				t.Errorf("the journal has %v and the archive %v of %v", left, old, entryIDs(all))
			}
		}
		same("with an archive", want)
		for _, page := range []int{1, 3, 1000} {
			if got := newest(t, b, page); fmt.Sprint(got) != fmt.Sprint(listed) {
				t.Errorf("with an archive, %v are listed, want %v", entryIDs(got), entryIDs(listed))
			}
		}
		counts := must[bridge.AuditCounts](t)(b.AuditCounts(ctx))
		seal := bridge.NewSeal{Token: "seal", Entry: all[19].Entry}
		if err := b.PutSeal(ctx, seal); err != nil {
			t.Fatal(err)
		}
		if err := b.TrimAudit(ctx, bridge.AuditTrim{Token: "trim", Entry: seal.Entry}); err != nil {
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
		if got := ids("ev"); !slices.Equal(got, entryIDs(left)) || len(ids("ja")) != 0 {
			t.Errorf("after a trim, the journal has %v, want %v; the archive has %v", got, entryIDs(left), ids("ja"))
		}
		same("once it is deleted", rest)
		if got := newest(t, b, 1000); len(got) != len(rest) {
			t.Errorf("after a trim, %v are listed", entryIDs(got))
		}
		after := must[bridge.AuditCounts](t)(b.AuditCounts(ctx))
		if after.Added != counts.Added || after.Last != counts.Last || bridge.CompareEntries(after.Deleted, all[19].Entry) > 0 {
			t.Errorf("after a trim, the counts are %+v and not %+v", after, counts)
		}
	})
}

// TestArchiveOfTrimmed checks that entries that were trimmed, but not deleted
// before the daemon stopped, do not come back.
func TestArchiveOfTrimmed(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b, ctx := newBroker(t, c, "n"), t.Context()
		all := fillJournal(t, b, 2)
		key := "nod:{nod}:"
		if err := c.HSet(ctx, key+"jh", "start", all[2].Entry, "gone", all[2].Entry).Err(); err != nil {
			t.Fatal(err)
		}
		if err := b.Archive(ctx, time.Now().Add(time.Hour), all[4].Entry); err != nil {
			t.Fatal(err)
		}
		kept := c.XRange(ctx, key+"ja", "-", "+").Val()
		if len(kept) != 1 || kept[0].ID != all[4].Entry {
			t.Errorf("the archive has %v", kept)
		}
	})
}

// TestArchiveWhileRead checks that a reader gets each entry once while entries
// go to the archive.
func TestArchiveWhileRead(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b, ctx := newBroker(t, c, "n"), t.Context()
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
