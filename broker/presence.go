package broker

import (
	"context"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// presence implements bridge.Presence. The connected front ends of a session
// are in two sorted sets, by the time when each counts as disconnected: one of
// all front ends, and one of those that can answer. Those of every session are in
// the sets of the empty session.
type presence struct{ *core }

// Join implements bridge.Presence.
func (ps *presence) Join(ctx context.Context, session, client string, enabled bool) error {
	now, err := ps.client.Time(ctx).Result()
	if err != nil {
		return unavailable(err)
	}
	all, able := ps.sets(session)
	z := redis.Z{Score: float64(now.Add(bridge.PresenceTTL).UnixMilli()), Member: client}
	return ps.transact(ctx, func(p redis.Pipeliner) error {
		p.ZAdd(ctx, all, z)
		if enabled {
			p.ZAdd(ctx, able, z)
		} else {
			p.ZRem(ctx, able, client)
		}
		p.PExpire(ctx, all, 2*bridge.PresenceTTL)
		p.PExpire(ctx, able, 2*bridge.PresenceTTL)
		return nil
	})
}

// Leave implements bridge.Presence.
func (ps *presence) Leave(ctx context.Context, session, client string) error {
	all, able := ps.sets(session)
	return ps.transact(ctx, func(p redis.Pipeliner) error {
		p.ZRem(ctx, all, client)
		p.ZRem(ctx, able, client)
		return nil
	})
}

// Present implements bridge.Presence.
func (ps *presence) Present(ctx context.Context, session string) (clients, enabled int, err error) {
	now, err := ps.client.Time(ctx).Result()
	if err != nil {
		return 0, 0, unavailable(err)
	}
	from := strconv.FormatInt(now.UnixMilli(), 10)
	var all, able []*redis.IntCmd
	_, err = ps.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, s := range everywhere(session) {
			connected, answering := ps.sets(s)
			all, able = append(all, p.ZCount(ctx, connected, from, "+inf")), append(able, p.ZCount(ctx, answering, from, "+inf"))
		}
		return nil
	})
	for n := range all {
		clients, enabled = clients+int(all[n].Val()), enabled+int(able[n].Val())
	}
	return clients, enabled, unavailable(err)
}

// everywhere returns a session and, unless it is the same, the empty one, whose
// front ends see every session.
func everywhere(session string) []string {
	if session == "" {
		return []string{""}
	}
	return []string{session, ""}
}

func (c *core) sets(session string) (all, able string) {
	return c.keys.clients(session), c.keys.ableClients(session)
}
