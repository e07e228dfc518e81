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
	if err := requireSession(session); err != nil {
		return err
	}
	return unavailable(mem.client.Del(ctx, mem.keys.grants(agent, session), mem.keys.remembered(agent, session)).Err())
}

// Recall implements bridge.Memory.
func (mem *memory) Recall(ctx context.Context, agent, session, key string) (bridge.Scope, error) {
	scopes := []string{""}
	if session != "" {
		scopes = []string{session, ""}
	}
	for _, s := range scopes {
		hash, field := mem.keys.remembered(agent, s), hashed(key)
		v, err := mem.client.HGet(ctx, hash, field).Result()
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

// Remember implements bridge.Memory.
func (mem *memory) Remember(ctx context.Context, agent, session, key string, s bridge.Scope) error {
	ttl := bridge.SessionGrantTTL
	if s == bridge.ScopeAlways {
		session, ttl = "", bridge.AlwaysGrantTTL
	}
	hash := mem.keys.remembered(agent, session)
	return mem.transact(ctx, func(p redis.Pipeliner) error {
		p.HSet(ctx, hash, hashed(key), string(s))
		p.PExpire(ctx, hash, ttl)
		return nil
	})
}
