package core

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

// audit implements bridge.AuditLog. The audit log consists of the entries of
// the journal that are not only events, and of the seals over all entries.
// Entries move to the archive once the events around them are removed.
type audit struct{ *shared }

// head is the document about the journal. It holds the last seal and the ID of
// the entry that the seal covers, the seal up to which the audit log was
// trimmed and the ID of its entry, and the ID up to which the journal has no
// trimmed entries.
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
	sealIndex = "seals" // index of seals, by the time of their entries
	// archiveBatch is the number of entries that are archived at a time.
	archiveBatch = 500
)

// Audit implements bridge.AuditLog.
func (au audit) Audit(ctx context.Context, a bridge.AuditEntry) error {
	if err := au.signer.Load().ProveEntry(&a); err != nil {
		return err
	}
	e := life.Entry("", a.ID, life.Life{Agent: a.Agent, Session: a.Session}, a.State, string(a.Data), a.Type)
	_, err := au.db.Do(ctx, broker.Change{Journal: []broker.Entry{e}, Urgent: true})
	return public(err)
}

// Sealed implements bridge.AuditLog.
func (au audit) Sealed(ctx context.Context) (bridge.SealedAudit, error) {
	h, _, err := headDocs.Get(ctx, au.db, headName)
	if err != nil {
		return bridge.SealedAudit{}, public(err)
	}
	out := bridge.SealedAudit{Sealed: h.Sealed, Through: h.Through, Trimmed: h.Trimmed}
	out.AuditCounts, err = au.AuditCounts(ctx)
	return out, err
}

// AuditCounts implements bridge.AuditLog.
func (au audit) AuditCounts(ctx context.Context) (bridge.AuditCounts, error) {
	c, err := au.db.Census(ctx, broker.Journal)
	return bridge.AuditCounts{Last: c.Last, Added: c.Added, Deleted: c.Removed}, public(err)
}

// AuditEntries implements bridge.AuditLog. Entries move from the journal to its
// archive under the same IDs. It therefore reads the archive after the journal,
// and returns an entry that is in both only once.
func (au audit) AuditEntries(ctx context.Context, after string, limit int) ([]bridge.AuditEntry, error) {
	if after == "" {
		h, _, err := headDocs.Get(ctx, au.db, headName)
		if err != nil {
			return nil, public(err)
		}
		after = h.Start
	}
	var out []bridge.AuditEntry
	for _, s := range []broker.Stream{broker.Journal, broker.Archive} {
		page, err := au.db.Entries(ctx, s, after, limit)
		if err != nil {
			return nil, public(err)
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
		Entry: e.ID, Timestamp: streamTime(e.ID),
		Type: cmp.Or(bridge.AuditType(e.Get("k")), bridge.AuditEvent), Event: bridge.EventType(e.Get("t")),
		ID: bridge.ID(e.Get("i")), Agent: e.Get("a"), Session: e.Get("s"), State: bridge.State(e.Get("st")),
		Correlation: e.Get("x"), Data: json.RawMessage(e.Get("d")),
	}
}

// AuditNewest implements bridge.AuditLog. It reads the journal backward, and
// then its archive, whose entries it skips if it has read them before. A cursor
// is the ID of the last entry of the page.
func (au audit) AuditNewest(ctx context.Context, before string, limit int) ([]bridge.AuditEntry, string, error) {
	if before != "" && checkMessage(before) != nil {
		return nil, "", bridge.Errorf(bridge.CodeInvalid, "cursor: invalid value %q", before).WithHint("use next of the previous page")
	}
	h, _, err := headDocs.Get(ctx, au.db, headName)
	if err != nil {
		return nil, "", public(err)
	}
	var out []bridge.AuditEntry
	last, size := before, 2*limit+1 // there are events between the entries
	for _, s := range []broker.Stream{broker.Journal, broker.Archive} {
		for len(out) <= limit {
			page, err := au.db.Newest(ctx, s, last, size)
			if err != nil {
				return nil, "", public(err)
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
func (au audit) seals(ctx context.Context) ([]string, error) {
	all, err := au.db.Range(ctx, broker.Query{Index: sealIndex})
	ids := names(all)
	slices.SortFunc(ids, bridge.CompareEntries)
	return ids, public(err)
}

// Seals implements bridge.AuditLog.
func (au audit) Seals(ctx context.Context) ([]string, error) {
	ids, err := au.seals(ctx)
	if err != nil {
		return nil, err
	}
	h, _, err := headDocs.Get(ctx, au.db, headName)
	if err != nil {
		return nil, public(err)
	}
	var out []string
	if h.Trimmed != "" {
		out = append(out, h.Trimmed)
	}
	var newer error // a missing seal is a sign of tampering
	all, err := sealDocs.List(ctx, au.db, ids, func(err error) {
		if errors.As(err, new(*broker.NewerError)) {
			newer = err
		}
		au.refused(err)
	})
	return append(out, all...), public(errors.Join(err, newer))
}

// sealMember is the member of the index of seals that stands for the seal of an
// entry.
func sealMember(entry string) broker.Member {
	return broker.Member{Index: sealIndex, Name: entry, At: time.UnixMilli(max(1, streamTime(entry)))}
}

// PutSeal implements bridge.AuditLog.
func (au audit) PutSeal(ctx context.Context, s bridge.NewSeal) error {
	_, err := headDocs.Update(ctx, au.db, headName, func(h *head, _ *broker.Doc) (broker.Change, error) {
		if h.Sealed != s.After {
			return broker.Change{}, bridge.Errorf(bridge.CodeConflict, "the audit log has another seal by now")
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
	return public(err)
}

// TrimAudit implements bridge.AuditLog.
func (au audit) TrimAudit(ctx context.Context, t bridge.AuditTrim) error {
	ids, err := au.seals(ctx)
	if err != nil {
		return err
	}
	trimmed := false
	_, err = headDocs.Update(ctx, au.db, headName, func(h *head, _ *broker.Doc) (broker.Change, error) {
		if trimmed = h.Trimmed == t.After && slices.Contains(ids, t.Entry); !trimmed {
			return broker.Change{}, broker.ErrUnchanged
		}
		h.Trimmed, h.Start = t.Token, t.Entry
		return broker.Change{Urgent: true}, nil
	})
	if err != nil || !trimmed {
		return public(err)
	}
	for _, id := range ids {
		if bridge.CompareEntries(id, t.Entry) > 0 {
			break
		}
		if _, err := drop(ctx, au.db, sealDocs.Key(id), sealIndex); err != nil {
			return err
		}
	}
	return public(au.db.Trim(ctx, broker.Archive, t.Entry))
}

// EventsKept implements bridge.AuditLog. An interaction lives longest with a
// timeout, an escalation and a hold.
func (au audit) EventsKept() time.Duration { return au.retention + 3*bridge.MaxTimeout }

// Archive implements bridge.AuditLog.
func (au audit) Archive(ctx context.Context, oldest time.Time, through string) error {
	if err := au.deleteTrimmed(ctx); err != nil {
		return err
	}
	end := strconv.FormatInt(oldest.UnixMilli()-1, 10) + "-" + strconv.FormatInt(1<<53, 10) // with all entries of that millisecond
	if through != "" && streamTime(through) < oldest.UnixMilli() {
		end = through
	}
	h, _, err := headDocs.Get(ctx, au.db, headName)
	if err != nil {
		return public(err)
	}
	for {
		page, err := au.db.Entries(ctx, broker.Journal, "", archiveBatch)
		if err != nil {
			return public(err)
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
				return public(err)
			}
		}
		if err := au.db.Trim(ctx, broker.Journal, page[n-1].ID); err != nil {
			return public(err)
		}
		if n < archiveBatch {
			return nil
		}
	}
}

// known returns the fields of an entry that nod writes, in their order. Other
// fields of the entry are not from nod.
func known(e broker.Entry) []string {
	var out []string
	for n, name := range life.Entry("", "", life.Life{}, "", "", "").Fields {
		if n%2 == 0 {
			out = append(out, name, e.Get(name))
		}
	}
	return out
}

// deleteTrimmed deletes trimmed entries of the audit log from the middle of the
// journal. Events stay until they are old enough.
func (au audit) deleteTrimmed(ctx context.Context) error {
	for {
		h, _, err := headDocs.Get(ctx, au.db, headName)
		if err != nil || bridge.CompareEntries(h.Start, h.Gone) <= 0 {
			return public(err)
		}
		page, err := au.db.Entries(ctx, broker.Journal, h.Gone, archiveBatch)
		if err != nil {
			return public(err)
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
			return public(err)
		}
		_, err = headDocs.Update(ctx, au.db, headName, func(h *head, _ *broker.Doc) (broker.Change, error) {
			h.Gone = gone
			return broker.Change{Urgent: true}, nil
		})
		if err != nil {
			return public(err)
		}
	}
}
