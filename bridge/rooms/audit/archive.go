package audit

import (
	"context"
	"strconv"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

// EventsKept returns the time for which events must be kept for their readers:
// the retention period plus the maximum lifetime of an interaction, which is the
// sum of a timeout, an escalation and a hold.
func (au *Entries) EventsKept() time.Duration { return au.retention + 3*bridge.MaxTimeout }

// Archive removes older events from the journal, and moves entries of the audit
// log to the archive. If through is not empty, it removes nothing after that
// entry. It also deletes the entries that TrimAudit has removed from the log.
func (au *Entries) Archive(ctx context.Context, oldest time.Time, through string) error {
	if err := au.deleteTrimmed(ctx); err != nil {
		return err
	}
	// includes all entries of that millisecond
	end := strconv.FormatInt(oldest.UnixMilli()-1, 10) + "-" + strconv.FormatInt(1<<53, 10)
	if through != "" && documents.TimeOf(through) < oldest.UnixMilli() {
		end = through
	}
	h, _, err := headDocs.Get(ctx, au.db, headName)
	if err != nil {
		return documents.Public(err)
	}
	for {
		page, err := au.db.Entries(ctx, broker.Journal, "", archiveBatch)
		if err != nil {
			return documents.Public(err)
		}
		n := 0
		var kept []broker.Entry
		for ; n < len(page) && bridge.CompareEntries(page[n].ID, end) <= 0; n++ {
			if e := page[n]; auditEntry(e).Type != bridge.AuditEvent && bridge.CompareEntries(e.ID, h.Start) > 0 {
				kept = append(kept, broker.Entry{ID: e.ID, Fields: known(e)})
			}
		}
		if n == 0 {
			return nil
		}
		if len(kept) > 0 {
			if err := au.db.Copy(ctx, broker.Archive, kept); err != nil { // the journal keeps them
				return documents.Public(err)
			}
		}
		if err := au.db.Trim(ctx, broker.Journal, page[n-1].ID); err != nil {
			return documents.Public(err)
		}
		if n < archiveBatch {
			return nil
		}
	}
}

// known returns the fields of an entry that nod writes, in their order, without
// fields that someone else may have added.
func known(e broker.Entry) []string {
	var out []string
	for n, name := range life.Entry("", "", life.Life{}, "", "", "").Fields {
		if n%2 == 0 {
			out = append(out, name, e.Get(name))
		}
	}
	return out
}

// deleteTrimmed deletes the trimmed entries of the audit log from the start of
// the journal. Events stay until they are old enough.
func (au *Entries) deleteTrimmed(ctx context.Context) error {
	for {
		h, _, err := headDocs.Get(ctx, au.db, headName)
		if err != nil || bridge.CompareEntries(h.Start, h.Gone) <= 0 {
			return documents.Public(err)
		}
		page, err := au.db.Entries(ctx, broker.Journal, h.Gone, archiveBatch)
		if err != nil {
			return documents.Public(err)
		}
		gone := h.Start
		var trimmed []string
		for n, e := range page {
			if bridge.CompareEntries(e.ID, h.Start) > 0 {
				break
			}
			if auditEntry(e).Type != bridge.AuditEvent {
				trimmed = append(trimmed, e.ID)
			}
			if n == archiveBatch-1 {
				gone = e.ID
			}
		}
		if err := au.db.Remove(ctx, broker.Journal, trimmed); err != nil {
			return documents.Public(err)
		}
		_, err = headDocs.Update(ctx, au.db, headName, func(h *head, _ *broker.Doc) (broker.Change, error) {
			h.Gone = gone
			return broker.Change{Urgent: true}, nil
		})
		if err != nil {
			return documents.Public(err)
		}
	}
}
