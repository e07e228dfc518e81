package redis

import (
	"context"
	"time"

	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/broker"
)

// Get implements broker.Store.
func (s *Store) Get(ctx context.Context, ks ...broker.Key) ([]broker.Doc, error) {
	if len(ks) == 0 {
		return nil, nil
	}
	names := make([]string, len(ks))
	for n, k := range ks {
		names[n] = s.keys.doc(k)
	}
	var found *rdb.SliceCmd
	one := &call{read: func(p rdb.Pipeliner) { found = p.MGet(ctx, names...) }}
	if err := s.queue.do(ctx, one); err != nil {
		return nil, err
	}
	stored, err := found.Result()
	if err != nil {
		return nil, unavailable(ctx, err)
	}
	out := make([]broker.Doc, len(ks))
	for n, k := range ks {
		text, _ := stored[n].(string) // nil if there is none
		out[n] = s.seals.Decode(k, text)
	}
	return out, nil
}

// Range implements broker.Store.
func (s *Store) Range(ctx context.Context, q broker.Query) ([]broker.Member, error) {
	by := rdb.ZRangeArgs{Key: s.keys.index(q.Index), Start: "-inf", Stop: "+inf", ByScore: true, Rev: q.Newest, Offset: int64(q.Skip), Count: int64(q.N)}
	if !q.From.IsZero() {
		by.Start = q.From.UnixMilli()
	}
	if !q.To.IsZero() {
		by.Stop = q.To.UnixMilli()
	}
	if q.N == 0 {
		by.Count = -1
	}
	if q.Newest {
		by.Start, by.Stop = by.Stop, by.Start
	}
	found, err := s.client.ZRangeArgsWithScores(ctx, by).Result()
	if err != nil {
		return nil, unavailable(ctx, err)
	}
	out := make([]broker.Member, len(found))
	for n, z := range found {
		name, _ := z.Member.(string) // every member of an index is a string
		out[n] = broker.Member{Index: q.Index, Name: name, At: time.UnixMilli(int64(z.Score)).UTC()}
	}
	return out, nil
}

// Count implements broker.Store.
func (s *Store) Count(ctx context.Context, index string, from time.Time) (int, error) {
	least := "-inf"
	if !from.IsZero() {
		least = optionalMillis(from)
	}
	n, err := s.client.ZCount(ctx, s.keys.index(index), least, "+inf").Result()
	return int(n), unavailable(ctx, err)
}

// Sample implements broker.Store.
func (s *Store) Sample(ctx context.Context, index string, n int) ([]string, error) {
	names, err := s.client.ZRandMember(ctx, s.keys.index(index), n).Result()
	return names, unavailable(ctx, err)
}

// Tally implements broker.Store.
func (s *Store) Tally(ctx context.Context, name string, keep time.Duration) (int, error) {
	key := s.keys.tally(name)
	var n *rdb.IntCmd
	err := transact(ctx, s.client, func(p rdb.Pipeliner) error {
		n = p.Incr(ctx, key)
		p.PExpire(ctx, key, keep)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return int(n.Val()), nil
}
