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
	p := 0
	switch {
	case a.ID != "":
		p = a.ID.Partition()
	case a.Session != "":
		p = al.partition(a.Session, "")
	}
	args := []any{string(a.ID), string(a.Type), a.Agent, a.Session, string(a.State), []byte(a.Data)}
	return unavailable(al.run(ctx, p, al.scripts.audit, []string{al.keys.journal(p)}, args...).Err())
}

// Audits implements bridge.AuditLog.
func (al *auditLog) Audits(ctx context.Context) ([]bridge.SealedAudit, error) {
	out := make([]bridge.SealedAudit, al.partitions)
	heads, counts := make([]*redis.SliceCmd, len(out)), make([]*redis.XInfoStreamCmd, len(out))
	_, err := al.client.Pipelined(ctx, func(c redis.Pipeliner) error {
		for p := range out {
			heads[p] = c.HMGet(ctx, al.keys.journalHead(p), "seal", "cur", "trim")
			counts[p] = c.XInfoStream(ctx, al.keys.journal(p))
		}
		return nil
	})
	if err != nil && !noStream(err) {
		return nil, unavailable(err)
	}
	for p := range out {
		if err := heads[p].Err(); err != nil {
			return nil, unavailable(err)
		}
		readHead(&out[p], heads[p].Val())
		out[p].Partition = p
		if out[p].AuditCounts, err = countsOf(counts[p]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// AuditCounts implements bridge.AuditLog.
func (al *auditLog) AuditCounts(ctx context.Context, partition int) (bridge.AuditCounts, error) {
	return countsOf(al.client.XInfoStream(ctx, al.keys.journal(partition)))
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

// readHead decodes the fields of a head that Audits reads. Absent ones are nil.
func readHead(l *bridge.SealedAudit, fields []any) {
	text := func(n int) string {
		s, _ := fields[n].(string)
		return s
	}
	l.Sealed, l.Through, l.Trimmed = text(0), text(1), text(2)
}

// noStream reports whether Redis refused XINFO because the stream is empty.
func noStream(err error) bool { return strings.Contains(err.Error(), "no such key") }

// AuditEntries implements bridge.AuditLog. It reads a journal and its archive at
// one moment, because entries go from one to the other.
func (al *auditLog) AuditEntries(ctx context.Context, partition int, after string, limit int) ([]bridge.AuditEntry, error) {
	if after == "" {
		var err error
		if after, err = al.client.HGet(ctx, al.keys.journalHead(partition), "start").Result(); err != nil && !errors.Is(err, redis.Nil) {
			return nil, unavailable(err)
		}
	}
	from := "-"
	if after != "" {
		from = "(" + after
	}
	streams := []string{al.keys.journal(partition), al.keys.archive(partition)}
	pages := make([]*redis.XMessageSliceCmd, len(streams))
	_, err := al.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		for k, s := range streams {
			pages[k] = p.XRangeN(ctx, s, from, "+", int64(limit))
		}
		return nil
	})
	if err != nil {
		return nil, unavailable(err)
	}
	out := make([]bridge.AuditEntry, 0, len(pages[0].Val()))
	for _, page := range pages {
		for _, m := range page.Val() {
			out = append(out, auditEntry(partition, m))
		}
	}
	// Only someone else writes to an archive what is not before its journal.
	slices.SortStableFunc(out, func(x, y bridge.AuditEntry) int { return bridge.CompareEntries(x.Entry, y.Entry) })
	return out[:min(limit, len(out))], nil
}

// auditEntry decodes an entry. Every field of a stream is a string.
func auditEntry(partition int, m redis.XMessage) bridge.AuditEntry {
	text := func(name string) string {
		s, _ := m.Values[name].(string)
		return s
	}
	return bridge.AuditEntry{
		Partition: partition, Entry: m.ID, Timestamp: streamTime(m.ID),
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
func (al *auditLog) Seals(ctx context.Context, partition int) ([]string, error) {
	stream, err := al.client.XRange(ctx, al.keys.journalSeals(partition), "-", "+").Result()
	if err != nil {
		return nil, unavailable(err)
	}
	trim, err := al.client.HGet(ctx, al.keys.journalHead(partition), "trim").Result()
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
func (al *auditLog) PutSeal(ctx context.Context, partition int, s bridge.NewSeal) error {
	keys := []string{al.keys.journalHead(partition), al.keys.journalSeals(partition)}
	put, err := al.run(ctx, partition, al.scripts.seal, keys, s.After, s.Token, s.Entry, s.Instead).Int()
	if err != nil {
		return unavailable(err)
	}
	if put == 0 {
		return bridge.Errorf(bridge.CodeConflict, "the audit log has another seal by now")
	}
	return nil
}
