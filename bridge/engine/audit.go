package engine

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/nodbridge/nod/bridge/proof"

	"github.com/nodbridge/nod/bridge"
)

// refusalEvery bounds how often the same refusal is noted again.
const refusalEvery = time.Minute

// refuse notes in the audit log that somebody was refused. A log that cannot
// be written does not let anybody in: what failed is logged.
func (e *Engine) refuse(ctx context.Context, i bridge.Interaction, actor bridge.Actor, why string) {
	mark := e.node + " " + strconv.FormatInt(time.Now().UnixNano(), 36)
	got, err := e.store.PutNote(ctx, "refused:"+string(i.ID)+"/"+actor.Platform+"/"+actor.User+"/"+why, mark, refusalEvery)
	if err == nil && got == mark {
		err = e.audit(ctx, bridge.AuditRefusal, i, bridge.Refusal{Actor: actor, Why: why})
	}
	if err != nil {
		e.log.Error("refusal not in the audit log", "id", i.ID, "platform", actor.Platform, "user", actor.User, "why", why, "error", err)
	}
}

func (e *Engine) audit(ctx context.Context, t bridge.AuditType, i bridge.Interaction, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return bridge.Wrap(bridge.CodeInternal, err, "audit")
	}
	return e.store.Audit(ctx, bridge.AuditEntry{Type: t, ID: i.ID, Agent: i.Agent, Session: i.Session, Data: data})
}

const (
	sealEvery = time.Second
	sealLease = 5 * time.Second
	sealBatch = 500 // entries read at once
	// sealKeep is how far apart the seals are that are kept: the newest vouches
	// for all before it, so those in between may go.
	sealKeep = time.Minute
)

// sealer remembers what was sealed last, by partition.
type sealer struct {
	last map[int]proof.Seal
	kept map[int]time.Time // when the last seal was made that stays
	// base is how many entries a log had that an earlier version wrote, when it
	// was first seen: those have no proofs, and no others may.
	base map[int]int64
}

// seal signs what is new in the audit log until ctx ends; one daemon does.
func (e *Engine) seal(ctx context.Context) {
	if e.signer == nil {
		return
	}
	known := sealer{map[int]proof.Seal{}, map[int]time.Time{}, map[int]int64{}}
	for bridge.Pause(ctx, sealEvery) {
		held, err := e.store.Hold(ctx, "seal", e.node, sealLease)
		if err == nil && held {
			err = e.sealAll(ctx, known)
		}
		if err != nil && ctx.Err() == nil {
			e.log.Warn("audit log not sealed", "error", err)
		}
	}
}

func (e *Engine) sealAll(ctx context.Context, known sealer) error {
	logs, err := e.store.Audits(ctx)
	if err != nil {
		return err
	}
	for p, l := range logs {
		var last proof.Seal
		if l.Sealed != "" {
			if last, err = e.PublicKeys().VerifySeal(l.Sealed); err != nil {
				e.refuseToSeal(p, "the last seal is not by a key of this daemon; was the key replaced without keeping the old one?")
				continue
			}
		} else {
			last.Proven = e.prover.Strict() // nothing is there that was written before
		}
		if was, ok := known.last[p]; ok && (last.N < was.N || last.N == was.N && last.Hash != was.Hash || l.N < last.N) {
			e.refuseToSeal(p, "the log was cut or rewritten after entry "+strconv.FormatInt(was.N, 10))
			continue
		}
		if _, seen := known.base[p]; !seen {
			known.base[p] = l.N
		}
		if known.last[p] = last; l.N == last.N {
			continue
		}
		if err := e.sealOne(ctx, p, last, l.Cursor, known); err != nil {
			return err
		}
	}
	return nil
}

// sealOne seals what follows the last seal of a partition.
func (e *Engine) sealOne(ctx context.Context, partition int, last proof.Seal, cursor string, known sealer) error {
	for {
		instead := last.N
		if last.At.Sub(known.kept[partition]) >= sealKeep {
			instead, known.kept[partition] = 0, last.At
		}
		entries, err := e.store.AuditEntries(ctx, partition, cursor, sealBatch)
		if err != nil || len(entries) == 0 {
			return err
		}
		good := 0
		for _, a := range entries {
			if why := e.unsealable(a, &last, known.base[partition]); why != "" {
				e.refuseToSeal(partition, "entry "+strconv.FormatInt(a.N, 10)+" "+why)
				break
			}
			good++
			last.N, last.Link, last.Hash, cursor = a.N, a.Link, proof.HashAfter(a, last.Hash), a.Cursor
		}
		if good == 0 {
			return nil
		}
		last.Partition, last.At = partition, time.Now().UTC().Truncate(time.Millisecond)
		signed, err := e.signer.Seal(last)
		if err == nil {
			err = e.store.PutSeal(ctx, partition, last.N, cursor, signed, instead)
		}
		if err != nil || good < sealBatch {
			return err
		}
	}
}

// TrimAudit removes what has outlived the retention from the audit log, up to
// an entry that is sealed. That it did is signed: nobody else can begin the log
// later.
func (e *Engine) TrimAudit(ctx context.Context) error {
	if e.signer == nil || e.auditFor == 0 {
		return nil
	}
	logs, err := e.store.Audits(ctx)
	if err != nil {
		return err
	}
	oldest := time.Now().Add(-e.auditFor)
	for p := range logs {
		seals, err := e.store.Seals(ctx, p)
		if err != nil {
			return err
		}
		var last proof.Seal
		for _, token := range seals {
			s, err := e.PublicKeys().VerifySeal(token)
			if err != nil {
				continue // by a key that is gone
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
		signed, err := e.signer.Seal(last)
		if err == nil {
			err = e.store.TrimAudit(ctx, p, last.N, signed)
		}
		if err != nil {
			return err
		}
		e.log.Info("audit log trimmed", "partition", p, "through", last.N)
	}
	return nil
}
