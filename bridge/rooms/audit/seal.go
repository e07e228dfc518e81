package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

const (
	sealEvery = time.Second
	sealLease = 5 * time.Second
	sealBatch = 500 // entries per read
	// sealKeep is the minimum time between the seals that are kept. The newest
	// seal covers all earlier entries, so seals in between can be dropped.
	sealKeep = time.Minute
)

const sealLeaseName = "seal"

// sealer remembers the last seal. It is zero before the first one.
type sealer struct {
	last proof.Seal
	kept time.Time // time of the last seal that is kept
}

// Run signs the new entries of the audit log until ctx ends. Only one daemon
// at a time does this.
func (au *Log) Run(ctx context.Context) {
	if au.signer == nil {
		return
	}
	known, held := &sealer{}, false
	for bridge.Pause(ctx, sealEvery) {
		var err error
		if held, err = au.leases.Hold(ctx, sealLeaseName, au.node, sealLease); err == nil && held {
			err = au.sealNew(ctx, known)
		}
		if err != nil && ctx.Err() == nil {
			au.log.Warn("audit log not sealed", "error", err)
		}
	}
	if !held {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := au.leases.Release(ctx, sealLeaseName, au.node); err != nil {
		au.log.Warn("lease not released; it will expire", "lease", sealLeaseName, "error", err)
	}
}

// sealNew seals the entries that are new.
func (au *Log) sealNew(ctx context.Context, known *sealer) error {
	l, err := au.store.Sealed(ctx)
	if err != nil {
		return err
	}
	last, ok := au.lastSeal(l)
	if !ok {
		au.refuseToSeal("the last seal is not by a key of this daemon (was the key replaced without keeping the old one?)")
		return nil
	}
	l.Through = last.Entry // signed data
	was := known.last
	if last.N < was.N || last.N == was.N && last.Hash != was.Hash || bridge.CompareEntries(l.Last, l.Through) < 0 {
		au.refuseToSeal("the log was cut or rewritten after entry " + cmp.Or(was.Entry, last.Entry, "0-0"))
		return nil
	}
	known.last = last
	if bridge.CompareEntries(l.Last, l.Through) == 0 {
		return nil // nothing new
	}
	err = au.sealAfter(ctx, last, l, known)
	au.sealing.tried(err)
	return err
}

// lastSeal returns the last seal, which is zero before the first one. It
// returns false if a key other than the signer's made the seal.
func (au *Log) lastSeal(l SealedAudit) (proof.Seal, bool) {
	if l.Sealed == "" {
		return proof.Seal{}, true
	}
	last, err := au.PublicKeys().VerifySeal(l.Sealed)
	return last, err == nil && last.Entry != ""
}

// sealAfter seals the entries after the last seal. If another daemon has sealed
// in the meantime, because the lease of this daemon ended, it leaves the
// entries to that daemon.
func (au *Log) sealAfter(ctx context.Context, last proof.Seal, l SealedAudit, known *sealer) error {
	after := l.Sealed
	for {
		instead := last.Entry
		if last.At.Sub(known.kept) >= sealKeep {
			instead, known.kept = "", last.At
		}
		entries, err := au.store.AuditEntries(ctx, cmp.Or(last.Entry, "0-0"), sealBatch)
		if err != nil {
			return err
		}
		complete := len(entries) < sealBatch
		if why := deleted(l, last, entries, complete); why != "" {
			au.refuseToSeal(why)
			return nil
		}
		good := 0
		for _, a := range entries {
			if why := au.unsealable(a); why != "" {
				au.refuseToSeal("entry " + a.Entry + " " + why)
				break
			}
			good++
			extend(&last, a)
		}
		if good == 0 {
			return nil
		}
		if complete && good == len(entries) && last.Added == 0 && l.Added > 0 {
			last.Added = l.Added + int64(len(entries)-through(entries, l.Last))
		}
		last.At = time.Now().UTC().Truncate(time.Millisecond)
		signed, err := au.signer.Seal(last)
		if err == nil {
			err = au.store.PutSeal(ctx, NewSeal{After: after, Token: signed, Entry: last.Entry, Instead: instead})
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

// extend adds an entry or an event to a seal. An event does not change the count
// of entries or the hash.
func extend(s *proof.Seal, a bridge.AuditEntry) {
	if s.Entry = a.Entry; a.Type != bridge.AuditEvent {
		s.N, s.Hash = s.N+1, proof.HashAfter(a, s.Hash)
	}
	if s.Added > 0 {
		s.Added++
	}
}

// through returns the number of entries up to and including the given one.
func through(entries []bridge.AuditEntry, id string) int {
	n := slices.IndexFunc(entries, func(a bridge.AuditEntry) bool { return bridge.CompareEntries(a.Entry, id) > 0 })
	if n < 0 {
		return len(entries)
	}
	return n
}

// deleted returns the reason why entries of the journal are missing after its
// last seal, according to the counts of Redis. It returns "" if none are
// missing, or if Redis does not count.
func deleted(l SealedAudit, last proof.Seal, entries []bridge.AuditEntry, complete bool) string {
	if l.Added == 0 {
		return ""
	}
	if bridge.CompareEntries(l.Deleted, l.Through) > 0 && bridge.CompareEntries(l.Deleted, last.Entry) > 0 {
		return "entry " + l.Deleted + ", or an earlier one, was deleted before it was sealed"
	}
	if last.Added > 0 && complete && l.Added-last.Added > int64(len(entries)) {
		return "entries after " + last.Entry + " were deleted before they were sealed"
	}
	return ""
}

// unsealable returns the reason that an entry must not be sealed, or "".
func (au *Log) unsealable(a bridge.AuditEntry) string {
	if a.Type == bridge.AuditEvent {
		return ""
	}
	if len(a.Data) > 0 && !json.Valid(a.Data) {
		return "has data that is not JSON"
	}
	_, why := au.signer.EntryProblem(a)
	return why
}

// Trim removes entries from the audit log that are older than the retention, and
// events that no reader needs anymore. It removes nothing that is not sealed,
// and signs the new start of the log, so that no one else can move it.
func (au *Log) Trim(ctx context.Context) error {
	now := time.Now()
	if au.retention > 0 && au.signer != nil {
		if err := au.TrimBefore(ctx, now.Add(-au.retention)); err != nil {
			return err
		}
	}
	return au.Archive(ctx, now.Add(-au.store.EventsKept()))
}

// Archive removes events before a time, and keeps entries of the audit log. If
// it finds a problem with the seals, it does not change the log after its last
// seal. It never removes an entry that it cannot keep in the archive.
func (au *Log) Archive(ctx context.Context, oldest time.Time) error {
	through := ""
	if au.signer != nil {
		l, err := au.store.Sealed(ctx)
		if err != nil {
			return err
		}
		through = cmp.Or(l.Through, "0-0")
	}
	err := au.store.Archive(ctx, oldest, through)
	au.sealing.archived(err)
	return err
}

// TrimBefore removes entries of the audit log that were sealed before a time.
func (au *Log) TrimBefore(ctx context.Context, oldest time.Time) error {
	l, err := au.store.Sealed(ctx)
	if err != nil {
		return err
	}
	seals, err := au.store.Seals(ctx)
	if err != nil {
		return err
	}
	var last proof.Seal
	for _, token := range seals {
		s, err := au.PublicKeys().VerifySeal(token)
		if err != nil {
			continue // signed by a key that no longer exists
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
		err = au.store.TrimAudit(ctx, AuditTrim{After: l.Trimmed, Token: signed, Entry: last.Entry})
	}
	if err == nil {
		au.log.Info("audit log trimmed", "through", last.Entry)
	}
	return err
}

// PublicKeys returns the keys that verify receipts and seals. It returns none
// without a signer.
func (au *Log) PublicKeys() proof.JWKS {
	if au.signer == nil {
		return proof.JWKS{Keys: []proof.JWK{}}
	}
	return au.signer.PublicKeys()
}
