package broker

import (
	"context"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// presence implements bridge.Presence. The connected front ends of a session
// are in two sorted sets, by the time when each counts as disconnected: one of
// all front ends, and one of those that can answer.
type presence struct{ *core }

// Join implements bridge.Presence.
func (ps *presence) Join(ctx context.Context, session, client string, enabled bool) error {
	now, err := ps.client.Time(ctx).Result()
	if err != nil {
		return unavailable(err)
	}
	all, able := ps.sets(session)
	z := redis.Z{Score: float64(now.Add(bridge.PresenceTTL).UnixMilli()), Member: client}
	_, err = ps.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
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
	return unavailable(err)
}

// Leave implements bridge.Presence.
func (ps *presence) Leave(ctx context.Context, session, client string) error {
	all, able := ps.sets(session)
	_, err := ps.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.ZRem(ctx, all, client)
		p.ZRem(ctx, able, client)
		return nil
	})
	return unavailable(err)
}

// Present implements bridge.Presence.
func (ps *presence) Present(ctx context.Context, session string) (clients, enabled int, err error) {
	now, err := ps.client.Time(ctx).Result()
	if err != nil {
		return 0, 0, unavailable(err)
	}
	all, able := ps.sets(session)
	from := strconv.FormatInt(now.UnixMilli(), 10)
	var counts [2]*redis.IntCmd
	_, err = ps.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		counts[0], counts[1] = p.ZCount(ctx, all, from, "+inf"), p.ZCount(ctx, able, from, "+inf")
		return nil
	})
	return int(counts[0].Val()), int(counts[1].Val()), unavailable(err)
}

func (ps *presence) sets(session string) (all, able string) {
	p := ps.partition(session, "")
	return ps.keys.clients(p, session), ps.keys.ableClients(p, session)
}
