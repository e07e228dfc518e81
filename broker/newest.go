package broker

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// placed is an entry at its position in the order of AuditNewest: newest first,
// then by partition. Its number n falls with the number in the ID. It is negative
// in a journal and positive in a linked log, so that positions in the two differ.
type placed struct {
	ms        int64
	partition int
	n         int64
	entry     bridge.AuditEntry
}

func (p placed) compare(q placed) int {
	return cmp.Or(cmp.Compare(q.ms, p.ms), cmp.Compare(p.partition, q.partition), cmp.Compare(p.n, q.n))
}

// placeOf parses the ID of an entry in a stream.
func placeOf(part bridge.AuditPart, m redis.XMessage) placed {
	var seq int64
	_, _ = fmt.Sscanf(m.ID, "%d-%d", new(int64), &seq) // Redis writes it
	n := -1 - seq
	if part.Linked {
		n = math.MaxInt64 - seq
	}
	return placed{streamTime(m.ID), part.Partition, n, auditEntry(part, m)}
}

// backwards reads one log from its end.
type backwards struct {
	part    bridge.AuditPart
	archive bool   // the journal is read; its archive is next
	next    string // the end of the next page; empty after the last one
	first   string // where the log starts
	found   []placed
}

// stream returns the key of the stream that is read next.
func (b *backwards) stream(keys keys) string {
	if b.archive {
		return keys.archive(b.part.Partition)
	}
	_, entries, _ := keys.log(b.part)
	return entries
}

// add adds the entries of a page that are after the last position, and reports
// whether limit of them are known.
func (b *backwards) add(page []redis.XMessage, last placed, size, limit int) bool {
	for _, m := range page {
		if p := placeOf(b.part, m); p.entry.Type != bridge.AuditEvent && last.compare(p) < 0 {
			b.found = append(b.found, p)
		}
	}
	if len(page) > 0 {
		b.next = "(" + page[len(page)-1].ID
	}
	if len(page) < size {
		if b.part.Linked || b.archive {
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
		if _, err := fmt.Sscanf(before, "%d.%d.%d", &last.ms, &last.partition, &last.n); err != nil {
			return nil, "", bridge.Errorf(bridge.CodeInvalid, "cursor: invalid value %q", before).WithHint("use next of the previous page")
		}
		end = strconv.FormatInt(last.ms, 10)
	}
	var logs []*backwards
	for p := range al.partitions {
		logs = append(logs, &backwards{part: bridge.AuditPart{Partition: p}, next: end},
			&backwards{part: bridge.AuditPart{Partition: p, Linked: true}, next: end})
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
	heads := make([]*redis.SliceCmd, len(logs))
	_, err := al.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for k, b := range logs {
			head, _, _ := al.keys.log(b.part)
			heads[k] = p.HMGet(ctx, head, "from", "start")
		}
		return nil
	})
	if err != nil {
		return unavailable(err)
	}
	for k, b := range logs {
		if b.first = "-"; b.part.Linked {
			continue
		}
		if id := lastOf(heads[k].Val()); id != "" {
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
		next = fmt.Sprintf("%d.%d.%d", end.ms, end.partition, end.n)
	}
	out = make([]bridge.AuditEntry, len(all))
	for k, p := range all {
		out[k] = p.entry
	}
	return out, next
}
