package grant

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

// Grants stores grants until they expire. It is safe for concurrent use.
type Grants struct{ db documents.DB }

// NewGrants returns the grants in a database.
func NewGrants(db documents.DB) *Grants { return &Grants{db} }

var (
	grantDocs = broker.NewDocs[bridge.Grant]("grant", 1)
	// givenDocs record that a request has created a grant, so that a repeat
	// does not restore a grant that was revoked in the meantime.
	givenDocs = broker.NewDocs[bool]("given", 1)
)

// grantIndex is the index of grants, by their end.
const grantIndex = "grants"

func grantName(agent, session, key string) string { return life.Owner(agent, session) + "\x00" + key }

// Held is a grant that has not expired, and the version of its document.
type Held struct {
	bridge.Grant
	At broker.Version
}

// Covering returns the unexpired grants under any of the keys: those for the
// session, and those for every session.
func (gs *Grants) Covering(ctx context.Context, agent, session string, keys []string) ([]Held, error) {
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
func (gs *Grants) unexpired(ctx context.Context, ids []string) ([]Held, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	keys := make([]broker.Key, len(ids))
	for n, id := range ids {
		keys[n] = grantDocs.Key(id)
	}
	docs, err := gs.db.Get(ctx, keys...)
	if err != nil {
		return nil, documents.Public(err)
	}
	var out []Held
	for _, d := range docs {
		g, err := grantDocs.Decode(d)
		switch {
		case errors.As(err, new(*broker.ForgedError)), errors.As(err, new(*broker.NewerError)):
			gs.db.Refused(err)
		case err != nil:
			return nil, documents.Public(err)
		case d.Exists() && gs.db.Now().Before(g.Expires):
			out = append(out, Held{g, d.At()})
		}
	}
	return out, nil
}

// Give returns the change that stores a grant. It is empty if the grant has
// expired, or if its Origin has already created the grant.
func (gs *Grants) Give(ctx context.Context, g bridge.Grant) (broker.Change, error) {
	now, name := gs.db.Now(), grantName(g.Agent, g.Session, g.Key)
	if !now.Before(g.Expires) {
		return broker.Change{}, nil
	}
	docs, err := gs.db.Get(ctx, givenDocs.Key(string(g.Origin)+"/"+g.ID()), grantDocs.Key(name))
	if err != nil {
		return broker.Change{}, documents.Public(err)
	}
	if before, err := givenDocs.Decode(docs[0]); err != nil || before {
		return broker.Change{}, documents.Public(err)
	}
	// the stored grant, which is replaced
	if _, err := grantDocs.Decode(docs[1]); err != nil && !errors.As(err, new(*broker.ForgedError)) {
		return broker.Change{}, documents.Public(err)
	}
	given := broker.Doc{Key: docs[0].Key, Version: docs[0].Version, Keep: bridge.AlwaysGrantTTL}
	stored := broker.Doc{Key: docs[1].Key, Version: docs[1].Version, Keep: max(g.Expires.Sub(now), time.Millisecond)}
	mark, err := givenDocs.Encode(given, new(true))
	if err != nil {
		return broker.Change{}, bridge.Wrap(bridge.CodeInternal, err, "grant")
	}
	next, err := grantDocs.Encode(stored, &g)
	if err != nil {
		return broker.Change{}, bridge.Wrap(bridge.CodeInternal, err, "grant")
	}
	return broker.Change{
		Put: []broker.Doc{next, mark}, Set: []broker.Member{{Index: grantIndex, Name: name, At: g.Expires}}, Replicated: true,
	}, nil
}

// All returns the unexpired grants of an agent, or of all agents if agent is empty.
func (gs *Grants) All(ctx context.Context, agent string) (bridge.Page[bridge.Grant], error) {
	all, err := gs.db.Range(ctx, broker.Query{Index: grantIndex, From: gs.db.Now()})
	if err != nil {
		return bridge.Page[bridge.Grant]{}, documents.Public(err)
	}
	out, err := documents.List(ctx, gs.db, grantDocs, documents.Owned(documents.Names(all), agent))
	out.Items = slices.DeleteFunc(out.Items, func(g bridge.Grant) bool { return !gs.db.Now().Before(g.Expires) })
	return out, err
}

// Revoke removes a grant, together with entries of the audit log, and reports whether it
// existed.
func (gs *Grants) Revoke(ctx context.Context, g bridge.Grant, entries ...broker.Entry) (bool, error) {
	key := grantDocs.Key(grantName(g.Agent, g.Session, g.Key))
	return gs.db.Drop(ctx, key, grantIndex, broker.Change{Journal: entries})
}
