package core

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

// grants implements bridge.Grants.
type grants struct{ *shared }

var (
	grantDocs = broker.NewDocs[bridge.Grant]("grant", 1)
	// givenDocs record that a request has given a grant, so that a repetition
	// does not restore a grant that was revoked in the meantime.
	givenDocs = broker.NewDocs[bool]("given", 1)
)

// grantIndex is the index of grants, by their end.
const grantIndex = "grants"

func grantName(agent, session, key string) string { return life.Owner(agent, session) + "\x00" + key }

// Covering implements bridge.Grants.
func (gs grants) Covering(ctx context.Context, agent, session string, keys []string) ([]bridge.Grant, error) {
	var ids []string
	for _, k := range keys {
		ids = append(ids, grantName(agent, "", k))
	}
	if session != "" {
		for _, k := range keys {
			ids = append(ids, grantName(agent, session, k))
		}
	}
	return gs.unexpired(ctx, ids)
}

// unexpired returns the grants that have not expired.
func (gs grants) unexpired(ctx context.Context, ids []string) ([]bridge.Grant, error) {
	all, err := grantDocs.List(ctx, gs.db, ids, gs.refused)
	if err != nil {
		return nil, public(err)
	}
	var out []bridge.Grant
	for _, g := range all {
		if gs.db.Now().Before(g.Expires) {
			out = append(out, g)
		}
	}
	return out, nil
}

// PutGrant implements bridge.Grants.
func (gs grants) PutGrant(ctx context.Context, g bridge.Grant) (bool, error) {
	if !gs.db.Now().Before(g.Expires) {
		return false, nil
	}
	name, stored := grantName(g.Agent, g.Session, g.Key), false
	_, err := grantDocs.Update(ctx, gs.db, name, func(old *bridge.Grant, d *broker.Doc) (broker.Change, error) {
		before, given, err := givenDocs.Get(ctx, gs.db, string(g.Origin)+"/"+g.ID())
		if stored = !before; err != nil || before {
			return broker.Change{}, errors.Join(err, unchanged(before))
		}
		given.Keep, d.Keep = bridge.AlwaysGrantTTL, max(g.Expires.Sub(gs.db.Now()), time.Millisecond)
		mark, err := givenDocs.Encode(given, new(true))
		*old = g
		return broker.Change{Put: []broker.Doc{mark}, Set: []broker.Member{{Index: grantIndex, Name: name, At: g.Expires}}, Replicated: true}, err
	})
	return stored && err == nil, public(err)
}

// unchanged returns ErrUnchanged if same is true.
func unchanged(is bool) error {
	if is {
		return broker.ErrUnchanged
	}
	return nil
}

// Grants implements bridge.Grants.
func (gs grants) Grants(ctx context.Context, agent string) ([]bridge.Grant, error) {
	all, err := gs.db.Range(ctx, broker.Query{Index: grantIndex, From: gs.db.Now()})
	if err != nil {
		return nil, public(err)
	}
	return gs.unexpired(ctx, owned(names(all), agent))
}

// DropGrant implements bridge.Grants.
func (gs grants) DropGrant(ctx context.Context, g bridge.Grant) (bool, error) {
	return drop(ctx, gs.db, grantDocs.Key(grantName(g.Agent, g.Session, g.Key)), grantIndex)
}

// memory implements bridge.Memory.
type memory struct{ *shared }

// remembered is a value that a tool remembers. Its expiry is in the document,
// because the time to live is not sealed.
type remembered struct {
	Scope bridge.Scope `json:"scope"`
	Until time.Time    `json:"until"`
}

var memoryDocs = broker.NewDocs[remembered]("memory", 1)

// memoryIndex is the index of the values that tools remember, by expiry.
const memoryIndex = "memory"

// memoryName hides the key of a tool, because the key may contain a credential.
func memoryName(agent, session, key string) string {
	sum := sha256.Sum256([]byte(key))
	return life.Owner(agent, session) + "\x00" + hex.EncodeToString(sum[:])
}

// ClearSession implements bridge.Memory.
func (mem memory) ClearSession(ctx context.Context, agent, session string) error {
	if err := requireSession(session); err != nil {
		return err
	}
	for index, key := range map[string]func(string) broker.Key{grantIndex: grantDocs.Key, memoryIndex: memoryDocs.Key} {
		all, err := mem.db.Range(ctx, broker.Query{Index: index})
		if err != nil {
			return public(err)
		}
		for _, name := range owned(names(all), life.Owner(agent, session)) {
			if _, err := drop(ctx, mem.db, key(name), index); err != nil {
				return err
			}
		}
	}
	return nil
}

// Recall implements bridge.Memory.
func (mem memory) Recall(ctx context.Context, agent, session, key string) (bridge.Scope, error) {
	scopes := []string{""}
	if session != "" {
		scopes = []string{session, ""}
	}
	for _, s := range scopes {
		v, d, err := memoryDocs.Get(ctx, mem.db, memoryName(agent, s, key))
		var forged *broker.ForgedError
		if errors.As(err, &forged) || err == nil && !mem.db.Now().Before(v.Until) {
			continue
		}
		if err != nil {
			return "", public(err)
		}
		if v.Scope == bridge.ScopeOnce {
			_, err := mem.db.Do(ctx, broker.Change{Drop: []broker.Version{d.At()}, Unset: []broker.Member{{Index: memoryIndex, Name: d.ID}}, Replicated: true, Urgent: true})
			var stale *broker.Stale
			if errors.As(err, &stale) {
				continue // another caller has used it
			}
			if err != nil {
				return "", public(err)
			}
		}
		return v.Scope, nil
	}
	return "", nil
}

// Remember implements bridge.Memory.
func (mem memory) Remember(ctx context.Context, agent, session, key string, s bridge.Scope) error {
	ttl := bridge.SessionGrantTTL
	if s == bridge.ScopeAlways {
		session, ttl = "", bridge.AlwaysGrantTTL
	}
	name := memoryName(agent, session, key)
	_, err := memoryDocs.Update(ctx, mem.db, name, func(v *remembered, d *broker.Doc) (broker.Change, error) {
		until := mem.db.Now().Add(ttl)
		*v, d.Keep = remembered{s, until}, ttl
		return broker.Change{Set: []broker.Member{{Index: memoryIndex, Name: name, At: until}}}, nil
	})
	return public(err)
}
