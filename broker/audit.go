package broker

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// Audit implements bridge.Auditor.
func (b *Broker) Audit(ctx context.Context, a bridge.AuditEntry) error {
	p := 0
	switch {
	case a.ID != "":
		p = a.ID.Partition()
	case a.Session != "":
		p = b.partition(a.Session, "")
	}
	nothing := b.keys.in(p, "-") // the script's keys have the places that transitions give them
	keys := []string{nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing, b.keys.audit(p), b.keys.auditHead(p)}
	return unavailable(b.scripts.audit.Run(ctx, b.client, keys, string(a.ID), string(a.Type), a.Agent, a.Session, string(a.State), []byte(a.Data)).Err())
}

// Audits implements bridge.Auditor.
func (b *Broker) Audits(ctx context.Context) ([]bridge.SealedAudit, error) {
	replies := make([]*redis.SliceCmd, b.partitions)
	_, err := b.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for n := range replies {
			replies[n] = p.HMGet(ctx, b.keys.auditHead(n), "n", "seal", "cur")
		}
		return nil
	})
	if err != nil {
		return nil, unavailable(err)
	}
	out := make([]bridge.SealedAudit, b.partitions)
	for n, r := range replies {
		v := r.Val()
		text := func(k int) string {
			s, _ := v[k].(string) // nil where there is none
			return s
		}
		out[n].N, _ = strconv.ParseInt(text(0), 10, 64) // written by the scripts only
		out[n].Sealed, out[n].Cursor = text(1), text(2)
	}
	return out, nil
}

// AuditEntries implements bridge.Auditor.
func (b *Broker) AuditEntries(ctx context.Context, partition int, after string, limit int) ([]bridge.AuditEntry, error) {
	from := "-"
	if after != "" {
		from = "(" + after
	}
	stream, err := b.client.XRangeN(ctx, b.keys.audit(partition), from, "+", int64(limit)).Result()
	if err != nil {
		return nil, unavailable(err)
	}
	out := make([]bridge.AuditEntry, 0, len(stream))
	for _, m := range stream {
		text := func(name string) string {
			s, _ := m.Values[name].(string) // every field is a string
			return s
		}
		a := bridge.AuditEntry{
			Partition: partition, Type: bridge.AuditType(text("t")), ID: bridge.ID(text("i")), Agent: text("a"), Session: text("s"),
			State: bridge.State(text("st")), Data: json.RawMessage(text("d")), Link: text("l"), Cursor: m.ID,
		}
		a.N, _ = strconv.ParseInt(text("n"), 10, 64) // 0 is found by the check
		a.Timestamp, _ = strconv.ParseInt(text("ts"), 10, 64)
		out = append(out, a)
	}
	return out, nil
}

// Seals implements bridge.Auditor.
func (b *Broker) Seals(ctx context.Context, partition int) ([]string, error) {
	stream, err := b.client.XRange(ctx, b.keys.seals(partition), "-", "+").Result()
	if err != nil {
		return nil, unavailable(err)
	}
	out := make([]string, 0, len(stream))
	for _, m := range stream {
		s, _ := m.Values["s"].(string) // every field is a string
		out = append(out, s)
	}
	return out, nil
}

// PutSeal implements bridge.Auditor. The id of a seal is its entry's number,
// so that a second one for the same entry is refused.
func (b *Broker) PutSeal(ctx context.Context, partition int, n int64, cursor, seal string) error {
	_, err := b.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.XAdd(ctx, &redis.XAddArgs{Stream: b.keys.seals(partition), ID: strconv.FormatInt(n, 10) + "-1", Values: []string{"s", seal, "c", cursor}})
		p.HSet(ctx, b.keys.auditHead(partition), "seal", seal, "cur", cursor)
		return nil
	})
	return unavailable(err)
}

// tidyAudit removes what has outlived its retention, up to an entry that is
// sealed: its seal vouches for what was there.
func (b *Broker) tidyAudit(ctx context.Context, partition int, oldest int64) error {
	seals, err := b.client.XRange(ctx, b.keys.seals(partition), "-", "+").Result()
	if err != nil {
		return unavailable(err)
	}
	var last *redis.XMessage
	for n := range seals {
		cursor, _ := seals[n].Values["c"].(string) // every field is a string
		if cursorMillis(cursor) >= oldest {
			break
		}
		last = &seals[n]
	}
	if last == nil {
		return nil
	}
	cursor, _ := last.Values["c"].(string)
	_, err = b.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.XTrimMinID(ctx, b.keys.audit(partition), cursor)
		p.XDel(ctx, b.keys.audit(partition), cursor) // its seal stays
		p.XTrimMinID(ctx, b.keys.seals(partition), last.ID)
		return nil
	})
	return unavailable(err)
}

// cursorMillis is the time in the id of a stream's entry.
func cursorMillis(cursor string) int64 {
	at, _, _ := strings.Cut(cursor, "-")
	n, _ := strconv.ParseInt(at, 10, 64) // an id of Redis's own
	return n
}

// SigningKey returns the seed of the key that signs receipts, made on the
// first start of a deployment and shared by its daemons.
func (b *Broker) SigningKey(ctx context.Context) ([]byte, error) {
	return b.sharedKey(ctx, b.keys.signingKey(), ed25519.SeedSize)
}
