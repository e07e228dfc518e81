package broker

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

const (
	// archiveBatch is the number of entries that one script removes from a
	// journal. Other calls wait for about a millisecond.
	archiveBatch = 100
	// trimBatch is the number of entries of a journal that are read at a time
	// to delete those that were trimmed.
	trimBatch = 500
)

// EventsKept implements bridge.AuditLog. The longest life of an interaction is
// a timeout, an escalation and a hold.
func (al *auditLog) EventsKept() time.Duration { return al.retention + 3*bridge.MaxTimeout }

// TrimAudit implements bridge.AuditLog. The comparison and the writes are one
// script, because of two daemons that trim at once the slower one would
// otherwise move the start back.
func (al *auditLog) TrimAudit(ctx context.Context, t bridge.AuditTrim) error {
	keys := []string{al.keys.journalHead(), al.keys.archive(), al.keys.journalSeals()}
	return unavailable(al.run(ctx, al.scripts.trim, keys, t.After, t.Token, t.Entry).Err())
}

// Archive implements bridge.AuditLog.
func (al *auditLog) Archive(ctx context.Context, oldest time.Time, through string) error {
	if err := al.deleteTrimmed(ctx); err != nil {
		return err
	}
	until := strconv.FormatInt(oldest.UnixMilli()-1, 10) // with all entries of that millisecond
	if through != "" && streamTime(through) < oldest.UnixMilli() {
		until = through
	}
	keys := []string{al.keys.journalHead(), al.keys.journal(), al.keys.archive()}
	for {
		removed, err := al.run(ctx, al.scripts.archive, keys, until, archiveBatch).Int()
		if err != nil || removed < archiveBatch {
			return unavailable(err)
		}
	}
}

// deleteTrimmed deletes the entries of the audit log up to its start from the
// middle of the journal. Events stay until they are old enough.
func (al *auditLog) deleteTrimmed(ctx context.Context) error {
	head, journal := al.keys.journalHead(), al.keys.journal()
	ids, err := al.client.HMGet(ctx, head, "start", "gone").Result()
	if err != nil {
		return unavailable(err)
	}
	start, _ := ids[0].(string) // nil if it is absent
	gone, _ := ids[1].(string)
	for bridge.CompareEntries(start, gone) > 0 {
		from := "-"
		if gone != "" {
			from = "(" + gone
		}
		page, err := al.client.XRangeN(ctx, journal, from, start, trimBatch).Result()
		if err != nil {
			return unavailable(err)
		}
		gone = start
		if len(page) == trimBatch {
			gone = page[trimBatch-1].ID
		}
		var trimmed []string
		for _, m := range page {
			if kind := m.Values["k"]; kind != nil && kind != "" {
				trimmed = append(trimmed, m.ID)
			}
		}
		err = al.transact(ctx, func(p redis.Pipeliner) error {
			if len(trimmed) > 0 {
				p.XDel(ctx, journal, trimmed...)
			}
			p.HSet(ctx, head, "gone", gone)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
