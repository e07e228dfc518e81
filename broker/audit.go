package broker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
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
	nothing := al.keys.unused(p) // the script's keys have the same positions as in transitions
	keys := []string{nothing, nothing, nothing, nothing, nothing, nothing, nothing, al.keys.audit(p), al.keys.auditHead(p)}
	return unavailable(al.run(ctx, p, al.scripts.audit, keys, string(a.ID), string(a.Type), a.Agent, a.Session, string(a.State), []byte(a.Data)).Err())
}

// Audits implements bridge.AuditLog.
func (al *auditLog) Audits(ctx context.Context) ([]bridge.SealedAudit, error) {
	replies := make([]*redis.SliceCmd, al.partitions)
	_, err := al.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for n := range replies {
			replies[n] = p.HMGet(ctx, al.keys.auditHead(n), "n", "seal", "cur")
		}
		return nil
	})
	if err != nil {
		return nil, unavailable(err)
	}
	out := make([]bridge.SealedAudit, al.partitions)
	for n, r := range replies {
		v := r.Val()
		text := func(k int) string {
			s, _ := v[k].(string) // nil if the field is absent
			return s
		}
		out[n].N, _ = strconv.ParseInt(text(0), 10, 64) // only the scripts write it
		out[n].Sealed, out[n].Cursor = text(1), text(2)
	}
	return out, nil
}

// AuditEntries implements bridge.AuditLog.
func (al *auditLog) AuditEntries(ctx context.Context, partition int, after string, limit int) ([]bridge.AuditEntry, error) {
	from := "-"
	if after != "" {
		from = "(" + after
	}
	stream, err := al.client.XRangeN(ctx, al.keys.audit(partition), from, "+", int64(limit)).Result()
	if err != nil {
		return nil, unavailable(err)
	}
	out := make([]bridge.AuditEntry, 0, len(stream))
	for _, m := range stream {
		out = append(out, auditEntry(partition, m))
	}
	return out, nil
}

func auditEntry(partition int, m redis.XMessage) bridge.AuditEntry {
	text := func(name string) string {
		s, _ := m.Values[name].(string) // every field is a string
		return s
	}
	a := bridge.AuditEntry{
		Partition: partition, Type: bridge.AuditType(text("t")), ID: bridge.ID(text("i")), Agent: text("a"), Session: text("s"),
		State: bridge.State(text("st")), Data: json.RawMessage(text("d")), Link: text("l"), Cursor: m.ID,
	}
	a.N, _ = strconv.ParseInt(text("n"), 10, 64) // verification reports a 0
	a.Timestamp, _ = strconv.ParseInt(text("ts"), 10, 64)
	return a
}

// placed is an entry at its position in the order of AuditNewest: newest first,
// then by partition.
type placed struct {
	ms        int64
	partition int
	n         int64
	entry     bridge.AuditEntry
}

func (p placed) compare(q placed) int {
	return cmp.Or(cmp.Compare(q.ms, p.ms), cmp.Compare(p.partition, q.partition), cmp.Compare(q.n, p.n))
}

// placeOf parses the ID of an entry in a stream, which starts with the time.
func placeOf(partition int, m redis.XMessage) placed {
	a := auditEntry(partition, m)
	ms, _, _ := strings.Cut(m.ID, "-")
	at, _ := strconv.ParseInt(ms, 10, 64) // Redis writes it
	return placed{at, partition, a.N, a}
}

// AuditNewest implements bridge.AuditLog.
func (al *auditLog) AuditNewest(ctx context.Context, before string, limit int) ([]bridge.AuditEntry, string, error) {
	end, last := "+", placed{ms: math.MaxInt64}
	if before != "" {
		if _, err := fmt.Sscanf(before, "%d.%d.%d", &last.ms, &last.partition, &last.n); err != nil {
			return nil, "", bridge.Errorf(bridge.CodeInvalid, "cursor: invalid value %q", before).WithHint("use next of the previous page")
		}
		end = strconv.FormatInt(last.ms, 10)
	}
	streams := make([]*redis.XMessageSliceCmd, al.partitions)
	_, err := al.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for n := range streams { // one page more, because entries of the same millisecond may have been on the page before
			streams[n] = p.XRevRangeN(ctx, al.keys.audit(n), end, "-", int64(2*limit+1))
		}
		return nil
	})
	if err != nil {
		return nil, "", unavailable(err)
	}
	var all []placed
	for n, s := range streams {
		for _, m := range s.Val() {
			if p := placeOf(n, m); last.compare(p) < 0 {
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, placed.compare)
	next := ""
	if len(all) > limit {
		all = all[:limit]
		end := all[limit-1]
		next = fmt.Sprintf("%d.%d.%d", end.ms, end.partition, end.n)
	}
	out := make([]bridge.AuditEntry, len(all))
	for k, p := range all {
		out[k] = p.entry
	}
	return out, next, nil
}

// Seals implements bridge.AuditLog.
func (al *auditLog) Seals(ctx context.Context, partition int) ([]string, error) {
	stream, err := al.client.XRange(ctx, al.keys.seals(partition), "-", "+").Result()
	if err != nil {
		return nil, unavailable(err)
	}
	trim, err := al.client.HGet(ctx, al.keys.auditHead(partition), "trim").Result()
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

// PutSeal implements bridge.AuditLog. The ID of a seal is the number of its
// entry. The comparison and the write are one script, because two daemons may
// seal at once: a lease can end while its holder still works.
func (al *auditLog) PutSeal(ctx context.Context, partition int, s bridge.NewSeal) error {
	keys := []string{al.keys.auditHead(partition), al.keys.seals(partition)}
	put, err := al.run(ctx, partition, al.scripts.seal, keys, s.After, s.Token, s.N, s.Cursor, s.Instead).Int()
	if err != nil {
		return unavailable(err)
	}
	if put == 0 {
		return bridge.Errorf(bridge.CodeConflict, "the audit log has another seal by now")
	}
	return nil
}

// TrimAudit implements bridge.AuditLog.
func (al *auditLog) TrimAudit(ctx context.Context, partition int, n int64, seal string) error {
	id := strconv.FormatInt(n, 10) + "-1"
	found, err := al.client.XRange(ctx, al.keys.seals(partition), id, id).Result()
	if err != nil || len(found) == 0 {
		return unavailable(err) // another daemon has trimmed it
	}
	cursor, _ := found[0].Values["c"].(string) // every field is a string
	_, err = al.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.HSet(ctx, al.keys.auditHead(partition), "trim", seal)
		p.XTrimMinID(ctx, al.keys.audit(partition), cursor)
		p.XDel(ctx, al.keys.audit(partition), cursor)
		p.XTrimMinID(ctx, al.keys.seals(partition), id)
		p.XDel(ctx, al.keys.seals(partition), id)
		return nil
	})
	return unavailable(err)
}
