package broker

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

const (
	// verifyAfter is the delay after which a settlement is checked. By then, a
	// failover to a replica that did not have it is visible in most cases.
	verifyAfter = time.Second
	verifyTimes = 3
	verifyEvery = 250 * time.Millisecond
)

// verifier checks the recent settlements of this process. If Redis has lost
// one, it settles again with the same nonce: replication is asynchronous, and a
// failover drops its tail.
type verifier struct {
	*core
	settle func(context.Context, bridge.Settlement) (bridge.Record, bool, error)

	mu     sync.Mutex
	recent []*settled // oldest first
}

type settled struct {
	bridge.Settlement
	entry, link string    // of the audit log, as the record has them; the entry may be empty
	at          time.Time // of the next check
	looks       int
}

// add notes a settlement and the fields of its record.
func (v *verifier) add(s bridge.Settlement, record map[string]string) {
	s.Unless = "" // it has counted already
	v.mu.Lock()
	defer v.mu.Unlock()
	v.recent = append(v.recent, &settled{
		Settlement: s, entry: record[fieldEntry], link: record[fieldLink], at: time.Now().Add(verifyAfter),
	})
}

// order compares settlements of one partition by their entries in the audit log.
func order(a, b *settled) int {
	n, i := entryOrder(a.entry)
	m, j := entryOrder(b.entry)
	return cmp.Or(cmp.Compare(n, m), cmp.Compare(i, j))
}

// entryOrder returns the parts of a number, or of the ID of an entry in a stream.
func entryOrder(entry string) (first, second int64) {
	a, b, _ := strings.Cut(entry, "-")
	first, _ = strconv.ParseInt(a, 10, 64) // only the scripts write it
	second, _ = strconv.ParseInt(b, 10, 64)
	return first, second
}

// run checks settlements until ctx ends.
func (v *verifier) run(ctx context.Context) {
	for bridge.Pause(ctx, verifyEvery) {
		if due := v.due(); len(due) > 0 {
			v.look(ctx, due)
		}
	}
}

func (v *verifier) due() []*settled {
	v.mu.Lock()
	defer v.mu.Unlock()
	now, n := time.Now(), 0
	for n < len(v.recent) && v.recent[n].at.Before(now) {
		n++
	}
	due := slices.Clone(v.recent[:n])
	v.recent = slices.Delete(v.recent, 0, n)
	return due
}

// look checks settlements again. Redis loses the end of what it has accepted: if
// it has the last settlement of a partition, it has those before it. The entry in
// the audit log shows that it is the same settlement, and not a later one of the
// same interaction.
func (v *verifier) look(ctx context.Context, due []*settled) {
	last, entries := map[int]*settled{}, map[int]*redis.SliceCmd{} // by partition
	for _, s := range due {
		p := s.ID.Partition()
		if l := last[p]; s.entry != "" && (l == nil || order(l, s) < 0) {
			last[p] = s
		}
	}
	// The error of each command is in its result.
	_, _ = v.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for p, s := range last {
			entries[p] = pipe.HMGet(ctx, v.keys.record(s.ID), fieldEntry, fieldLink)
		}
		return nil
	})
	var doubtful []*settled
	for _, s := range due {
		if p := s.ID.Partition(); s.entry != "" && last[p].is(entries[p]) {
			s.looks++
			v.again(ctx, s)
		} else {
			doubtful = append(doubtful, s)
		}
	}
	if len(doubtful) > 0 {
		v.lookAtEach(ctx, doubtful)
	}
}

// is reports whether a record has the entry and the link of the settlement.
func (s *settled) is(record *redis.SliceCmd) bool {
	f, err := record.Result()
	if err != nil || len(f) != 2 {
		return false
	}
	link, _ := f[1].(string) // it may be absent
	return f[0] == s.entry && link == s.link
}

// lookAtEach checks the record of each settlement, and repeats those that Redis
// has lost.
func (v *verifier) lookAtEach(ctx context.Context, due []*settled) {
	states := make([]*redis.SliceCmd, len(due))
	// The error of each command is in its result.
	_, _ = v.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for n, s := range due {
			states[n] = p.HMGet(ctx, v.keys.record(s.ID), fieldState, fieldPacked)
		}
		return nil
	})
	for n, s := range due {
		f, err := states[n].Result()
		switch {
		case err == nil && f[0] == nil && f[1] != nil: // still pending
			v.log.Warn("redis lost a settlement, settling it again", "id", s.ID)
			if _, _, err := v.settle(ctx, s.Settlement); err == nil {
				continue // Settle has added it again
			}
		case err == nil: // a lost record cannot be restored
			s.looks++
		}
		v.again(ctx, s)
	}
}

// again notes the next check of a settlement, unless it was the last one.
func (v *verifier) again(ctx context.Context, s *settled) {
	if s.looks >= verifyTimes || ctx.Err() != nil {
		return
	}
	s.at = time.Now().Add(verifyAfter)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.recent = append(v.recent, s)
}
