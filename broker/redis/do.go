// Path of a click and of a request: bridge/life → this file → deliver.go of bridge/engine.

package redis

import (
	"context"
	"strconv"
	"strings"
	"time"

	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
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

// Do implements broker.Store.
func (s *Store) Do(ctx context.Context, c broker.Change) (broker.Done, error) {
	one, versions := s.call(c)
	q := s.queue
	if one.replicated && s.confirmed != nil {
		q = s.confirmed
	}
	if err := q.do(ctx, one); err != nil {
		return broker.Done{}, err
	}
	return s.result(ctx, c, versions, one.reply)
}

// Confirm implements broker.Store. Redis waits only for data that the
// connection has written, so Confirm writes something. The same master compares
// the versions, because after a failover it may not have the data that another
// master returned.
func (s *Store) Confirm(ctx context.Context, read ...broker.Version) error {
	if s.queue.replicas == 0 {
		return nil
	}
	_, err := s.Do(ctx, broker.Change{If: read, Set: []broker.Member{{Index: "confirmed", At: s.Now(), IndexTTL: time.Minute}}, Urgent: true, Replicated: true})
	return err
}

// DoAll implements broker.Store.
func (s *Store) DoAll(ctx context.Context, cs []broker.Change) []broker.Result {
	out, calls, versions := make([]broker.Result, len(cs)), make([]*call, len(cs)), make([][]int64, len(cs))
	for n, c := range cs {
		calls[n], versions[n] = s.call(c)
		calls[n].ctx, calls[n].done = ctx, make(chan struct{})
	}
	s.queue.send(ctx, calls)
	for n, c := range cs {
		out[n].Done, out[n].Err = s.result(ctx, c, versions[n], calls[n].reply)
	}
	return out
}

// args builds the keys and arguments of do.lua, which its header describes.
type args struct{ keys, argv []string }

func (a *args) key(name string)      { a.keys = append(a.keys, name) }
func (a *args) add(values ...string) { a.argv = append(a.argv, values...) }
func (a *args) time(t time.Time)     { a.add(optionalMillis(t)) }

// ttl adds a time to live. It is at least 1 ms unless the document never
// expires.
func (a *args) ttl(d time.Duration) {
	if d != 0 {
		d = max(d, time.Millisecond)
	}
	a.add(optional(d.Milliseconds()))
}

// optional returns a number, or "" for 0.
func optional(n int64) string {
	if n <= 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func optionalMillis(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}

// A change with jobs counts only if the clock of the server differs little from
// the time that its rule used: less than clockBack behind, and less than
// clockAhead ahead. After a jump of the clock, its jobs would be due at the
// wrong time.
const (
	clockBack  = 5 * time.Second
	clockAhead = time.Minute
)

// timed adds these conditions to a change.
func (s *Store) timed(c broker.Change) broker.Change {
	now := s.Now()
	if from := now.Add(-clockBack); len(c.Request) > 0 && c.From.Before(from) {
		c.From = from
	}
	if until := now.Add(clockAhead); len(c.Request) > 0 && (c.Until.IsZero() || until.Before(c.Until)) {
		c.Until = until
	}
	return c
}

// Most changes have no more keys and arguments.
const usualKeys, usualArgs = 16, 64

// call returns the call that applies a change, and the new versions of its
// documents.
func (s *Store) call(c broker.Change) (*call, []int64) {
	c = s.timed(c)
	a := &args{make([]string, 0, usualKeys), make([]string, 0, usualArgs)}
	a.keys = append(a.keys, s.keys.stream(broker.Journal), s.keys.jobs(), s.keys.states())
	a.time(c.From)
	a.time(c.Until)
	for _, v := range c.Versions() {
		a.key(s.keys.doc(v.Key))
		a.add("if", broker.EncodeVersion(v.Version))
	}
	for _, b := range c.Below {
		a.key(s.keys.index(b.Index))
		a.add("below", strconv.Itoa(b.Max))
	}
	for _, e := range c.Journal {
		a.add("entry", strconv.Itoa(len(e.Fields)))
		a.add(e.Fields...)
	}
	versions := s.documents(a, c)
	s.members(a, c)
	script := s.scripts.do
	if c.Urgent {
		script = s.scripts.urgent
	}
	return &call{script: script, keys: a.keys, args: a.argv, replicated: c.Replicated}, versions
}

// documents adds the documents of a change, and returns their new versions.
func (s *Store) documents(a *args, c broker.Change) []int64 {
	var versions []int64
	for _, d := range c.Put {
		version := d.NextVersion()
		versions = append(versions, version)
		if d.Noted > 0 {
			d.Entry = ""
		}
		a.key(s.keys.doc(d.Key))
		a.add("put", s.seals.Encode(d, version))
		a.ttl(d.Keep)
		a.add(optional(int64(d.Noted)))
	}
	for _, v := range c.Drop {
		a.key(s.keys.doc(v.Key))
		a.add("drop")
	}
	return versions
}

// members adds the members of indexes, and the jobs.
func (s *Store) members(a *args, c broker.Change) {
	for _, m := range c.Set {
		a.key(s.keys.index(m.Index))
		a.add("set", optionalMillis(m.At), m.Name)
		a.ttl(m.IndexTTL)
	}
	for _, m := range c.Unset {
		a.key(s.keys.index(m.Index))
		a.add("unset", m.Name)
	}
	for _, name := range c.Withdraw {
		a.key(s.queueOf(broker.Job{Name: name}))
		a.add("gone", name)
	}
	for _, j := range c.Request {
		a.key(s.queueOf(j))
		a.add("job", j.Name, strconv.FormatInt(max(1, j.Due.UnixMilli()), 10), flag(j.Exact))
	}
}

// queueOf returns the key of the queue of a job. For a job without a queue, it
// returns the key of the jobs.
func (s *Store) queueOf(j broker.Job) string {
	if q := j.Queue(); q != "" {
		return s.keys.queue(q)
	}
	return s.keys.jobs()
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// result returns the result of do.lua.
func (s *Store) result(ctx context.Context, c broker.Change, versions []int64, reply *rdb.Cmd) (broker.Done, error) {
	out, err := reply.StringSlice()
	if err != nil {
		return broker.Done{}, unavailable(ctx, err)
	}
	if len(out) < 2 {
		return broker.Done{}, bridge.Errorf(bridge.CodeInternal, "unexpected answer of a script")
	}
	at := millis(out[0])
	s.learn(at)
	switch rest := out[2:]; out[1] {
	case "ok":
		return broker.Done{At: at, Entries: rest, Versions: versions}, nil
	case "time":
		return broker.Done{}, broker.Untimely{At: at}
	case "full":
		n, _ := strconv.Atoi(rest[0]) // only the script returns it
		return broker.Done{}, broker.Full{Index: c.Below[n-1].Index}
	default:
		if entries, mine := s.applied(c, versions, rest); mine {
			return broker.Done{At: at, Entries: entries, Versions: versions}, nil
		}
		stale := &broker.Stale{}
		for n, v := range c.Versions() {
			stale.Docs = append(stale.Docs, s.seals.Decode(v.Key, rest[n]))
		}
		return broker.Done{}, stale
	}
}

// applied reports whether the stored documents of a stale change come from the
// change itself. If a reply is lost, the client sends the change again. No
// other change has the same versions. It also returns the IDs of the entries of
// the documents.
func (s *Store) applied(c broker.Change, versions []int64, stored []string) (entries []string, mine bool) {
	entries, stored = make([]string, len(c.Journal)), stored[len(c.If):]
	for n, d := range c.Put {
		if d.Fresh {
			continue
		}
		if d.Noted > 0 {
			d.Entry = ""
		}
		entry, same := strings.CutPrefix(stored[0], s.seals.Encode(d, versions[n]))
		if !same {
			return nil, false
		}
		if d.Noted > 0 {
			entries[d.Noted-1] = entry[1:] // the digits after the mark
		}
		mine, stored = true, stored[1:]
	}
	return entries, mine
}

func millis(s string) time.Time {
	n, _ := strconv.ParseInt(s, 10, 64) // only scripts and Redis write the value
	return time.UnixMilli(n).UTC()
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
