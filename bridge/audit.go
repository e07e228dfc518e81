package bridge

import (
	"context"
	"crypto/sha1" //nolint:gosec // the links are made where nothing better is to be had; the seals use SHA-256
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// AuditType names what an entry of the audit log reports.
type AuditType string

// The entries.
const (
	AuditDecision AuditType = "decision" // an interaction ended; Data is the Response
	AuditVote     AuditType = "vote"     // one of several that are needed; Data is the Vote
	AuditRefusal  AuditType = "refusal"  // somebody who may not answer tried to; Data is a Refusal
	AuditGrant    AuditType = "grant"    // a grant was given; Data is the Grant
	AuditRevoke   AuditType = "revoke"   // a grant was revoked; Data is a Revocation
	AuditLink     AuditType = "link"     // an account was linked to a person; Data is a Link
	AuditHandOver AuditType = "handover" // another person was asked by one who was; Data is a HandOver
	AuditMode     AuditType = "mode"     // a channel was made read-only or let answer; Data is a ChannelMode
)

// AuditEntry is one entry of the audit log. The entries of a partition are
// numbered from 1 without gaps, and each is linked to the one before it.
type AuditEntry struct {
	Partition int             `json:"partition"`
	N         int64           `json:"n"`
	Timestamp int64           `json:"ts"` // ms since 1970, by the store's clock
	Type      AuditType       `json:"type"`
	ID        ID              `json:"id,omitempty"`
	Agent     string          `json:"agent,omitempty"`
	Session   string          `json:"session,omitempty"`
	State     State           `json:"state,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
	Link      string          `json:"link"` // hex SHA-1 over the link before and this entry

	// Cursor resumes after this entry; opaque, and no part of it.
	Cursor string `json:"-"`
}

// linked is what is hashed of an entry, after the hash before it.
func (e AuditEntry) linked(before string) string {
	var b strings.Builder
	b.WriteString(before)
	for _, f := range []string{
		strconv.FormatInt(e.N, 10), strconv.FormatInt(e.Timestamp, 10), string(e.Type), string(e.ID), e.Agent, e.Session, string(e.State), string(e.Data),
	} {
		b.WriteString("\n" + strconv.Itoa(len(f)) + ":" + f)
	}
	return b.String()
}

// link is the link that the entry has to have after another's.
func (e AuditEntry) link(before string) string {
	sum := sha1.Sum([]byte(e.linked(before))) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:])
}

// hash is the hash of the log up to this entry, given that up to the one
// before.
func (e AuditEntry) hash(before string) string {
	sum := sha256.Sum256([]byte(e.linked(before)))
	return hex.EncodeToString(sum[:])
}

// Seal vouches for a partition's log up to an entry.
type Seal struct {
	Partition int       `json:"partition"`
	N         int64     `json:"n"`
	Link      string    `json:"link"` // of entry N
	Hash      string    `json:"hash"` // hex SHA-256 over all entries up to N
	At        time.Time `json:"at"`
	// Trimmed tells that what the seal vouches for was removed, as it had
	// outlived its retention: the log begins after it.
	Trimmed bool `json:"trimmed,omitempty"`
	// Proven tells that the log has entries with proofs: none without one may
	// follow.
	Proven bool `json:"proven,omitempty"`
}

// SealedAudit is how far a partition's log is, and is sealed.
type SealedAudit struct {
	N      int64  // entries
	Sealed string // the last seal; empty: none
	Cursor string // of the last sealed entry
}

// Auditor keeps the audit log. Entries are never changed.
type Auditor interface {
	// Audit appends an entry of which Type, ID, Agent, Session, State and Data
	// are set. An entry without an ID or a Session is in partition 0.
	Audit(context.Context, AuditEntry) error
	// Audits returns how far each partition's log is.
	Audits(context.Context) ([]SealedAudit, error)
	// AuditEntries returns up to limit entries after a cursor; an empty one
	// begins at the first that is kept.
	AuditEntries(ctx context.Context, partition int, after string, limit int) ([]AuditEntry, error)
	// Seals returns the seals of a partition, oldest first; the first may be
	// the one that was trimmed to.
	Seals(ctx context.Context, partition int) ([]string, error)
	// PutSeal appends a seal of entry n, unless there is one. It takes the place
	// of that of entry instead, unless that is 0.
	PutSeal(ctx context.Context, partition int, n int64, cursor, seal string, instead int64) error
	// TrimAudit removes the entries and seals up to entry n, which a seal
	// vouches for, and keeps one that says so.
	TrimAudit(ctx context.Context, partition int, n int64, seal string) error
}

// Refusal is the Data of AuditRefusal.
type Refusal struct {
	Actor Actor  `json:"actor"`
	Why   string `json:"why"`
}

// Revocation is the Data of AuditRevoke.
type Revocation struct {
	Grant Grant  `json:"grant"`
	By    string `json:"by"`
}

// ChannelMode is the Data of AuditMode.
type ChannelMode struct {
	Platform string `json:"platform"`
	Channel  string `json:"channel"`
	ReadOnly bool   `json:"read_only"`
	By       Actor  `json:"by"`
}

// refusalEvery bounds how often the same refusal is noted again.
const refusalEvery = time.Minute

// refuse notes in the audit log that somebody was refused. A log that can not
// be written does not let anybody in: what failed is logged.
func (e *Engine) refuse(ctx context.Context, i Interaction, actor Actor, why string) {
	mark := e.node + " " + strconv.FormatInt(time.Now().UnixNano(), 36)
	got, err := e.store.PutNote(ctx, "refused:"+string(i.ID)+"/"+actor.Platform+"/"+actor.User+"/"+why, mark, refusalEvery)
	if err == nil && got == mark {
		err = e.audit(ctx, AuditRefusal, i, Refusal{Actor: actor, Why: why})
	}
	if err != nil {
		e.log.Error("refusal not in the audit log", "id", i.ID, "platform", actor.Platform, "user", actor.User, "why", why, "error", err)
	}
}

func (e *Engine) audit(ctx context.Context, t AuditType, i Interaction, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return Wrap(CodeInternal, err, "audit")
	}
	return e.store.Audit(ctx, AuditEntry{Type: t, ID: i.ID, Agent: i.Agent, Session: i.Session, Data: data})
}

// How the audit log is sealed.
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
	last map[int]Seal
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
	known := sealer{map[int]Seal{}, map[int]time.Time{}, map[int]int64{}}
	for Pause(ctx, sealEvery) {
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
		var last Seal
		if l.Sealed != "" {
			if last, err = e.PublicKeys().verifySeal(l.Sealed); err != nil {
				e.refuseToSeal(p, "the last seal is not by a key of this daemon; was the key replaced without keeping the old one?")
				continue
			}
		} else {
			last.Proven = e.prover.strict // nothing is there that was written before
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
func (e *Engine) sealOne(ctx context.Context, partition int, last Seal, cursor string, known sealer) error {
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
			last.N, last.Link, last.Hash, cursor = a.N, a.Link, a.hash(last.Hash), a.Cursor
		}
		if good == 0 {
			return nil
		}
		last.Partition, last.At = partition, time.Now().UTC().Truncate(time.Millisecond)
		signed, err := e.signer.sign(typeSeal, last)
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
		var last Seal
		for _, token := range seals {
			s, err := e.PublicKeys().verifySeal(token)
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
		signed, err := e.signer.sign(typeSeal, last)
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

func (set JWKS) verifySeal(token string) (Seal, error) {
	var s Seal
	set.Keys = append(slices.Clone(set.Keys), set.Former...)
	payload, err := set.verify(typeSeal, token)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(payload, &s); err != nil {
		return s, Wrap(CodeInvalid, err, "seal")
	}
	return s, nil
}
