package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/nodbridge/nod/bridge/proof"

	"github.com/nodbridge/nod/bridge"
)

const (
	sealEvery = time.Second
	sealLease = 5 * time.Second
	sealBatch = 500 // entries per read
	// sealKeep is the minimum time between the seals that are kept. The
	// newest seal covers all entries before it, so those in between can be
	// dropped.
	sealKeep = time.Minute
)

// sealer remembers the last seal of each log.
type sealer struct {
	last map[bridge.AuditPart]proof.Seal
	kept map[bridge.AuditPart]time.Time // time of the last seal that is kept
	// base is each log when it was first seen. Only entries up to there may
	// lack proofs, because they may have been written without keys.
	base map[bridge.AuditPart]bridge.SealedAudit
}

// Audit seals, checks, exports and trims the audit log.
type Audit struct {
	store     bridge.AuditLog
	leases    bridge.Leases
	prover    *proof.Prover
	sealing   sealHealth
	signer    *proof.Signer
	retention time.Duration
	log       *slog.Logger
	node      string
}

// seal signs the new entries of the audit log until ctx ends. Only one daemon
// at a time does this for the linked logs, and one for the journals: an older
// version that holds the first lease does not know the journals.
func (au *Audit) seal(ctx context.Context) {
	if au.signer == nil {
		return
	}
	known := sealer{map[bridge.AuditPart]proof.Seal{}, map[bridge.AuditPart]time.Time{}, map[bridge.AuditPart]bridge.SealedAudit{}}
	for bridge.Pause(ctx, sealEvery) {
		linked, err1 := au.leases.Hold(ctx, "seal", au.node, sealLease)
		journals, err2 := au.leases.Hold(ctx, "journal", au.node, sealLease)
		err := errors.Join(err1, err2)
		if err == nil && (linked || journals) {
			err = au.sealAll(ctx, known, func(part bridge.AuditPart) bool { return part.Linked && linked || !part.Linked && journals })
		}
		if err != nil && ctx.Err() == nil {
			au.log.Warn("audit log not sealed", "error", err)
		}
	}
}

// sealAll seals the logs whose lease is held.
func (au *Audit) sealAll(ctx context.Context, known sealer, held func(bridge.AuditPart) bool) error {
	logs, err := au.store.Audits(ctx)
	if err != nil {
		return err
	}
	var failed error
	for _, l := range logs {
		if !held(l.Part) {
			continue
		}
		if _, seen := known.base[l.Part]; !seen {
			known.base[l.Part] = l
		}
		if _, seen := known.last[l.Part]; !seen && l.Sealed == "" && nothingNew(l, 0) && !isCut(l) {
			continue // without reading the seals that the first one would follow
		}
		last, err := au.lastSeal(ctx, l)
		if err != nil {
			return err
		}
		if last == nil {
			au.refuseToSeal(l.Part.Partition, "the last seal is not by a key of this daemon (was the key replaced without keeping the old one?)")
			continue
		}
		if !l.Part.Linked && last.Entry != "" {
			l.Cursor = last.Entry // which is signed
		}
		was, seen := known.last[l.Part]
		if seen && (last.N < was.N || last.N == was.N && last.Hash != was.Hash) || l.Part.Linked && seen && l.N < last.N || isCut(l) {
			au.refuseToSeal(l.Part.Partition, "the log was cut or rewritten after entry "+placeName(was))
			continue
		}
		known.last[l.Part] = *last
		if nothingNew(l, last.N) {
			continue
		}
		err = au.sealOne(ctx, *last, l, known)
		au.sealing.tried(l.Part, err)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("partition %d: %w", l.Part.Partition, err)) // not of the other logs
		}
	}
	return failed
}

// isCut reports whether a journal ends before its last seal or, if there is none,
// before its start.
func isCut(l bridge.SealedAudit) bool {
	return !l.Part.Linked && bridge.CompareEntries(l.Last, l.Cursor) < 0
}

// nothingNew reports whether a log has nothing after its last seal, of entry n.
func nothingNew(l bridge.SealedAudit, n int64) bool {
	if l.Part.Linked {
		return l.N == n
	}
	return bridge.CompareEntries(l.Last, l.Cursor) <= 0
}

// placeName returns the ID or the number of the last entry of a seal.
func placeName(s proof.Seal) string { return cmp.Or(s.Entry, strconv.FormatInt(s.N, 10)) }

// lastSeal returns the last seal of a log, or the state before its first one. It
// returns nil if the seal is not one of this log by a key of the signer.
func (au *Audit) lastSeal(ctx context.Context, l bridge.SealedAudit) (*proof.Seal, error) {
	if l.Sealed != "" {
		last, err := au.PublicKeys().VerifySeal(l.Sealed)
		if err != nil || !last.Of(l.Part) {
			return nil, nil
		}
		return &last, nil
	}
	last := proof.Seal{Proven: au.prover.Strict()} // the log has no entries of an earlier version
	if l.Part.Linked {
		return &last, nil
	}
	// A journal goes on where the linked log ends.
	seals, err := au.store.Seals(ctx, bridge.AuditPart{Partition: l.Part.Partition, Linked: true})
	if err != nil || len(seals) == 0 {
		return &last, err
	}
	if old, err := au.PublicKeys().VerifySeal(seals[len(seals)-1]); err == nil {
		last.Linked, last.Before, last.Hash = old.N, old.Hash, old.Hash
	}
	return &last, nil
}

// sealOne seals the entries after the last seal of a log. It leaves them to
// another daemon that has sealed in the meantime, which happens if the lease of
// this one ended.
func (au *Audit) sealOne(ctx context.Context, last proof.Seal, l bridge.SealedAudit, known sealer) error {
	cursor, after := l.Cursor, l.Sealed
	for {
		instead := last.Place()
		if last.At.Sub(known.kept[l.Part]) >= sealKeep {
			instead, known.kept[l.Part] = bridge.SealPlace{}, last.At
		}
		entries, err := au.store.AuditEntries(ctx, l.Part, cursor, sealBatch)
		if err != nil {
			return err
		}
		complete := len(entries) < sealBatch
		if why := deleted(l, last, entries, complete); why != "" {
			au.refuseToSeal(l.Part.Partition, why)
			return nil
		}
		good := 0
		for _, a := range entries {
			if why := au.unsealable(a, &last, known.base[l.Part]); why != "" {
				au.refuseToSeal(l.Part.Partition, "entry "+cmp.Or(a.Entry, strconv.FormatInt(a.N, 10))+" "+why)
				break
			}
			good++
			extend(&last, a)
			cursor = a.Cursor
		}
		if good == 0 {
			return nil
		}
		if complete && good == len(entries) && last.Added == 0 && l.Added > 0 {
			last.Added = l.Added + int64(len(entries)-through(entries, l.Last))
		}
		last.Partition, last.At = l.Part.Partition, time.Now().UTC().Truncate(time.Millisecond)
		signed, err := au.signer.Seal(last)
		if err == nil {
			err = au.store.PutSeal(ctx, l.Part, bridge.NewSeal{After: after, Token: signed, Place: last.Place(), Cursor: cursor, Instead: instead})
			after = signed
		}
		if bridge.ErrorCode(err) == bridge.CodeConflict {
			return nil
		}
		if err != nil || good < sealBatch {
			return err
		}
	}
}

// extend adds an entry to a seal, which only counts an event.
func extend(s *proof.Seal, a bridge.AuditEntry) {
	if s.Entry = a.Entry; a.Type != bridge.AuditEvent {
		s.N, s.Link, s.Hash = s.N+1, a.Link, proof.HashAfter(a, s.Hash)
	}
	if s.Added > 0 {
		s.Added++
	}
}

// through returns the number of entries up to one.
func through(entries []bridge.AuditEntry, id string) int {
	n := slices.IndexFunc(entries, func(a bridge.AuditEntry) bool { return bridge.CompareEntries(a.Entry, id) > 0 })
	if n < 0 {
		return len(entries)
	}
	return n
}

// deleted returns the reason why entries of a journal are missing after its last
// seal, by the counts of Redis. It returns "" if none are, or if Redis does not
// count.
func deleted(l bridge.SealedAudit, last proof.Seal, entries []bridge.AuditEntry, complete bool) string {
	if l.Part.Linked || l.Added == 0 {
		return ""
	}
	if bridge.CompareEntries(l.Deleted, l.Cursor) > 0 && bridge.CompareEntries(l.Deleted, last.Entry) > 0 {
		return "entry " + l.Deleted + ", or one before it, was deleted before it was sealed"
	}
	if last.Added > 0 && complete && l.Added-last.Added > int64(len(entries)) {
		return "entries after " + last.Entry + " were deleted before they were sealed"
	}
	return ""
}

// unsealable returns the reason why an entry cannot follow the last seal. It
// returns "" if the entry can. Entries up to base may lack proofs.
func (au *Audit) unsealable(a bridge.AuditEntry, last *proof.Seal, base bridge.SealedAudit) string {
	if a.Type == bridge.AuditEvent {
		return ""
	}
	if len(a.Data) > 0 && !json.Valid(a.Data) {
		return "has data that is not JSON"
	}
	later := bridge.CompareEntries(a.Entry, base.Last) > 0
	if base.Part.Linked {
		if a.N != last.N+1 || a.Link != proof.LinkAfter(a, last.Link) {
			return "was changed, removed or reordered before it was sealed"
		}
		later = a.N > base.N
	}
	proven := last.Proven || au.prover.Strict() && later
	ev, why := au.prover.EntryProblem(a, proven)
	if why != "" && au.prover.Strict() {
		return why
	}
	last.Proven = proven || ev.Good
	return ""
}

// Trim removes entries from the audit log that are older than the retention, and
// events that no reader needs anymore. It removes nothing that is not sealed,
// and signs the new start of each log, so that no one else can move it.
func (au *Audit) Trim(ctx context.Context) error {
	now := time.Now()
	if au.retention > 0 && au.signer != nil {
		if err := au.TrimBefore(ctx, now.Add(-au.retention)); err != nil {
			return err
		}
	}
	return au.Archive(ctx, now.Add(-au.store.EventsKept()))
}

// Archive removes events before a time, and keeps entries of the audit log. A
// journal whose seals fail stays as it is after its last seal.
func (au *Audit) Archive(ctx context.Context, oldest time.Time) error {
	logs, err := au.store.Audits(ctx)
	if err != nil {
		return err
	}
	for _, l := range logs {
		if l.Part.Linked {
			continue
		}
		through := ""
		if au.signer != nil {
			through = cmp.Or(l.Cursor, "0-0")
		}
		if err := au.store.Archive(ctx, l.Part.Partition, oldest, through); err != nil {
			return err
		}
	}
	return nil
}

// TrimBefore removes entries of the audit log that were sealed before a time.
func (au *Audit) TrimBefore(ctx context.Context, oldest time.Time) error {
	logs, err := au.store.Audits(ctx)
	if err != nil {
		return err
	}
	for _, l := range logs {
		if err := au.trim(ctx, l, oldest); err != nil {
			return err
		}
	}
	return nil
}

// trim removes what was sealed before a time from one log.
func (au *Audit) trim(ctx context.Context, l bridge.SealedAudit, oldest time.Time) error {
	seals, err := au.store.Seals(ctx, l.Part)
	if err != nil {
		return err
	}
	var last proof.Seal
	for _, token := range seals {
		s, err := au.PublicKeys().VerifySeal(token)
		if err != nil || !s.Of(l.Part) {
			continue // by a key that no longer exists
		}
		if s.At.After(oldest) {
			break
		}
		last = s
	}
	if last.N == 0 || last.Trimmed {
		return nil
	}
	last.Trimmed = true
	signed, err := au.signer.Seal(last)
	if err == nil {
		err = au.store.TrimAudit(ctx, l.Part, bridge.AuditTrim{After: l.Trimmed, Token: signed, Place: last.Place()})
	}
	if err == nil {
		au.log.Info("audit log trimmed", "partition", l.Part.Partition, "through", placeName(last))
	}
	return err
}

// PublicKeys returns the keys that verify receipts and seals. It returns none
// without a signer.
func (au *Audit) PublicKeys() proof.JWKS {
	if au.signer == nil {
		return proof.JWKS{Keys: []proof.JWK{}}
	}
	return au.signer.PublicKeys()
}
