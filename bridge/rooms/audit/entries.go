package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/broker"
)

// Entries stores the audit log: its entries in the journal, which move to the
// archive when the events around them are removed, and the seals over all of
// them. Entries are never changed. It is safe for concurrent use.
type Entries struct {
	db        documents.DB
	retention time.Duration // of interactions
}

// NewEntries returns the audit log in a database. Retention is the time for
// which closed interactions are kept.
func NewEntries(db documents.DB, retention time.Duration) *Entries { return &Entries{db, retention} }

// head is the document about the journal: the last seal and the ID of the entry that
// it covers, the seal up to which the audit log was trimmed and the ID of its entry,
// and the ID up to which the journal has no trimmed entries.
type head struct {
	Sealed  string `json:"sealed,omitempty"`
	Through string `json:"through,omitempty"`
	Trimmed string `json:"trimmed,omitempty"`
	Start   string `json:"start,omitempty"`
	Gone    string `json:"gone,omitempty"`
}

var (
	headDocs = broker.NewDocs[head]("journal", 1)
	sealDocs = broker.NewDocs[string]("seal", 1)
)

const (
	headName  = "head"
	sealIndex = "seals" // seals, by the time of their entries
	// archiveBatch is the number of entries that are archived at a time.
	archiveBatch = 500
)

// SealedAudit describes the journal: its length, and how much of it is sealed.
type SealedAudit struct {
	Sealed  string // the last seal; empty if there is none
	Through string // ID of the last sealed entry; empty if no entry is sealed
	Trimmed string // seal up to which the journal was trimmed; empty if it was not
	bridge.AuditCounts
}

// Sealed returns the state of the journal.
func (au *Entries) Sealed(ctx context.Context) (SealedAudit, error) {
	h, _, err := headDocs.Get(ctx, au.db, headName)
	if err != nil {
		return SealedAudit{}, documents.Public(err)
	}
	out := SealedAudit{Sealed: h.Sealed, Through: h.Through, Trimmed: h.Trimmed}
	out.AuditCounts, err = au.AuditCounts(ctx)
	return out, err
}

// AuditCounts returns the counts of the journal from the store.
func (au *Entries) AuditCounts(ctx context.Context) (bridge.AuditCounts, error) {
	c, err := au.db.Census(ctx, broker.Journal)
	return bridge.AuditCounts{Last: c.Last, Added: c.Added, Deleted: c.Removed}, documents.Public(err)
}

// AuditEntries returns up to limit entries of the journal, including events,
// after the entry with an ID. An empty ID starts at the oldest entry. Entries
// move from the journal to the archive under the same IDs. AuditEntries
// therefore reads the archive after the journal, and skips duplicates.
func (au *Entries) AuditEntries(ctx context.Context, after string, limit int) ([]bridge.AuditEntry, error) {
	if after == "" {
		h, _, err := headDocs.Get(ctx, au.db, headName)
		if err != nil {
			return nil, documents.Public(err)
		}
		after = h.Start
	}
	var out []bridge.AuditEntry
	for _, s := range []broker.Stream{broker.Journal, broker.Archive} {
		page, err := au.db.Entries(ctx, s, after, limit)
		if err != nil {
			return nil, documents.Public(err)
		}
		for _, e := range page {
			out = append(out, auditEntry(e))
		}
	}
	slices.SortStableFunc(out, func(x, y bridge.AuditEntry) int { return bridge.CompareEntries(x.Entry, y.Entry) })
	out = slices.CompactFunc(out, func(x, y bridge.AuditEntry) bool { return x.Entry == y.Entry })
	return out[:min(limit, len(out))], nil
}

// auditEntry decodes an entry.
func auditEntry(e broker.Entry) bridge.AuditEntry {
	return bridge.AuditEntry{
		Entry: e.ID, Timestamp: documents.TimeOf(e.ID),
		Type: cmp.Or(bridge.AuditType(e.Get("k")), bridge.AuditEvent), Event: bridge.EventType(e.Get("t")),
		ID: bridge.ID(e.Get("i")), Agent: e.Get("a"), Session: e.Get("s"), State: bridge.State(e.Get("st")),
		Correlation: e.Get("x"), Data: json.RawMessage(e.Get("d")),
	}
}

// AuditNewest returns up to limit entries before a cursor, newest first, and
// the cursor of the next page, which is empty after the last page. An empty
// cursor starts at the newest entry. AuditNewest reads the journal from its
// end, and then the archive without the entries that it has already read. A
// cursor is the ID of the last entry of the page.
func (au *Entries) AuditNewest(ctx context.Context, before string, limit int) ([]bridge.AuditEntry, string, error) {
	if before != "" && !documents.IsID(before) {
		return nil, "", bridge.Errorf(bridge.CodeInvalid, "cursor: invalid value %q", before).WithHint("use next of the previous page")
	}
	h, _, err := headDocs.Get(ctx, au.db, headName)
	if err != nil {
		return nil, "", documents.Public(err)
	}
	var out []bridge.AuditEntry
	last, size := before, 2*limit+1 // there are events between the entries
	for _, s := range []broker.Stream{broker.Journal, broker.Archive} {
		for len(out) <= limit {
			page, err := au.db.Newest(ctx, s, last, size)
			if err != nil {
				return nil, "", documents.Public(err)
			}
			for _, e := range page {
				if bridge.CompareEntries(e.ID, h.Start) <= 0 {
					continue
				}
				if a := auditEntry(e); a.Type != bridge.AuditEvent {
					out = append(out, a)
				}
				last = e.ID
			}
			if len(page) < size || bridge.CompareEntries(page[len(page)-1].ID, h.Start) <= 0 {
				break
			}
		}
	}
	if len(out) <= limit {
		return out, "", nil
	}
	return out[:limit], out[limit-1].Entry, nil
}

// seals returns the IDs of the entries with seals, oldest first.
func (au *Entries) seals(ctx context.Context) ([]string, error) {
	all, err := au.db.Range(ctx, broker.Query{Index: sealIndex})
	ids := documents.Names(all)
	slices.SortFunc(ids, bridge.CompareEntries)
	return ids, documents.Public(err)
}

// Seals returns the seals of the journal, oldest first. The first may be the seal that the
// journal was trimmed to.
func (au *Entries) Seals(ctx context.Context) ([]string, error) {
	ids, err := au.seals(ctx)
	if err != nil {
		return nil, err
	}
	h, _, err := headDocs.Get(ctx, au.db, headName)
	if err != nil {
		return nil, documents.Public(err)
	}
	var out []string
	if h.Trimmed != "" {
		out = append(out, h.Trimmed)
	}
	var newer error // not ignored, because a missing seal would look like tampering
	all, err := sealDocs.List(ctx, au.db, ids, func(err error) {
		if errors.As(err, new(*broker.NewerError)) {
			newer = err
		}
		au.db.Refused(err)
	})
	return append(out, all...), documents.Public(errors.Join(err, newer))
}

// sealMember is the member of the index of seals for the seal of an entry.
func sealMember(entry string) broker.Member {
	return broker.Member{Index: sealIndex, Name: entry, At: time.UnixMilli(max(1, documents.TimeOf(entry)))}
}

// NewSeal is a seal to append to the seals of the journal.
type NewSeal struct {
	// After is the last seal that the caller has read. It is empty if there
	// was none.
	After string
	Token string // the signed seal
	Entry string // ID of the last entry that it covers
	// Instead is the ID of the entry whose seal the new one replaces. It is
	// empty if all seals are kept.
	Instead string
}

// PutSeal appends a seal to those of the journal. It returns CodeConflict, and changes
// nothing, if the last seal is not the expected one.
func (au *Entries) PutSeal(ctx context.Context, s NewSeal) error {
	_, err := headDocs.Update(ctx, au.db, headName, func(h *head, _ *broker.Doc) (broker.Change, error) {
		if h.Sealed != s.After {
			return broker.Change{}, bridge.Errorf(bridge.CodeConflict, "the audit log was sealed again in the meantime")
		}
		h.Sealed, h.Through = s.Token, s.Entry
		put, err := sealDocs.Encode(broker.Doc{Key: sealDocs.Key(s.Entry), Fresh: true}, &s.Token)
		c := broker.Change{Put: []broker.Doc{put}, Set: []broker.Member{sealMember(s.Entry)}, Urgent: true}
		if s.Instead != "" && s.Instead != s.Entry {
			old, err := au.db.Get(ctx, sealDocs.Key(s.Instead))
			if err != nil {
				return c, err
			}
			if old[0].Exists() {
				c.Drop = []broker.Version{old[0].At()}
			}
			c.Unset = []broker.Member{sealMember(s.Instead)}
		}
		return c, err
	})
	return documents.Public(err)
}

// AuditTrim removes the start of the journal.
type AuditTrim struct {
	After string // seal up to which the journal is already trimmed; empty if it is not
	Token string // the seal to keep as the start of the journal
	Entry string // ID of the last entry to remove, which must have a seal
}

// TrimAudit removes the entries and seals up to an entry, unless the journal has been
// trimmed by another caller in the meantime. A repeat completes an earlier attempt.
func (au *Entries) TrimAudit(ctx context.Context, t AuditTrim) error {
	ids, err := au.seals(ctx)
	if err != nil {
		return err
	}
	trimmed := false
	_, err = headDocs.Update(ctx, au.db, headName, func(h *head, _ *broker.Doc) (broker.Change, error) {
		if trimmed = h.Trimmed == t.Token; trimmed {
			return broker.Change{}, broker.ErrUnchanged
		}
		if trimmed = h.Trimmed == t.After && slices.Contains(ids, t.Entry); !trimmed {
			return broker.Change{}, broker.ErrUnchanged
		}
		h.Trimmed, h.Start = t.Token, t.Entry
		return broker.Change{Urgent: true}, nil
	})
	if err != nil || !trimmed {
		return documents.Public(err)
	}
	for _, id := range ids {
		if bridge.CompareEntries(id, t.Entry) > 0 {
			break
		}
		if _, err := au.db.Drop(ctx, sealDocs.Key(id), sealIndex); err != nil {
			return err
		}
	}
	return documents.Public(au.db.Trim(ctx, broker.Archive, t.Entry))
}
