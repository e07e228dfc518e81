package redis

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// Entries implements broker.Store.
func (s *Store) Entries(ctx context.Context, st broker.Stream, after string, n int) ([]broker.Entry, error) {
	from := "-"
	if after != "" {
		from = "(" + after
	}
	found, err := s.client.XRangeN(ctx, s.keys.stream(st), from, "+", int64(n)).Result()
	return entries(found), unavailable(ctx, err)
}

// Newest implements broker.Store.
func (s *Store) Newest(ctx context.Context, st broker.Stream, before string, n int) ([]broker.Entry, error) {
	to := "+"
	if before != "" {
		to = "(" + before
	}
	found, err := s.client.XRevRangeN(ctx, s.keys.stream(st), to, "-", int64(n)).Result()
	return entries(found), unavailable(ctx, err)
}

// entries returns entries of Redis. The order of their fields is lost.
func entries(found []rdb.XMessage) []broker.Entry {
	out := make([]broker.Entry, len(found))
	for n, m := range found {
		e := broker.Entry{ID: m.ID, Fields: make([]string, 0, 2*len(m.Values))}
		for name, v := range m.Values {
			text, _ := v.(string) // every value is a string
			e.Fields = append(e.Fields, name, text)
		}
		out[n] = e
	}
	return out
}

// Copy implements broker.Store.
func (s *Store) Copy(ctx context.Context, st broker.Stream, all []broker.Entry) error {
	cmds, err := s.client.Pipelined(ctx, func(p rdb.Pipeliner) error {
		for _, e := range all {
			p.XAdd(ctx, &rdb.XAddArgs{Stream: s.keys.stream(st), ID: e.ID, Values: e.Fields})
		}
		return nil
	})
	if err == nil {
		return nil
	}
	for n, c := range cmds {
		err := c.Err()
		if err == nil {
			continue
		}
		if !strings.Contains(err.Error(), "equal or smaller") {
			return unavailable(ctx, err)
		}
		here, err := s.client.XRange(ctx, s.keys.stream(st), all[n].ID, all[n].ID).Result()
		if err != nil {
			return unavailable(ctx, err)
		}
		if len(here) == 0 || !all[n].Same(entries(here)[0]) {
			return broker.Passed{Stream: st, ID: all[n].ID}
		}
	}
	return nil
}

// Trim implements broker.Store. It trims streams to a lowest ID, and does not
// delete entries, because a deletion is evidence of tampering.
func (s *Store) Trim(ctx context.Context, st broker.Stream, through string) error {
	ms, n, _ := strings.Cut(through, "-")
	seq, err := strconv.ParseUint(n, 10, 64)
	if err != nil {
		return bridge.Wrap(bridge.CodeInternal, err, "ID of an entry")
	}
	first := ms + "-" + strconv.FormatUint(seq+1, 10)
	if at, err := strconv.ParseUint(ms, 10, 64); err == nil && seq == math.MaxUint64 { // nod does not write such an ID
		first = strconv.FormatUint(at+1, 10)
	}
	return unavailable(ctx, s.client.XTrimMinID(ctx, s.keys.stream(st), first).Err())
}

// Remove implements broker.Store.
func (s *Store) Remove(ctx context.Context, st broker.Stream, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return unavailable(ctx, s.client.XDel(ctx, s.keys.stream(st), ids...).Err())
}

// Census implements broker.Store.
func (s *Store) Census(ctx context.Context, st broker.Stream) (broker.Census, error) {
	info, err := s.client.XInfoStream(ctx, s.keys.stream(st)).Result()
	if err != nil && strings.Contains(err.Error(), "no such key") {
		return broker.Census{}, nil
	}
	if err != nil {
		return broker.Census{}, unavailable(ctx, err)
	}
	return broker.Census{Last: info.LastGeneratedID, Added: info.EntriesAdded, Removed: info.MaxDeletedEntryID}, nil
}

const (
	followBatch = 1000
	followBlock = time.Second
	followPause = 250 * time.Millisecond // pause after an error
	// followSlack is the time in addition to followBlock after which a
	// connection is considered broken.
	followSlack = time.Second
)

// Follow implements broker.Store. Redis does not report that the journal has
// lost entries, which happens at a failover and when the journal is trimmed.
// Therefore, Follow also reads the entry at its position each time. If that
// entry is gone, entries may be missing, and Follow continues from the end of
// the journal.
func (s *Store) Follow(ctx context.Context, after string, f func([]broker.Entry), lost func()) {
	at, sure := after, after != ""
	for ctx.Err() == nil {
		if !sure {
			next, same, err := s.position(ctx, at)
			if err != nil {
				bridge.Pause(ctx, followPause)
				continue
			}
			if !same && at != "" {
				lost()
			}
			at, sure = next, true
		}
		found, same, err := s.await(ctx, at)
		if err != nil {
			bridge.Pause(ctx, followPause)
		}
		if sure = err == nil && same; sure && len(found) > 0 {
			f(found)
			at = found[len(found)-1].ID
		}
	}
}

// beginning is the position before all entries.
const beginning = "0-0"

// position returns a position from which to follow: the given one, if the
// journal still has its entry, or the end of the journal. An empty position
// stands for the end.
func (s *Store) position(ctx context.Context, at string) (next string, same bool, err error) {
	key := s.keys.stream(broker.Journal)
	if at != "" {
		found, err := s.client.XRangeN(ctx, key, at, at, 1).Result()
		if err != nil || len(found) > 0 {
			return at, err == nil, unavailable(ctx, err)
		}
	}
	last, err := s.client.XRevRangeN(ctx, key, "+", "-", 1).Result()
	if err != nil {
		return "", false, unavailable(ctx, err)
	}
	next = beginning
	if len(last) > 0 {
		next = last[0].ID
	}
	return next, next == at, nil
}

// await returns the next entries after a position. It returns none if there are
// none for a while. It also reports whether the journal has the entry at the
// position. After a failover, the client sends both commands again on another
// connection.
func (s *Store) await(ctx context.Context, at string) (found []broker.Entry, same bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, followBlock+followSlack)
	defer cancel()
	key := s.keys.stream(broker.Journal)
	var here *rdb.XMessageSliceCmd
	var next *rdb.XStreamSliceCmd
	_, err = s.client.Pipelined(ctx, func(p rdb.Pipeliner) error {
		here = p.XRangeN(ctx, key, at, at, 1)
		next = p.XRead(ctx, &rdb.XReadArgs{Streams: []string{key, at}, Count: followBatch, Block: followBlock})
		return nil
	})
	if err != nil && !errors.Is(err, rdb.Nil) {
		return nil, false, err
	}
	if all := next.Val(); len(all) > 0 {
		found = entries(all[0].Messages)
	}
	return found, at == beginning || len(here.Val()) > 0, nil
}
