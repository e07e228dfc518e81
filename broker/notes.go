package broker

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// PutNote implements bridge.Notes.
func (b *Broker) PutNote(ctx context.Context, key, value string, ttl time.Duration) (string, error) {
	set, err := b.client.SetNX(ctx, b.keys.note(key), value, ttl).Result()
	if err != nil {
		return "", unavailable(err)
	}
	if set {
		return value, nil
	}
	return b.Note(ctx, key)
}

// Note implements bridge.Notes.
func (b *Broker) Note(ctx context.Context, key string) (string, error) {
	v, err := b.client.Get(ctx, b.keys.note(key)).Result()
	if errors.Is(err, redis.Nil) {
		return "", nil
	}
	return v, unavailable(err)
}

// DropNote implements bridge.Notes.
func (b *Broker) DropNote(ctx context.Context, key string) error {
	return unavailable(b.client.Del(ctx, b.keys.note(key)).Err())
}

// Hold implements bridge.Leases.
func (b *Broker) Hold(ctx context.Context, name, holder string, ttl time.Duration) (bool, error) {
	n, err := b.scripts.lease.Run(ctx, b.client, []string{b.keys.lease(name)}, holder, ttl.Milliseconds()).Int()
	return n == 1, unavailable(err)
}

// Release implements bridge.Leases.
func (b *Broker) Release(ctx context.Context, name, holder string) error {
	return unavailable(b.scripts.lease.Run(ctx, b.client, []string{b.keys.lease(name)}, holder, 0).Err())
}

// draftKeep is how long drafts outlive the last change; longer than any
// interaction can be open.
const draftKeep = bridge.MaxTimeout + time.Hour

func draftField(a bridge.Actor) string { return a.Platform + "/" + a.User }

// Draft implements bridge.Drafts.
func (b *Broker) Draft(ctx context.Context, id bridge.ID, destination int, actor bridge.Actor) (mine, shown *bridge.Draft, err error) {
	f, err := b.client.HGetAll(ctx, b.keys.draft(id)).Result()
	if err != nil {
		return nil, nil, unavailable(err)
	}
	if mine, err = decodeDraft(f[draftField(actor)]); err != nil {
		return nil, nil, err
	}
	shown, err = decodeDraft(f[f["@"+strconv.Itoa(destination)]])
	return mine, shown, err
}

func decodeDraft(s string) (*bridge.Draft, error) {
	if s == "" {
		return nil, nil
	}
	var d bridge.Draft
	if err := json.Unmarshal([]byte(s), &d); err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "stored draft")
	}
	return &d, nil
}

// SaveDraft implements bridge.Drafts.
func (b *Broker) SaveDraft(ctx context.Context, id bridge.ID, destination int, d bridge.Draft) error {
	raw, err := json.Marshal(d)
	if err != nil {
		return bridge.Wrap(bridge.CodeInternal, err, "draft")
	}
	key, field := b.keys.draft(id), draftField(d.Actor)
	_, err = b.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.HSet(ctx, key, field, raw, "@"+strconv.Itoa(destination), field)
		p.PExpire(ctx, key, draftKeep)
		return nil
	})
	return unavailable(err)
}

func (b *Broker) grantsKey(agent, session string) string {
	return b.keys.grants(b.partition(session, agent), agent, session)
}

// Covering implements bridge.Grants.
func (b *Broker) Covering(ctx context.Context, agent, session string, keys []string) ([]bridge.Grant, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	scopes := []string{""}
	if session != "" {
		scopes = append(scopes, session)
	}
	var out []bridge.Grant
	for _, s := range scopes {
		all, err := b.client.HMGet(ctx, b.grantsKey(agent, s), keys...).Result()
		if err != nil {
			return nil, unavailable(err)
		}
		for _, v := range all {
			raw, _ := v.(string) // nil where there is none
			var g bridge.Grant
			if raw != "" && json.Unmarshal([]byte(raw), &g) == nil && time.Now().Before(g.Expires) {
				out = append(out, g)
			}
		}
	}
	return out, nil
}

// PutGrant implements bridge.Grants.
func (b *Broker) PutGrant(ctx context.Context, g bridge.Grant) (bool, error) {
	raw, err := json.Marshal(g)
	if err != nil {
		return false, bridge.Wrap(bridge.CodeInternal, err, "grant")
	}
	p := b.partition(g.Session, g.Agent)
	given, err := b.run(ctx, p, b.scripts.grant, []string{b.grantsKey(g.Agent, g.Session), b.keys.grantOwners(p), b.keys.given(p, g.Origin, g.ID())},
		g.Key, raw, bridge.AlwaysGrantTTL.Milliseconds(), g.Expires.UnixMilli(), g.Agent+ownerMark+g.Session).Int()
	return given == 1, unavailable(err)
}

// Grants implements bridge.Grants.
func (b *Broker) Grants(ctx context.Context, agent string) ([]bridge.Grant, error) {
	var out []bridge.Grant
	for p := range b.partitions {
		key := b.keys.grantOwners(p)
		if err := b.client.ZRemRangeByScore(ctx, key, "-inf", strconv.FormatInt(time.Now().UnixMilli(), 10)).Err(); err != nil {
			return nil, unavailable(err)
		}
		owners, err := b.client.ZRange(ctx, key, 0, -1).Result()
		if err != nil {
			return nil, unavailable(err)
		}
		for _, owner := range owners {
			who, session, _ := strings.Cut(owner, ownerMark)
			if agent != "" && who != agent {
				continue
			}
			all, err := b.client.HGetAll(ctx, b.keys.grants(p, who, session)).Result()
			if err != nil {
				return nil, unavailable(err)
			}
			for _, raw := range all {
				var g bridge.Grant
				if err := json.Unmarshal([]byte(raw), &g); err != nil {
					return nil, bridge.Wrap(bridge.CodeInternal, err, "stored grant")
				}
				if time.Now().Before(g.Expires) {
					out = append(out, g)
				}
			}
		}
	}
	return out, nil
}

// ownerMark separates agent and session; no name holds it.
const ownerMark = "\x00"

// DropGrant implements bridge.Grants.
func (b *Broker) DropGrant(ctx context.Context, g bridge.Grant) (bool, error) {
	n, err := b.client.HDel(ctx, b.grantsKey(g.Agent, g.Session), g.Key).Result()
	return n > 0, unavailable(err)
}

// ClearSession implements bridge.Memory.
func (b *Broker) ClearSession(ctx context.Context, agent, session string) error {
	if session == "" {
		return bridge.Errorf(bridge.CodeInvalid, "session: is empty")
	}
	return unavailable(b.client.Del(ctx, b.grantsKey(agent, session), b.rememberedKey(agent, session)).Err())
}

// rememberedKey holds what tools remember; in the partition of the grants.
func (b *Broker) rememberedKey(agent, session string) string {
	return b.keys.remembered(b.partition(session, agent), agent, session)
}

// Recall implements bridge.Memory.
func (b *Broker) Recall(ctx context.Context, agent, session, key string) (bridge.Scope, error) {
	scopes := []string{""}
	if session != "" {
		scopes = []string{session, ""}
	}
	for _, s := range scopes {
		hash := b.rememberedKey(agent, s)
		field, v, err := b.remembered(ctx, hash, key)
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err != nil {
			return "", unavailable(err)
		}
		if scope, _, _ := strings.Cut(v, " "); bridge.Scope(scope) == bridge.ScopeOnce { // what follows proves it
			n, err := b.client.HDel(ctx, hash, field).Result()
			if err != nil {
				return "", unavailable(err)
			}
			if n == 0 {
				continue // somebody else has used it up
			}
		}
		return bridge.Scope(v), nil
	}
	return "", nil
}

// remembered reads what a tool remembers, by a hash of its key, which may hold
// a credential. Older versions kept it under the key itself.
func (b *Broker) remembered(ctx context.Context, hash, key string) (field, value string, err error) {
	for _, field = range []string{hashed(key), key} {
		if value, err = b.client.HGet(ctx, hash, field).Result(); !errors.Is(err, redis.Nil) {
			break
		}
	}
	return field, value, err
}

// Remember implements bridge.Memory.
func (b *Broker) Remember(ctx context.Context, agent, session, key string, s bridge.Scope) error {
	ttl := bridge.SessionGrantTTL
	if s == bridge.ScopeAlways {
		session, ttl = "", bridge.AlwaysGrantTTL
	}
	hash := b.rememberedKey(agent, session)
	_, err := b.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.HSet(ctx, hash, hashed(key), string(s))
		p.HDel(ctx, hash, key)
		p.PExpire(ctx, hash, ttl)
		return nil
	})
	return unavailable(err)
}
