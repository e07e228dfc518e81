package engine

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"
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

// sealer remembers the last seal of each partition.
type sealer struct {
	last map[int]proof.Seal
	kept map[int]time.Time // time of the last seal that is kept
	// base is the length of a log when it was first seen. Only entries up
	// to there may lack proofs, because an earlier version may have written
	// them.
	base map[int]int64
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
// at a time does this.
func (au *Audit) seal(ctx context.Context) {
	if au.signer == nil {
		return
	}
	known := sealer{map[int]proof.Seal{}, map[int]time.Time{}, map[int]int64{}}
	for bridge.Pause(ctx, sealEvery) {
		held, err := au.leases.Hold(ctx, "seal", au.node, sealLease)
		if err == nil && held {
			err = au.sealAll(ctx, known)
		}
		if err != nil && ctx.Err() == nil {
			au.log.Warn("audit log not sealed", "error", err)
		}
	}
}

func (au *Audit) sealAll(ctx context.Context, known sealer) error {
	logs, err := au.store.Audits(ctx)
	if err != nil {
		return err
	}
	for p, l := range logs {
		var last proof.Seal
		if l.Sealed != "" {
			if last, err = au.PublicKeys().VerifySeal(l.Sealed); err != nil {
				au.refuseToSeal(p, "the last seal is not by a key of this daemon (was the key replaced without keeping the old one?)")
				continue
			}
		} else {
			last.Proven = au.prover.Strict() // the log has no entries of an earlier version
		}
		if was, ok := known.last[p]; ok && (last.N < was.N || last.N == was.N && last.Hash != was.Hash || l.N < last.N) {
			au.refuseToSeal(p, "the log was cut or rewritten after entry "+strconv.FormatInt(was.N, 10))
			continue
		}
		if _, seen := known.base[p]; !seen {
			known.base[p] = l.N
		}
		if known.last[p] = last; l.N == last.N {
			continue
		}
		if err := au.sealOne(ctx, p, last, l, known); err != nil {
			return err
		}
	}
	return nil
}

// sealOne seals the entries after the last seal of a partition. It leaves them
// to another daemon that has sealed in the meantime, which happens if the lease
// of this one ended.
func (au *Audit) sealOne(ctx context.Context, partition int, last proof.Seal, l bridge.SealedAudit, known sealer) error {
	cursor, after := l.Cursor, l.Sealed
	for {
		instead := last.N
		if last.At.Sub(known.kept[partition]) >= sealKeep {
			instead, known.kept[partition] = 0, last.At
		}
		entries, err := au.store.AuditEntries(ctx, partition, cursor, sealBatch)
		if err != nil || len(entries) == 0 {
			return err
		}
		good := 0
		for _, a := range entries {
			if why := au.unsealable(a, &last, known.base[partition]); why != "" {
				au.refuseToSeal(partition, "entry "+strconv.FormatInt(a.N, 10)+" "+why)
				break
			}
			good++
			last.N, last.Link, last.Hash, cursor = a.N, a.Link, proof.HashAfter(a, last.Hash), a.Cursor
		}
		if good == 0 {
			return nil
		}
		last.Partition, last.At = partition, time.Now().UTC().Truncate(time.Millisecond)
		signed, err := au.signer.Seal(last)
		if err == nil {
			err = au.store.PutSeal(ctx, partition, bridge.NewSeal{After: after, Token: signed, N: last.N, Cursor: cursor, Instead: instead})
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

// unsealable returns the reason why an entry cannot follow the last seal. It
// returns "" if the entry can. Entries up to base may be of an earlier version.
func (au *Audit) unsealable(a bridge.AuditEntry, last *proof.Seal, base int64) string {
	if a.N != last.N+1 || a.Link != proof.LinkAfter(a, last.Link) {
		return "was changed, removed or reordered before it was sealed"
	}
	proven := last.Proven || au.prover.Strict() && a.N > base
	ev, why := au.prover.EntryProblem(a, proven)
	if why != "" && au.prover.Strict() {
		return why
	}
	last.Proven = proven || ev.Good
	return ""
}

// refuseToSeal records, and logs once, why a partition is no longer sealed.
func (au *Audit) refuseToSeal(partition int, why string) {
	h := &au.sealing
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refused == nil {
		h.refused = map[int]string{}
	}
	if h.refused[partition] != why {
		h.refused[partition] = why
		au.log.Error("audit log no longer sealed", "partition", partition, "why", why)
	}
}

// Health returns whether the audit log can be sealed, and the reason if it
// cannot.
func (au *Audit) Health() bridge.Health {
	au.sealing.mu.Lock()
	defer au.sealing.mu.Unlock()
	for _, p := range slices.Sorted(maps.Keys(au.sealing.refused)) {
		return bridge.Health{State: bridge.HealthDown, Reason: "the audit log is no longer sealed: partition " + strconv.Itoa(p) + ", " + au.sealing.refused[p]}
	}
	return bridge.Health{State: bridge.HealthUp}
}

// Refusals returns the number of partitions of the audit log that are no longer
// sealed because of a problem.
func (au *Audit) Refusals() int64 {
	au.sealing.mu.Lock()
	defer au.sealing.mu.Unlock()
	return int64(len(au.sealing.refused))
}

// sealHealth holds the reasons why the audit log cannot be sealed, by partition.
type sealHealth struct {
	mu      sync.Mutex
	refused map[int]string
}

// Trim removes entries older than the retention from the audit log, up to a
// sealed entry. It signs the new start of the log, so that no one else can move
// it.
func (au *Audit) Trim(ctx context.Context) error {
	if au.signer == nil || au.retention == 0 {
		return nil
	}
	logs, err := au.store.Audits(ctx)
	if err != nil {
		return err
	}
	oldest := time.Now().Add(-au.retention)
	for p := range logs {
		seals, err := au.store.Seals(ctx, p)
		if err != nil {
			return err
		}
		var last proof.Seal
		for _, token := range seals {
			s, err := au.PublicKeys().VerifySeal(token)
			if err != nil {
				continue // by a key that no longer exists
			}
			if s.At.After(oldest) {
				break
			}
			last = s
		}
		if last.N == 0 || last.Trimmed {
			continue
		}
		last.Trimmed = true
		signed, err := au.signer.Seal(last)
		if err == nil {
			err = au.store.TrimAudit(ctx, p, last.N, signed)
		}
		if err != nil {
			return err
		}
		au.log.Info("audit log trimmed", "partition", p, "through", last.N)
	}
	return nil
}

// PublicKeys returns the keys that verify receipts and seals. It returns none
// without a signer.
func (au *Audit) PublicKeys() proof.JWKS {
	if au.signer == nil {
		return proof.JWKS{Keys: []proof.JWK{}}
	}
	return au.signer.PublicKeys()
}
