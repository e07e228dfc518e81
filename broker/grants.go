package broker

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// grants implements bridge.Grants.
type grants struct{ *core }

// Covering implements bridge.Grants.
func (gs *grants) Covering(ctx context.Context, agent, session string, keys []string) ([]bridge.Grant, error) {
	var found []*redis.SliceCmd
	err := gs.together(ctx, func(p redis.Pipeliner) { found = gs.covering(ctx, p, agent, session, keys) })
	if err != nil {
		return nil, err
	}
	return unexpired(found)
}

// covering queues the commands that read the grants under any of the keys, both
// of the session and of every session.
func (c *core) covering(ctx context.Context, p redis.Pipeliner, agent, session string, keys []string) []*redis.SliceCmd {
	if len(keys) == 0 {
		return nil
	}
	found := []*redis.SliceCmd{p.HMGet(ctx, c.keys.grants(agent, ""), keys...)}
	if session != "" {
		found = append(found, p.HMGet(ctx, c.keys.grants(agent, session), keys...))
	}
	return found
}

// unexpired returns the grants that have not expired.
func unexpired(found []*redis.SliceCmd) ([]bridge.Grant, error) {
	var out []bridge.Grant
	for _, cmd := range found {
		all, err := cmd.Result()
		if err != nil {
			return nil, unavailable(err)
		}
		for _, v := range all {
			raw, _ := v.(string) // nil if there is no such grant
			var g bridge.Grant
			if raw != "" && json.Unmarshal([]byte(raw), &g) == nil && time.Now().Before(g.Expires) {
				out = append(out, g)
			}
		}
	}
	return out, nil
}

// PutGrant implements bridge.Grants.
func (gs *grants) PutGrant(ctx context.Context, g bridge.Grant) (bool, error) {
	raw, err := json.Marshal(g)
	if err != nil {
		return false, bridge.Wrap(bridge.CodeInternal, err, "grant")
	}
	given, err := gs.run(ctx, gs.scripts.grant, []string{gs.keys.grants(g.Agent, g.Session), gs.keys.grantOwners(), gs.keys.given(g.Origin, g.ID())},
		g.Key, raw, bridge.AlwaysGrantTTL.Milliseconds(), g.Expires.UnixMilli(), g.Agent+ownerMark+g.Session).Int()
	return given == 1, unavailable(err)
}

// Grants implements bridge.Grants.
func (gs *grants) Grants(ctx context.Context, agent string) ([]bridge.Grant, error) {
	key, now := gs.keys.grantOwners(), time.Now()
	if err := gs.client.ZRemRangeByScore(ctx, key, "-inf", strconv.FormatInt(now.UnixMilli(), 10)).Err(); err != nil {
		return nil, unavailable(err)
	}
	owners, err := gs.client.ZRange(ctx, key, 0, -1).Result()
	if err != nil {
		return nil, unavailable(err)
	}
	var out []bridge.Grant
	for _, owner := range owners {
		who, session, _ := strings.Cut(owner, ownerMark)
		if agent != "" && who != agent {
			continue
		}
		all, err := gs.client.HGetAll(ctx, gs.keys.grants(who, session)).Result()
		if err != nil {
			return nil, unavailable(err)
		}
		for _, raw := range all {
			var g bridge.Grant
			if err := json.Unmarshal([]byte(raw), &g); err != nil {
				return nil, bridge.Wrap(bridge.CodeInternal, err, "stored grant")
			}
			if now.Before(g.Expires) {
				out = append(out, g)
			}
		}
	}
	return out, nil
}

// ownerMark separates agent and session. No name contains it.
const ownerMark = "\x00"

// DropGrant implements bridge.Grants.
func (gs *grants) DropGrant(ctx context.Context, g bridge.Grant) (bool, error) {
	n, err := gs.client.HDel(ctx, gs.keys.grants(g.Agent, g.Session), g.Key).Result()
	return n > 0, unavailable(err)
}
