package broker

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// Audit implements bridge.AuditLog.
func (b *Broker) Audit(ctx context.Context, a bridge.AuditEntry) error {
	p := 0
	switch {
	case a.ID != "":
		p = a.ID.Partition()
	case a.Session != "":
		p = b.partition(a.Session, "")
	}
	nothing := b.keys.unused(p) // the script's keys have the places that transitions give them
	keys := []string{nothing, nothing, nothing, nothing, nothing, nothing, nothing, b.keys.audit(p), b.keys.auditHead(p)}
	return unavailable(b.run(ctx, p, b.scripts.audit, keys, string(a.ID), string(a.Type), a.Agent, a.Session, string(a.State), []byte(a.Data)).Err())
}

// Audits implements bridge.AuditLog.
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

// AuditEntries implements bridge.AuditLog.
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

// Seals implements bridge.AuditLog.
func (b *Broker) Seals(ctx context.Context, partition int) ([]string, error) {
	stream, err := b.client.XRange(ctx, b.keys.seals(partition), "-", "+").Result()
	if err != nil {
		return nil, unavailable(err)
	}
	trim, err := b.client.HGet(ctx, b.keys.auditHead(partition), "trim").Result()
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

// PutSeal implements bridge.AuditLog. The id of a seal is its entry's number,
// so that a second one for the same entry is refused.
func (b *Broker) PutSeal(ctx context.Context, partition int, n int64, cursor, seal string, instead int64) error {
	_, err := b.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.XAdd(ctx, &redis.XAddArgs{Stream: b.keys.seals(partition), ID: strconv.FormatInt(n, 10) + "-1", Values: []string{"s", seal, "c", cursor}})
		p.HSet(ctx, b.keys.auditHead(partition), "seal", seal, "cur", cursor)
		if instead > 0 {
			p.XDel(ctx, b.keys.seals(partition), strconv.FormatInt(instead, 10)+"-1")
		}
		return nil
	})
	return unavailable(err)
}

// TrimAudit implements bridge.AuditLog.
func (b *Broker) TrimAudit(ctx context.Context, partition int, n int64, seal string) error {
	id := strconv.FormatInt(n, 10) + "-1"
	found, err := b.client.XRange(ctx, b.keys.seals(partition), id, id).Result()
	if err != nil || len(found) == 0 {
		return unavailable(err) // another daemon did it
	}
	cursor, _ := found[0].Values["c"].(string) // every field is a string
	_, err = b.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.HSet(ctx, b.keys.auditHead(partition), "trim", seal)
		p.XTrimMinID(ctx, b.keys.audit(partition), cursor)
		p.XDel(ctx, b.keys.audit(partition), cursor)
		p.XTrimMinID(ctx, b.keys.seals(partition), id)
		p.XDel(ctx, b.keys.seals(partition), id)
		return nil
	})
	return unavailable(err)
}

// SigningKey returns the seed of the key that signs receipts, made on the
// first start of a deployment and shared by its daemons.
func (b *Broker) SigningKey(ctx context.Context) ([]byte, error) {
	return b.sharedKey(ctx, b.keys.signingKey(), ed25519.SeedSize)
}
