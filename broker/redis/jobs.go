package redis

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// repairEvery is the interval at which a process looks for jobs whose queue is gone, and
// repairMost the number of waiting jobs at which it looks.
const (
	repairEvery = time.Minute
	repairMost  = 10_000
)

// repair requests waiting jobs again if their queue was deleted. Otherwise, none of them
// would ever become the first. Afterward, they are in the order of their times. A job that
// leaves its queue in the meantime may run once more than necessary.
func (s *Store) repair(ctx context.Context) error {
	waiting, err := s.client.ZRangeArgsWithScores(ctx, rdb.ZRangeArgs{
		Key: s.keys.jobs(), ByScore: true, Start: "(0", Stop: "-inf", Rev: true, Count: repairMost,
	}).Result()
	if err != nil {
		return unavailable(ctx, err)
	}
	jobs := make([]broker.Job, len(waiting))
	for n, z := range waiting {
		name, _ := z.Member.(string) // every member is a string
		jobs[n] = broker.Job{Name: name, Due: time.UnixMilli(-int64(z.Score))}
	}
	slices.SortFunc(jobs, func(a, b broker.Job) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Name, b.Name)) })
	queues := map[string][]string{}
	var c broker.Change
	for _, j := range jobs {
		queue := s.queueOf(j)
		if _, known := queues[queue]; !known {
			if queues[queue], err = s.client.LRange(ctx, queue, 0, -1).Result(); err != nil {
				return unavailable(ctx, err)
			}
		}
		if !slices.Contains(queues[queue], j.Name) {
			c.Withdraw, c.Request = append(c.Withdraw, j.Name), append(c.Request, j)
		}
	}
	if c.Empty() {
		return nil
	}
	s.log.Warn("jobs were in no queue", "jobs", len(c.Request))
	_, err = s.Do(ctx, c)
	return err
}

// Claim implements broker.Store.
func (s *Store) Claim(ctx context.Context, n int, lease time.Duration) ([]broker.Job, time.Duration, error) {
	if last := s.repaired.Load(); time.Since(time.Unix(0, last)) > repairEvery && s.repaired.CompareAndSwap(last, time.Now().UnixNano()) {
		if err := s.repair(ctx); err != nil {
			return nil, 0, err
		}
	}
	reply, err := s.run(ctx, s.scripts.claim, []string{s.keys.dead(), s.keys.jobs(), s.keys.states()}, strconv.Itoa(n), milliseconds(lease)).StringSlice()
	if err != nil {
		return nil, 0, unavailable(ctx, err)
	}
	next := time.Duration(-1)
	if ms, err := strconv.ParseInt(reply[0], 10, 64); err == nil {
		next = time.Duration(ms) * time.Millisecond
	}
	var jobs []broker.Job
	for packed := reply[1:]; len(packed) > 1; packed = packed[2:] {
		j, err := parseJob(packed[0], packed[1])
		if err != nil {
			s.log.Error("unreadable job", "job", packed[0], "error", err)
			continue
		}
		jobs = append(jobs, j)
	}
	return jobs, next, nil
}

// parseJob parses the state of a job, attempt|fence|generation|began|leased_until.
func parseJob(name, packed string) (broker.Job, error) {
	f := strings.Split(packed, "|")
	if len(f) < 5 {
		return broker.Job{}, bridge.Errorf(bridge.CodeInternal, "the state of a job has %d fields", len(f))
	}
	var n [4]int64
	for k, text := range f[:4] {
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return broker.Job{}, bridge.Wrap(bridge.CodeInternal, err, "job")
		}
		n[k] = v
	}
	return broker.Job{Name: name, Attempt: int(n[0]), Fence: n[1], Generation: n[2], Began: time.UnixMilli(n[3]).UTC()}, nil
}

// Release implements broker.Store.
func (s *Store) Release(ctx context.Context, j broker.Job, r broker.Release) (broker.Released, error) {
	how, value := "done", ""
	switch {
	case r.Dead != nil:
		how, value = "dead", string(r.Dead)
	case r.Extend > 0:
		how, value = "extend", milliseconds(r.Extend)
	case r.Again > 0:
		how, value = "again", milliseconds(max(r.Again, time.Millisecond))
		if r.Free {
			how = "free"
		}
	}
	ks := []string{s.keys.dead(), s.keys.jobs(), s.keys.states(), s.queueOf(j)}
	n, err := s.run(ctx, s.scripts.release, ks, j.Name, strconv.FormatInt(j.Fence, 10), strconv.FormatInt(j.Generation, 10), how, value, flag(r.KeepsPlace && r.Again > 0)).Int()
	return broker.Released(n), unavailable(ctx, err)
}

// Work implements broker.Store.
func (s *Store) Work(ctx context.Context) (jobs, dead int, lag time.Duration, err error) {
	var all, letters *rdb.IntCmd
	var first *rdb.ZSliceCmd
	soonest := rdb.ZRangeArgs{Key: s.keys.jobs(), ByScore: true, Start: "0", Stop: "+inf", Count: 1} // the score of a job that waits in a queue is negative
	_, err = s.client.Pipelined(ctx, func(p rdb.Pipeliner) error {
		all, letters, first = p.ZCard(ctx, s.keys.jobs()), p.LLen(ctx, s.keys.dead()), p.ZRangeArgsWithScores(ctx, soonest)
		return nil
	})
	if err != nil {
		return 0, 0, 0, unavailable(ctx, err)
	}
	if z := first.Val(); len(z) > 0 {
		lag = max(0, s.Now().Sub(time.UnixMilli(int64(z[0].Score))))
	}
	return int(all.Val()), int(letters.Val()), lag, nil
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// run runs a script.
func (s *Store) run(ctx context.Context, script *rdb.Script, ks []string, args ...string) *rdb.Cmd {
	one := &call{script: script, keys: ks, args: args}
	if err := s.queue.do(ctx, one); err != nil {
		return rdb.NewCmdResult(nil, err)
	}
	return one.reply
}

// queueOf returns the key of the queue of a job. For a job without a queue, it
// returns the key of the jobs.
func (s *Store) queueOf(j broker.Job) string {
	if q := j.Queue(); q != "" {
		return s.keys.queue(q)
	}
	return s.keys.jobs()
}
