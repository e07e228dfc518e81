package broker_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// TestNewestOfOneMillisecond checks that pages list all entries of one
// millisecond of a journal with an archive once, newest first.
func TestNewestOfOneMillisecond(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b, ctx := newBroker(t, c, "n"), t.Context()
		var want []string
		for n := 1; n <= 10; n++ {
			entry := []any{"k", "grant", "d", "{}"}
			if n%3 == 0 {
				entry = []any{"t", "x", "k", ""}
			} else {
				want = append([]string{fmt.Sprintf("4000-%d", n)}, want...)
			}
			if err := c.XAdd(ctx, &redis.XAddArgs{Stream: "nod:{nod}:ev", ID: fmt.Sprintf("4000-%d", n), Values: entry}).Err(); err != nil {
				t.Fatal(err)
			}
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
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b, ctx := newBroker(t, c, "n"), t.Context()
		for range 250 {
			if err := b.Audit(ctx, bridge.AuditEntry{Type: bridge.AuditRefusal, Session: "s", Agent: "ci", Data: json.RawMessage(`{}`)}); err != nil {
				t.Fatal(err)
			}
		}
		open(t, b, func(i *bridge.Interaction) { i.Session = "s" })
		for _, f := range []bridge.EventFilter{{}, {Session: "s"}, {Agent: "ci"}} {
			if got, _, err := b.Events(ctx, "", f); err != nil || len(got) != 1 {
				t.Errorf("with the filter %+v, %d events are read, %v", f, len(got), err)
			}
		}
	})
}

// TestArchiveOfHostileEntries checks that nothing that someone adds to a journal
// keeps entries from the archive.
func TestArchiveOfHostileEntries(t *testing.T) {
	t.Parallel()
	many := []any{"k", "grant", "d", "{}"}
	for n := range 8000 {
		many = append(many, fmt.Sprint("f", n), "x")
	}
	for name, c := range map[string]struct {
		id     string
		values []any
		want   int
	}{
		"highest number": {"9000-18446744073709551615", []any{"k", "grant", "d", "{}"}, 2},
		"many fields":    {"9000-7", many, 2},
		"an event":       {"9000-7", []any{"k", "event", "x", "{"}, 1},
		"unknown fields": {"9000-7", []any{"a b", "c"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachRedis(t, func(t *testing.T, r redis.UniversalClient) {
				b, ctx := newBroker(t, r, "n"), t.Context()
				for id, values := range map[string][]any{"4000-1": {"k", "grant", "d", "{}"}} {
					if err := r.XAdd(ctx, &redis.XAddArgs{Stream: "nod:{nod}:ev", ID: id, Values: values}).Err(); err != nil {
						t.Fatal(err)
					}
				}
				if err := r.XAdd(ctx, &redis.XAddArgs{Stream: "nod:{nod}:ev", ID: c.id, Values: c.values}).Err(); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					if err := b.Archive(ctx, time.Now(), c.id); err != nil {
						t.Fatal(err)
					}
				}
				if left, old := r.XLen(ctx, "nod:{nod}:ev").Val(), r.XLen(ctx, "nod:{nod}:ja").Val(); left != 0 || old != int64(c.want) {
					t.Errorf("%d entries are left, and %d in the archive", left, old)
				}
			})
		})
	}
}

// TestAddedToArchive checks that an entry that someone adds to an archive does
// not hide those of the journal.
func TestAddedToArchive(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b, ctx := newBroker(t, c, "n"), t.Context()
		fillJournal(t, b, 5)
		want := entryIDs(audits(ctx, t, b, 100))
		added := &redis.XAddArgs{Stream: "nod:{nod}:ja", ID: "99999999999999-0", Values: []any{"t", "x"}}
		if err := c.XAdd(ctx, added).Err(); err != nil {
			t.Fatal(err)
		}
		for _, page := range []int{2, 5, 100} {
			if got := entryIDs(audits(ctx, t, b, page)); !slices.Equal(got, want) {
				t.Errorf("pages of %d have %v, want %v", page, got, want)
			}
		}
	})
}
