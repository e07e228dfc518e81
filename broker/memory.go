package broker

import (
	"context"
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// memory implements bridge.Memory.
type memory struct{ *core }

// ClearSession implements bridge.Memory.
func (mem *memory) ClearSession(ctx context.Context, agent, session string) error {
	if session == "" {
		return bridge.Errorf(bridge.CodeInvalid, "session: required")
	}
	return unavailable(mem.client.Del(ctx, mem.grantsKey(agent, session), mem.rememberedKey(agent, session)).Err())
}

// rememberedKey returns the key of what tools remember, in the partition of the
// grants.
func (mem *memory) rememberedKey(agent, session string) string {
	return mem.keys.remembered(mem.partition(session, agent), agent, session)
}

// Recall implements bridge.Memory.
func (mem *memory) Recall(ctx context.Context, agent, session, key string) (bridge.Scope, error) {
	scopes := []string{""}
	if session != "" {
		scopes = []string{session, ""}
	}
	for _, s := range scopes {
		hash := mem.rememberedKey(agent, s)
		field, v, err := mem.remembered(ctx, hash, key)
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err != nil {
			return "", unavailable(err)
		}
		if scope, _, _ := strings.Cut(v, " "); bridge.Scope(scope) == bridge.ScopeOnce { // its proof follows
			n, err := mem.client.HDel(ctx, hash, field).Result()
			if err != nil {
				return "", unavailable(err)
			}
			if n == 0 {
				continue // another caller has used it
			}
		}
		return bridge.Scope(v), nil
	}
	return "", nil
}

// remembered reads a value that a tool remembers, by the hash of its key,
// because a key may hold a credential. Older versions stored it under the key
// itself.
func (mem *memory) remembered(ctx context.Context, hash, key string) (field, value string, err error) {
	for _, field = range []string{hashed(key), key} {
		if value, err = mem.client.HGet(ctx, hash, field).Result(); !errors.Is(err, redis.Nil) {
			break
		}
	}
	return field, value, err
}

// Remember implements bridge.Memory.
func (mem *memory) Remember(ctx context.Context, agent, session, key string, s bridge.Scope) error {
	ttl := bridge.SessionGrantTTL
	if s == bridge.ScopeAlways {
		session, ttl = "", bridge.AlwaysGrantTTL
	}
	hash := mem.rememberedKey(agent, session)
	_, err := mem.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.HSet(ctx, hash, hashed(key), string(s))
		p.HDel(ctx, hash, key)
		p.PExpire(ctx, hash, ttl)
		return nil
	})
	return unavailable(err)
}
