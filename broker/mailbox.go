package broker

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// lateBatch is how many late answers of a partition are read at once.
const lateBatch = 500

// Messages implements bridge.Mailbox.
func (b *Broker) Messages(ctx context.Context, agent, session string, limit int) ([]bridge.Message, error) {
	out := []bridge.Message{}
	err := b.lateOf(ctx, agent, session, func(id string, interaction bridge.ID) error {
		if len(out) == limit {
			return errEnough
		}
		rec, err := b.Load(ctx, interaction)
		if bridge.ErrorCode(err) == bridge.CodeNotFound {
			return nil // outlived its retention
		}
		if err == nil {
			out = append(out, bridge.NewMessage(id, rec))
		}
		return err
	})
	return out, err
}

// Acknowledge implements bridge.Mailbox.
func (b *Broker) Acknowledge(ctx context.Context, agent, session, through string) ([]bridge.ID, error) {
	end, err := parseEntry(through)
	if err != nil {
		return nil, err
	}
	var entries []string
	var ids []bridge.ID
	err = b.lateOf(ctx, agent, session, func(id string, interaction bridge.ID) error {
		if at, err := parseEntry(id); err != nil || end.before(at) {
			return errEnough
		}
		entries, ids = append(entries, id), append(ids, interaction)
		return nil
	})
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	return ids, unavailable(b.client.XDel(ctx, b.keys.late(b.partition(session, "")), entries...).Err())
}

var errEnough = bridge.Errorf(bridge.CodeInternal, "enough")

// lateOf calls f for each late answer of a session, oldest first, until it
// returns an error; errEnough ends it well.
func (b *Broker) lateOf(ctx context.Context, agent, session string, f func(entry string, id bridge.ID) error) error {
	key, at := b.keys.late(b.partition(session, "")), "-"
	for {
		batch, err := b.client.XRangeN(ctx, key, at, "+", lateBatch).Result()
		if err != nil {
			return unavailable(err)
		}
		for _, m := range batch {
			if m.Values["a"] != agent || m.Values["s"] != session {
				continue
			}
			id, _ := m.Values["i"].(string)
			if err := f(m.ID, bridge.ID(id)); errors.Is(err, errEnough) {
				return nil
			} else if err != nil {
				return err
			}
		}
		if len(batch) < lateBatch {
			return nil
		}
		at = "(" + batch[len(batch)-1].ID
	}
}

// entry is the position of a message in its stream.
type entry struct{ ms, seq uint64 }

func (e entry) before(f entry) bool { return e.ms < f.ms || e.ms == f.ms && e.seq < f.seq }

var entryForm = regexp.MustCompile(`^\d{1,15}-\d{1,15}$`)

func parseEntry(s string) (entry, error) {
	if !entryForm.MatchString(s) {
		return entry{}, bridge.Errorf(bridge.CodeInvalid, "through: is not the id of a message")
	}
	ms, seq, _ := strings.Cut(s, "-")
	a, _ := strconv.ParseUint(ms, 10, 64) // digits, as the form says
	c, _ := strconv.ParseUint(seq, 10, 64)
	return entry{a, c}, nil
}

// Pending implements bridge.Records.
func (b *Broker) Pending(ctx context.Context, agent, session string) ([]bridge.ID, error) {
	var ids []bridge.ID
	if agent == "" && session == "" {
		all, err := b.pending(ctx)
		for _, p := range first(all, len(all)) {
			ids = append(ids, bridge.ID(p.id))
		}
		return ids, err
	}
	f := bridge.ListFilter{State: bridge.StatePending, Agent: agent, Session: session, Limit: listMax}
	for {
		page, err := b.List(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, r := range page.Items {
			ids = append(ids, r.Interaction.ID)
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			return ids, nil
		}
	}
}

// Known implements bridge.Openings.
func (b *Broker) Known(ctx context.Context, agent, session, key string) (bool, error) {
	if key == "" {
		return false, nil
	}
	p := b.partition(session, key)
	n, err := b.client.Exists(ctx, b.keys.idem(p, agent, key), b.keys.plainIdem(p, agent, key)).Result()
	return n > 0, unavailable(err)
}

// A session's connected front ends are two sorted sets by the time at which
// each counts as gone: all of them, and those that can answer.

// Join implements bridge.Presence.
func (b *Broker) Join(ctx context.Context, session, client string, enabled bool) error {
	now, err := b.client.Time(ctx).Result()
	if err != nil {
		return unavailable(err)
	}
	all, able := b.presence(session)
	z := redis.Z{Score: float64(now.Add(bridge.PresenceTTL).UnixMilli()), Member: client}
	_, err = b.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
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
func (b *Broker) Leave(ctx context.Context, session, client string) error {
	all, able := b.presence(session)
	_, err := b.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.ZRem(ctx, all, client)
		p.ZRem(ctx, able, client)
		return nil
	})
	return unavailable(err)
}

// Present implements bridge.Presence.
func (b *Broker) Present(ctx context.Context, session string) (clients, enabled int, err error) {
	now, err := b.client.Time(ctx).Result()
	if err != nil {
		return 0, 0, unavailable(err)
	}
	all, able := b.presence(session)
	from := strconv.FormatInt(now.UnixMilli(), 10)
	var counts [2]*redis.IntCmd
	_, err = b.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		counts[0], counts[1] = p.ZCount(ctx, all, from, "+inf"), p.ZCount(ctx, able, from, "+inf")
		return nil
	})
	return int(counts[0].Val()), int(counts[1].Val()), unavailable(err)
}

func (b *Broker) presence(session string) (all, able string) {
	p := b.partition(session, "")
	return b.keys.clients(p, session), b.keys.ableClients(p, session)
}
