package broker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// placed is an entry at its position in the order of AuditNewest: newest first,
// then by partition.
type placed struct {
	ms        int64
	partition int
	seq       int64 // the number in the ID
	entry     bridge.AuditEntry
}

func (p placed) compare(q placed) int {
	return cmp.Or(cmp.Compare(q.ms, p.ms), cmp.Compare(p.partition, q.partition), cmp.Compare(q.seq, p.seq))
}

// placeOf parses the ID of an entry in a stream.
func placeOf(partition int, m redis.XMessage) placed {
	p := placed{ms: streamTime(m.ID), partition: partition, entry: auditEntry(partition, m)}
	_, _ = fmt.Sscanf(m.ID, "%d-%d", new(int64), &p.seq) // Redis writes it
	return p
}

// backwards reads a journal from its end, and then its archive.
type backwards struct {
	partition int
	archive   bool   // the journal is read; its archive is next
	next      string // the end of the next page; empty after the last one
	first     string // where the log starts
	found     []placed
}

// stream returns the key of the stream that is read next.
func (b *backwards) stream(keys keys) string {
	if b.archive {
		return keys.archive(b.partition)
	}
	return keys.journal(b.partition)
}

// add adds the entries of a page that are after the last position, and reports
// whether limit of them are known.
func (b *backwards) add(page []redis.XMessage, last placed, size, limit int) bool {
	for _, m := range page {
		if p := placeOf(b.partition, m); p.entry.Type != bridge.AuditEvent && last.compare(p) < 0 {
			b.found = append(b.found, p)
		}
	}
	if len(page) > 0 {
		b.next = "(" + page[len(page)-1].ID
	}
	if len(page) < size {
		if b.archive {
			b.next = ""
		}
		b.archive = true
	}
	return len(b.found) >= limit
}

// AuditNewest implements bridge.AuditLog.
func (al *auditLog) AuditNewest(ctx context.Context, before string, limit int) ([]bridge.AuditEntry, string, error) {
	end, last := "+", placed{ms: math.MaxInt64}
	if before != "" {
		if _, err := fmt.Sscanf(before, "%d.%d.%d", &last.ms, &last.partition, &last.seq); err != nil {
			return nil, "", bridge.Errorf(bridge.CodeInvalid, "cursor: invalid value %q", before).WithHint("use next of the previous page")
		}
		end = strconv.FormatInt(last.ms, 10)
	}
	var logs []*backwards
	for p := range al.partitions {
		logs = append(logs, &backwards{partition: p, next: end})
	}
	if err := al.findStarts(ctx, logs); err != nil {
		return nil, "", err
	}
	// Entries of the same millisecond may have been on the page before.
	size := 2*limit + 1
	for reading := logs; len(reading) > 0; {
		pages := make([]*redis.XMessageSliceCmd, len(reading))
		_, err := al.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for k, b := range reading {
				pages[k] = p.XRevRangeN(ctx, b.stream(al.keys), b.next, b.first, int64(size))
			}
			return nil
		})
		if err != nil {
			return nil, "", unavailable(err)
		}
		var unfinished []*backwards
		for k, b := range reading {
			if enough := b.add(pages[k].Val(), last, size, limit+1); !enough && b.next != "" {
				unfinished = append(unfinished, b)
			}
		}
		reading = unfinished
	}
	entries, next := newest(logs, limit)
	return entries, next, nil
}

// findStarts finds where the logs start: the events of a journal may be kept for
// longer than its entries, and can be many.
func (al *auditLog) findStarts(ctx context.Context, logs []*backwards) error {
	starts := make([]*redis.StringCmd, len(logs))
	_, err := al.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for k, b := range logs {
			starts[k] = p.HGet(ctx, al.keys.journalHead(b.partition), "start")
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return unavailable(err)
	}
	for k, b := range logs {
		id, err := starts[k].Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return unavailable(err)
		}
		if b.first = "-"; id != "" {
			b.first = "(" + id
		}
	}
	return nil
}

// newest returns the first limit entries of all logs, and the cursor after them
// if there are more.
func newest(logs []*backwards, limit int) (out []bridge.AuditEntry, next string) {
	var all []placed
	for _, b := range logs {
		all = append(all, b.found...)
	}
	slices.SortFunc(all, placed.compare)
	if len(all) > limit {
		all = all[:limit]
		end := all[limit-1]
		next = fmt.Sprintf("%d.%d.%d", end.ms, end.partition, end.seq)
	}
	out = make([]bridge.AuditEntry, len(all))
	for k, p := range all {
		out[k] = p.entry
	}
	return out, next
}
