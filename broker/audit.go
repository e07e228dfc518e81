package broker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// auditLog implements bridge.AuditLog.
type auditLog struct{ *core }

// Audit implements bridge.AuditLog.
func (al *auditLog) Audit(ctx context.Context, a bridge.AuditEntry) error {
	args := []any{string(a.ID), string(a.Type), a.Agent, a.Session, string(a.State), []byte(a.Data)}
	return unavailable(al.run(ctx, al.scripts.audit, []string{al.keys.journal()}, args...).Err())
}

// Sealed implements bridge.AuditLog.
func (al *auditLog) Sealed(ctx context.Context) (bridge.SealedAudit, error) {
	var head *redis.SliceCmd
	var info *redis.XInfoStreamCmd
	_, err := al.client.Pipelined(ctx, func(c redis.Pipeliner) error {
		head = c.HMGet(ctx, al.keys.journalHead(), "seal", "cur", "trim")
		info = c.XInfoStream(ctx, al.keys.journal())
		return nil
	})
	if err != nil && !noStream(err) {
		return bridge.SealedAudit{}, unavailable(err)
	}
	fields, err := head.Result()
	if err != nil {
		return bridge.SealedAudit{}, unavailable(err)
	}
	text := func(n int) string {
		s, _ := fields[n].(string) // nil if it is absent
		return s
	}
	l := bridge.SealedAudit{Sealed: text(0), Through: text(1), Trimmed: text(2)}
	l.AuditCounts, err = countsOf(info)
	return l, err
}

// AuditCounts implements bridge.AuditLog.
func (al *auditLog) AuditCounts(ctx context.Context) (bridge.AuditCounts, error) {
	return countsOf(al.client.XInfoStream(ctx, al.keys.journal()))
}

// countsOf returns the counts of a stream, which are zero if it does not exist.
func countsOf(c *redis.XInfoStreamCmd) (bridge.AuditCounts, error) {
	info, err := c.Result()
	if err != nil && noStream(err) {
		return bridge.AuditCounts{}, nil
	}
	if err != nil {
		return bridge.AuditCounts{}, unavailable(err)
	}
	return bridge.AuditCounts{Last: info.LastGeneratedID, Added: info.EntriesAdded, Deleted: info.MaxDeletedEntryID}, nil
}

// noStream reports whether Redis refused XINFO because the stream is empty.
func noStream(err error) bool { return strings.Contains(err.Error(), "no such key") }

// AuditEntries implements bridge.AuditLog. It reads the journal and its archive at
// one moment, because entries go from one to the other.
func (al *auditLog) AuditEntries(ctx context.Context, after string, limit int) ([]bridge.AuditEntry, error) {
	from := "(" + after
	if after == "" {
		var err error
		if from, err = al.start(ctx); err != nil {
			return nil, err
		}
	}
	streams := []string{al.keys.journal(), al.keys.archive()}
	pages := make([]*redis.XMessageSliceCmd, len(streams))
	err := al.transact(ctx, func(p redis.Pipeliner) error {
		for k, s := range streams {
			pages[k] = p.XRangeN(ctx, s, from, "+", int64(limit))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]bridge.AuditEntry, 0, len(pages[0].Val()))
	for _, page := range pages {
		for _, m := range page.Val() {
			out = append(out, auditEntry(m))
		}
	}
	// Only someone else writes to an archive what is not before its journal.
	slices.SortStableFunc(out, func(x, y bridge.AuditEntry) int { return bridge.CompareEntries(x.Entry, y.Entry) })
	return out[:min(limit, len(out))], nil
}

// auditEntry decodes an entry. Every field of a stream is a string.
func auditEntry(m redis.XMessage) bridge.AuditEntry {
	text := func(name string) string {
		s, _ := m.Values[name].(string)
		return s
	}
	return bridge.AuditEntry{
		Entry: m.ID, Timestamp: streamTime(m.ID),
		Type: cmp.Or(bridge.AuditType(text("k")), bridge.AuditEvent), Event: bridge.EventType(text("t")),
		ID: bridge.ID(text("i")), Agent: text("a"), Session: text("s"), State: bridge.State(text("st")),
		Correlation: text("x"), Data: json.RawMessage(text("d")),
	}
}

// streamTime returns the time in ms with which the ID of an entry in a stream
// starts.
func streamTime(id string) int64 {
	ms, _, _ := strings.Cut(id, "-")
	at, _ := strconv.ParseInt(ms, 10, 64) // Redis writes it
	return at
}

// Seals implements bridge.AuditLog.
func (al *auditLog) Seals(ctx context.Context) ([]string, error) {
	stream, err := al.client.XRange(ctx, al.keys.journalSeals(), "-", "+").Result()
	if err != nil {
		return nil, unavailable(err)
	}
	trim, err := al.client.HGet(ctx, al.keys.journalHead(), "trim").Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, unavailable(err)
	}
	out := make([]string, 0, len(stream)+1)
	if trim != "" {
		out = append(out, trim)
	}
	for _, m := range stream {
		s, _ := m.Values["s"].(string) // every field is a string
		out = append(out, s)
	}
	return out, nil
}

// PutSeal implements bridge.AuditLog. The comparison and the write are one
// script, because two daemons may seal at once: a lease can end while its holder
// still works.
func (al *auditLog) PutSeal(ctx context.Context, s bridge.NewSeal) error {
	keys := []string{al.keys.journalHead(), al.keys.journalSeals()}
	put, err := al.run(ctx, al.scripts.seal, keys, s.After, s.Token, s.Entry, s.Instead).Int()
	if err != nil {
		return unavailable(err)
	}
	if put == 0 {
		return bridge.Errorf(bridge.CodeConflict, "the audit log has another seal by now")
	}
	return nil
}
