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
	out := make([]bridge.SealedAudit, 0, 2*al.partitions)
	for _, linked := range []bool{true, false} {
		for p := range al.partitions {
			out = append(out, bridge.SealedAudit{Part: bridge.AuditPart{Partition: p, Linked: linked}})
		}
	}
	heads, counts := make([]*redis.SliceCmd, len(out)), make([]*redis.XInfoStreamCmd, len(out))
	_, err := al.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for k, l := range out {
			head, entries, _ := al.keys.log(l.Part)
			heads[k] = p.HMGet(ctx, head, "seal", "cur", "trim", "n", "from")
			if !l.Part.Linked {
				counts[k] = p.XInfoStream(ctx, entries)
			}
		}
		return nil
	})
	if err != nil && !noStream(err) {
		return nil, unavailable(err)
	}
	for k := range out {
		if err := heads[k].Err(); err != nil {
			return nil, unavailable(err)
		}
		readHead(&out[k], heads[k].Val())
		if counts[k] == nil {
			continue
		}
		if out[k].AuditCounts, err = countsOf(counts[k]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// AuditCounts implements bridge.AuditLog.
func (al *auditLog) AuditCounts(ctx context.Context, part bridge.AuditPart) (bridge.AuditCounts, error) {
	_, entries, _ := al.keys.log(part)
	return countsOf(al.client.XInfoStream(ctx, entries))
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
	l.Sealed, l.Cursor, l.Trimmed = text(0), cmp.Or(text(1), text(4)), text(2)
	l.N, _ = strconv.ParseInt(text(3), 10, 64) // only scripts of earlier versions write it
}

// noStream reports whether Redis refused XINFO because the stream is empty.
func noStream(err error) bool { return strings.Contains(err.Error(), "no such key") }

// AuditEntries implements bridge.AuditLog. It reads a journal and its archive at
// one moment, because entries go from one to the other.
func (al *auditLog) AuditEntries(ctx context.Context, part bridge.AuditPart, after string, limit int) ([]bridge.AuditEntry, error) {
	head, entries, _ := al.keys.log(part)
	if after == "" && !part.Linked {
		var err error
		if after, err = al.startOf(ctx, head); err != nil {
			return nil, err
		}
	}
	from := "-"
	if after != "" {
		from = "(" + after
	}
	streams := []string{entries}
	if !part.Linked {
		streams = append(streams, al.keys.archive(part.Partition))
	}
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
			out = append(out, auditEntry(part, m))
		}
	}
	// Only someone else writes to an archive what is not before its journal.
	slices.SortStableFunc(out, func(x, y bridge.AuditEntry) int { return bridge.CompareEntries(x.Cursor, y.Cursor) })
	return out[:min(limit, len(out))], nil
}

// startOf returns the ID of the last entry before a journal: of an event that an
// earlier version wrote, or of an entry that was trimmed.
func (al *auditLog) startOf(ctx context.Context, head string) (string, error) {
	ids, err := al.client.HMGet(ctx, head, "from", "start").Result()
	if err != nil {
		return "", unavailable(err)
	}
	return lastOf(ids), nil
}

// lastOf returns the later one of two IDs, which are nil if they are absent.
func lastOf(ids []any) string {
	from, _ := ids[0].(string)
	start, _ := ids[1].(string)
	if bridge.CompareEntries(start, from) > 0 {
		return start
	}
	return from
}

// auditEntry decodes an entry. Every field of a stream is a string.
func auditEntry(part bridge.AuditPart, m redis.XMessage) bridge.AuditEntry {
	text := func(name string) string {
		s, _ := m.Values[name].(string)
		return s
	}
	e := bridge.AuditEntry{Partition: part.Partition, Cursor: m.ID}
	switch {
	case part.Linked:
		e.Type, e.ID, e.Agent, e.Session = bridge.AuditType(text("t")), bridge.ID(text("i")), text("a"), text("s")
		e.State, e.Data, e.Link = bridge.State(text("st")), json.RawMessage(text("d")), text("l")
		e.N, _ = strconv.ParseInt(text("n"), 10, 64) // verification reports a 0
		e.Timestamp, _ = strconv.ParseInt(text("ts"), 10, 64)
		if e.Type == bridge.AuditEvent { // which only a journal has; verification reports an entry without a type
			e.Type = ""
		}
		return e
	case text("t") != "":
		e.Event, e.ID, e.Agent, e.Session = bridge.EventType(text("t")), bridge.ID(text("i")), text("a"), text("s")
		e.State, e.Data, e.Correlation = bridge.State(text("st")), json.RawMessage(text("d")), text("x")
		e.Timestamp = streamTime(m.ID)
	default: // see lua/audit.lua
		e.ID, e.Agent, e.Session = bridge.ID(text("id")), text("ag"), text("se")
		e.State, e.Data = bridge.State(text("sa")), json.RawMessage(text("da"))
		e.Timestamp, _ = strconv.ParseInt(text("ts"), 10, 64)
	}
	e.Entry, e.Type = m.ID, cmp.Or(bridge.AuditType(text("k")), bridge.AuditEvent)
	return e
}

// streamTime returns the time in ms with which the ID of an entry in a stream
// starts.
func streamTime(id string) int64 {
	ms, _, _ := strings.Cut(id, "-")
	at, _ := strconv.ParseInt(ms, 10, 64) // Redis writes it
	return at
}

// Seals implements bridge.AuditLog.
func (al *auditLog) Seals(ctx context.Context, part bridge.AuditPart) ([]string, error) {
	head, _, seals := al.keys.log(part)
	stream, err := al.client.XRange(ctx, seals, "-", "+").Result()
	if err != nil {
		return nil, unavailable(err)
	}
	trim, err := al.client.HGet(ctx, head, "trim").Result()
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

// sealID returns the ID of the seal of an entry in the stream of the seals, or
// "" for no entry.
func sealID(of bridge.SealPlace) string {
	if of.N > 0 {
		return strconv.FormatInt(of.N, 10) + "-1"
	}
	return of.Entry
}

// PutSeal implements bridge.AuditLog. The comparison and the write are one
// script, because two daemons may seal at once: a lease can end while its holder
// still works.
func (al *auditLog) PutSeal(ctx context.Context, part bridge.AuditPart, s bridge.NewSeal) error {
	head, _, seals := al.keys.log(part)
	args := []any{s.After, s.Token, sealID(s.Place), s.Cursor, sealID(s.Instead)}
	put, err := al.run(ctx, part.Partition, al.scripts.seal, []string{head, seals}, args...).Int()
	if err != nil {
		return unavailable(err)
	}
	if put == 0 {
		return bridge.Errorf(bridge.CodeConflict, "the audit log has another seal by now")
	}
	return nil
}
