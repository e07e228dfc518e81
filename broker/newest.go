package broker

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// AuditNewest implements bridge.AuditLog. It reads the journal from its end, and then
// its archive. Entries go from one to the other, so it ignores in the archive what
// it has read. A cursor is the ID of the last entry of the page.
func (al *auditLog) AuditNewest(ctx context.Context, before string, limit int) ([]bridge.AuditEntry, string, error) {
	last := ""
	if before != "" {
		if _, err := parseEntry(before); err != nil {
			return nil, "", bridge.Errorf(bridge.CodeInvalid, "cursor: invalid value %q", before).WithHint("use next of the previous page")
		}
		last = before
	}
	start, err := al.start(ctx)
	if err != nil {
		return nil, "", err
	}
	var out []bridge.AuditEntry
	size := int64(2*limit + 1) // there are events between the entries
	for _, stream := range []string{al.keys.journal(), al.keys.archive()} {
		for len(out) <= limit {
			end := "+"
			if last != "" {
				end = "(" + last
			}
			page, err := al.client.XRevRangeN(ctx, stream, end, start, size).Result()
			if err != nil {
				return nil, "", unavailable(err)
			}
			for _, m := range page {
				if a := auditEntry(m); a.Type != bridge.AuditEvent {
					out = append(out, a)
				}
				last = m.ID
			}
			if int64(len(page)) < size {
				break
			}
		}
	}
	if len(out) <= limit {
		return out, "", nil
	}
	return out[:limit], out[limit-1].Entry, nil
}

// start returns where the audit log starts, as the end of a range: the events of the
// journal may be kept for longer than its entries, and can be many.
func (al *auditLog) start(ctx context.Context) (string, error) {
	id, err := al.client.HGet(ctx, al.keys.journalHead(), "start").Result()
	switch {
	case errors.Is(err, redis.Nil), err == nil && id == "":
		return "-", nil
	case err != nil:
		return "", unavailable(err)
	}
	return "(" + id, nil
}
