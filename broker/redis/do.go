// Path of a click and of a request: package core, with the rules of bridge/life → this
// file. The jobs of the change continue in deliver.go of bridge/engine, in any daemon.

package redis

import (
	"context"
	"strconv"
	"time"

	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// Do implements broker.Store. It runs lua/do.lua, which checks the conditions of
// the change, and then applies all of it or nothing.
func (s *Store) Do(ctx context.Context, c broker.Change) (broker.Done, error) {
	one, versions := s.call(c)
	q, sent := s.queue, time.Now()
	if one.replicated && s.confirmed != nil {
		q = s.confirmed
	}
	if err := q.do(ctx, one); err != nil {
		return broker.Done{}, err
	}
	return s.result(ctx, c, versions, one.reply, sent)
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

// result reads the reply of do.lua for a call that was sent at a time. If a
// condition of the change does not hold, it returns a broker.Untimely, a
// broker.Full, or a broker.Stale with the current documents.
func (s *Store) result(ctx context.Context, c broker.Change, versions []int64, reply *rdb.Cmd, sent time.Time) (broker.Done, error) {
	out, err := reply.StringSlice()
	if err != nil {
		return broker.Done{}, unavailable(ctx, err)
	}
	if len(out) < 2 {
		return broker.Done{}, bridge.Errorf(bridge.CodeInternal, "unexpected answer of a script")
	}
	at := millis(out[0])
	s.learn(at, sent)
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
