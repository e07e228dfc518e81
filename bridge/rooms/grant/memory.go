package grant

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

// memory keeps the scopes that tools remember.
type memory struct{ db documents.DB }

// remembered is a value that a tool remembers. Its end is in the document, because the time to
// live is not sealed.
type remembered struct {
	Scope bridge.Scope `json:"scope"`
	Until time.Time    `json:"until"`
}

var memoryDocs = broker.NewDocs[remembered]("memory", 1)

// memoryIndex is the index of remembered scopes, by the time when they expire.
const memoryIndex = "memory"

// tidied is the number of expired members that the end of a session removes from an index.
const tidied = 50

// memoryName hashes the key of a tool, because the key may contain a
// credential.
func memoryName(agent, session, key string) string {
	sum := sha256.Sum256([]byte(key))
	return life.Owner(agent, session) + "\x00" + hex.EncodeToString(sum[:])
}

// End deletes the grants of a session and the scopes that tools remember for
// it. The caller must cancel the interactions of the session.
func (gr *Room) End(ctx context.Context, agent, session string) error {
	if err := documents.RequireSession(session); err != nil {
		return err
	}
	db := gr.memory.db
	for index, key := range map[string]func(string) broker.Key{grantIndex: grantDocs.Key, memoryIndex: memoryDocs.Key} {
		all, err := db.Range(ctx, broker.Query{Index: index})
		if err != nil {
			return documents.Public(err)
		}
		expired, _ := slices.BinarySearchFunc(all, db.Now(), func(m broker.Member, now time.Time) int { return m.At.Compare(now) })
		names := documents.Names(all)
		gone := slices.Concat(documents.Owned(names, life.Owner(agent, session)), names[:min(expired, tidied)])
		for _, name := range gone {
			if _, err := db.Drop(ctx, key(name), index); err != nil {
				return err
			}
		}
	}
	return nil
}

// recall returns the scope that a tool remembers under its own key, or "" if it
// remembers none. It returns the scope "once" a single time.
func (mem memory) recall(ctx context.Context, agent, session, key string) (bridge.Scope, error) {
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
			return "", documents.Public(err)
		}
		if v.Scope == bridge.ScopeOnce {
			_, err := mem.db.Do(ctx, broker.Change{Drop: []broker.Version{d.At()}, Unset: []broker.Member{{Index: memoryIndex, Name: d.ID}}, Replicated: true, Urgent: true})
			var stale *broker.Stale
			if errors.As(err, &stale) {
				continue // another caller has used it
			}
			if err != nil {
				return "", documents.Public(err)
			}
		}
		return v.Scope, nil
	}
	return "", nil
}

// remember stores a scope for recall.
func (mem memory) remember(ctx context.Context, agent, session, key string, s bridge.Scope) error {
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
	return documents.Public(err)
}

// Recall is [bridge.ToolApprovals.Get] for an agent.
func (gr *Room) Recall(ctx context.Context, agent, key, session string) (bridge.Scope, error) {
	if err := checkRemembered(key, session); err != nil {
		return "", err
	}
	return gr.memory.recall(ctx, agent, session, key)
}

// Remember is [bridge.ToolApprovals.Set] for an agent.
func (gr *Room) Remember(ctx context.Context, agent, key string, s bridge.Scope, session string) error {
	if err := checkRemembered(key, session); err != nil {
		return err
	}
	switch {
	case bridge.ScopeOrder(s) < 0:
		return bridge.Errorf(bridge.CodeInvalid, "scope: unknown scope %q", s).WithHint("use once, session or always")
	case s != bridge.ScopeAlways && session == "":
		return bridge.Errorf(bridge.CodeInvalid, "session: required for the scope %s", s)
	}
	return gr.memory.remember(ctx, agent, session, key, s)
}

func checkRemembered(key, session string) error {
	if key == "" {
		return bridge.Errorf(bridge.CodeInvalid, "key: required")
	}
	return bridge.FirstOf(errors.Join(bridge.CheckText("key", key, 500), bridge.CheckText("session", session, 200)))
}
