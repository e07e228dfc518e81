package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge/proof"

	"github.com/nodbridge/nod/bridge"
)

// provenStore is a store of which nothing is believed that a daemon did not
// prove. It proves what passes on its way in, and checks what comes out: a
// record that does not verify comes out as one that ended without a decision,
// so that no reader can take it for a yes.
type provenStore struct {
	bridge.Store
	p   *prover
	log *slog.Logger
}

// ProvenStore returns a store whose records, links, drafts, notes and audit
// entries are proven with a signer's keys. With keysInRedis, what has no proof
// is accepted, as such keys prove nothing to those who can read Redis.
func ProvenStore(s bridge.Store, signer *proof.Signer, keysInRedis bool, log *slog.Logger) bridge.Store {
	if signer == nil {
		return s
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return provenStore{s, newProver(signer, keysInRedis), log}
}

// checked checks what the store returned, and reports what was changed.
func (s provenStore) checked(r bridge.Record, err error) (bridge.Record, error) {
	if err != nil && r.Interaction.ID == "" {
		return r, err
	}
	if r = s.p.checked(r); r.Unverified != "" {
		s.log.Warn("record not verified", "id", r.Interaction.ID, "why", r.Unverified)
	}
	return r, err
}

// Load implements Records.
func (s provenStore) Load(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	return s.checked(s.Store.Load(ctx, id))
}

// Await implements Records.
func (s provenStore) Await(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	return s.checked(s.Store.Await(ctx, id))
}

// requestKey binds an interaction to the idempotency key that it was opened
// with.
func requestKey(agent, key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(agent + "\x00" + key))
	return hex.EncodeToString(sum[:16])
}

// Open implements Records.
func (s provenStore) Open(ctx context.Context, o bridge.Opening) (bridge.Record, bool, error) {
	o.Interaction.RequestKey = requestKey(o.Interaction.Agent, o.IdempotencyKey)
	s.p.proveInteraction(&o.Interaction)
	if o.Escalated != nil {
		next := *o.Escalated
		next.RequestKey = o.Interaction.RequestKey
		s.p.proveInteraction(&next)
		o.Escalated = &next
	}
	if o.Response != nil {
		resp := *o.Response
		if err := s.p.proveResponse(o.Interaction, &resp, nil); err != nil {
			return bridge.Record{}, false, err
		}
		o.Response = &resp
	}
	if err := s.p.proveResponse(o.Interaction, &o.Timeout, nil); err != nil {
		return bridge.Record{}, false, err
	}
	rec, created, err := s.Store.Open(ctx, o)
	if err == nil && !created {
		err = s.p.repeats(rec.Interaction, o.Interaction)
	}
	if err != nil {
		return bridge.Record{}, false, err
	}
	rec, err = s.checked(rec, nil)
	return rec, created, err
}

// repeats refuses an earlier interaction that is not the one that was asked
// for: a mapping in Redis says which it is, and anyone who can write there can
// change it.
func (p *prover) repeats(first, now bridge.Interaction) error {
	same := first.Agent == now.Agent && first.Session == now.Session && first.Digest == now.Digest
	joined := first.Join && now.Join
	if now.RequestKey == "" && first.ID != now.ID && !joined {
		same = false // without a key, nothing leads to an earlier one
	}
	if first.Proof != "" && first.RequestKey != now.RequestKey && !joined && first.ID != now.ID {
		same = false
	}
	if same {
		return nil
	}
	return bridge.Errorf(bridge.CodeForbidden, "Idempotency-Key: leads to interaction %s, which is another request", first.ID).
		WithHint("what Redis holds was changed outside nod; ask again with another key")
}

// Settle implements Records. It signs what decides, with the interaction as it
// was verified.
func (s provenStore) Settle(ctx context.Context, t bridge.Settlement) (bridge.Record, bool, error) {
	if t.Response.Decided() && t.Response.Proof == "" {
		i := t.Interaction
		if _, why := s.p.interactionProblem(i); i.ID != t.ID || why != "" {
			rec, err := s.Load(ctx, t.ID)
			if err != nil || rec.Unverified != "" {
				return rec, false, err
			}
			i = rec.Interaction
		}
		if err := s.p.proveResponse(i, &t.Response, nil); err != nil {
			return bridge.Record{}, false, err
		}
	}
	rec, won, err := s.Store.Settle(ctx, t)
	rec, err = s.checked(rec, err)
	return rec, won && rec.Unverified == "", err
}

// proveAmendment signs an interaction that was amended.
func (s provenStore) proveAmendment(a *bridge.Amendment) {
	i := a.Interaction
	if times := i.Stated; times != (bridge.Times{}) {
		i.Created, i.Deadline = times.Created, times.Deadline
	}
	s.p.proveInteraction(&i)
	if a.Escalated != nil {
		next := *a.Escalated
		next.Created, next.Deadline = i.Created, i.Deadline.Add(i.Deadline.Sub(i.Created))
		s.p.proveInteraction(&next)
		a.Escalated = &next
	}
	a.Interaction = i
}

// Messages implements Mailbox. An entry that leads to another session's record
// is skipped, and one that does not verify says so instead of its answer.
func (s provenStore) Messages(ctx context.Context, agent, session string, limit int) ([]bridge.Message, error) {
	all, err := s.Store.Messages(ctx, agent, session, limit)
	out := make([]bridge.Message, 0, len(all))
	for _, m := range all {
		if i := m.Record.Interaction; i.Agent != agent || i.Session != session || !m.Record.State.Final() {
			s.log.Error("a late answer leads to another session's record", "id", i.ID, "agent", agent)
			continue
		}
		if r := s.p.checked(m.Record); r.Unverified != "" {
			m = bridge.NewMessage(m.ID, r)
		} else {
			m.Record = r
		}
		out = append(out, m)
	}
	return out, err
}

// Draft implements Drafts. It ignores a draft that does not verify.
func (s provenStore) Draft(ctx context.Context, id bridge.ID, destination int, actor bridge.Actor) (mine, shown *bridge.Draft, err error) {
	mine, shown, err = s.Store.Draft(ctx, id, destination, actor)
	return s.p.draft(id, mine), s.p.draft(id, shown), err
}

func (p *prover) draft(id bridge.ID, d *bridge.Draft) *bridge.Draft {
	if d == nil || d.Proof == "" && !p.strict {
		return d
	}
	bare := *d
	bare.Proof = ""
	if !p.signer.MacIs(d.Proof, domainDraft, []byte(id), proof.Stable(bare)) {
		return nil
	}
	return d
}

// SaveDraft implements Drafts.
func (s provenStore) SaveDraft(ctx context.Context, id bridge.ID, destination int, d bridge.Draft) error {
	d.Proof = ""
	d.Proof = s.p.signer.Mac(domainDraft, []byte(id), proof.Stable(d))
	return s.Store.SaveDraft(ctx, id, destination, d)
}

// Remember implements Grants: what a tool remembers is proven too, as the tool
// acts on it.
func (s provenStore) Remember(ctx context.Context, agent, session, key string, sc bridge.Scope) error {
	kept := session
	if sc == bridge.ScopeAlways {
		kept = ""
	}
	ends := time.Now().Add(bridge.SessionGrantTTL)
	if sc == bridge.ScopeAlways {
		ends = time.Now().Add(bridge.AlwaysGrantTTL)
	}
	until := ends.UTC().Format(time.RFC3339)
	proof := s.p.signer.Mac(domainMemory, []byte(agent), []byte(kept), []byte(key), []byte(sc), []byte(until))
	return s.Store.Remember(ctx, agent, session, key, bridge.Scope(string(sc)+" "+until+" "+proof))
}

// Recall implements Grants.
func (s provenStore) Recall(ctx context.Context, agent, session, key string) (bridge.Scope, error) {
	got, err := s.Store.Recall(ctx, agent, session, key)
	if err != nil || got == "" {
		return "", err
	}
	f := strings.Split(string(got), " ")
	if len(f) == 1 && !s.p.strict {
		return got, nil // of an earlier version
	}
	if len(f) != 3 {
		return "", nil
	}
	kept := session
	if bridge.Scope(f[0]) == bridge.ScopeAlways {
		kept = ""
	}
	until, err := time.Parse(time.RFC3339, f[1])
	if err != nil || time.Now().After(until) || !s.p.signer.MacIs(f[2], domainMemory, []byte(agent), []byte(kept), []byte(key), []byte(f[0]), []byte(f[1])) {
		return "", nil
	}
	return bridge.Scope(f[0]), nil
}
