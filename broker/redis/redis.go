// Package redis stores the data of nod in Redis: one server, a Sentinel group
// or a Cluster. All keys of an installation are in one slot, so that one run of
// a script can apply a change. Start with Do in do.go, and with lua/do.lua. It
// imports package bridge only for the codes of errors.
package redis

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// DefaultPrefix is the first part of every key if Options does not set one.
const DefaultPrefix = "nod"

// nodeName is the length of the random name of a process.
const nodeName = 8

// Options configures a Store.
type Options struct {
	// Client talks to one Redis, a Sentinel group or a Cluster. Create it with
	// ContextTimeoutEnabled. Otherwise a hung server blocks every caller.
	Client rdb.UniversalClient
	// Prefix is the first part of every key. If it is empty, DefaultPrefix is
	// used.
	Prefix string
	// Seals are the seals of the deployment.
	Seals *broker.Seals
	// WaitReplicas is the number of replicas that must confirm a replicated
	// change within a second. Otherwise, the call returns CodeUnavailable and
	// can be repeated. Zero means that only the master has to confirm. It has
	// no effect on a Cluster, where WAIT cannot be sent to a specific node.
	WaitReplicas int
	Log          *slog.Logger // a nil logger discards output
}

// Store implements broker.Store. It is safe for concurrent use. Close ends its
// background work; the client stays open.
type Store struct {
	client    rdb.UniversalClient
	keys      keys
	seals     *broker.Seals
	scripts   scripts
	log       *slog.Logger
	queue     *queue
	confirmed *queue // queue of the changes that wait for replicas, so that other changes do not wait; may be nil
	ready     readiness
	offset    atomic.Int64 // difference to the server's clock, in ns
	repaired  atomic.Int64 // when repair ran last, in ns
	stop      context.CancelFunc
	done      sync.WaitGroup
}

var _ broker.Store = (*Store)(nil)

// New connects to Redis. It checks the format of the stored data and the rights
// of the user.
func New(ctx context.Context, o Options) (*Store, error) {
	s := &Store{
		client: o.Client, keys: keys{cmp.Or(o.Prefix, DefaultPrefix)}, seals: o.Seals, log: o.Log,
		ready: readiness{slot: make(chan struct{}, 1)},
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	flags, err := scriptFlags(ctx, s.client)
	if err != nil {
		return nil, unavailable(ctx, err)
	}
	if s.scripts, err = compile(flags); err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "scripts")
	}
	if err := s.claimInstallation(ctx); err != nil {
		return nil, err
	}
	sent := time.Now()
	now, err := s.client.Time(ctx).Result()
	if err != nil {
		return nil, unavailable(ctx, err)
	}
	s.learn(now, sent)
	replicas, guard := o.WaitReplicas, ""
	if isCluster(s.client) {
		replicas, guard = 0, s.keys.jobs()
	}
	s.queue = newQueue(s.client, replicas, guard)
	if replicas > 0 {
		s.confirmed = newQueue(s.client, replicas, guard)
	}
	if err := s.tryRights(ctx, o.WaitReplicas); err != nil {
		s.closeQueues()
		return nil, err
	}
	run, stop := context.WithCancel(context.Background())
	s.stop = stop
	if w := watchCluster(s.client); w != nil {
		s.done.Go(func() { w.run(run) })
	}
	return s, nil
}

// NewReader returns a store that only reads documents and indexes, for an
// inspection. It does not check seals, because it has no keys. It does not need
// to be closed.
func NewReader(client rdb.UniversalClient, prefix string) *Store {
	done, cancel := context.WithCancel(context.Background())
	cancel()
	return &Store{client: client, keys: keys{cmp.Or(prefix, DefaultPrefix)}, seals: broker.NewSeals(), queue: &queue{client: client, ctx: done}}
}

// Close sends the queued calls, and stops the background work.
func (s *Store) Close() error {
	s.stop()
	s.done.Wait()
	s.closeQueues()
	return nil
}

func (s *Store) closeQueues() {
	s.queue.close()
	if s.confirmed != nil {
		s.confirmed.close()
	}
}

// keys builds the names of all keys. No other code does: scripts receive their
// keys as arguments. All of the names have the same hash tag, so that they are
// in one slot of a Cluster. A key without a TTL stays until it is deleted.
type keys struct{ prefix string }

func (k keys) in(rest string) string { return k.prefix + ":{" + k.prefix + "}:" + rest }

// doc is a string, a document in its stored form. Its TTL is the lifetime of
// the document.
func (k keys) doc(d broker.Key) string {
	return k.prefix + ":{" + k.prefix + "}:d:" + d.Kind + ":" + d.ID // in one step, for speed
}

// index is a sorted set of names by time, in ms.
func (k keys) index(name string) string { return k.in("x:" + name) }

// jobs is a sorted set of the jobs by the time from which they can be claimed, in ms.
// states is a hash of the states of the claimed jobs; see lua/job.lua. A queue is a list
// of jobs.
func (k keys) jobs() string { return k.in("jobs") }

func (k keys) states() string { return k.in("states") }

func (k keys) queue(name string) string { return k.in("q:" + name) }

// dead is a list of the values of dead letters, newest first, at most 1000.
func (k keys) dead() string { return k.in("dead") }

// stream is a stream of entries. Their fields are those of broker.Entry.
func (k keys) stream(s broker.Stream) string { return k.in("s:" + string(s)) }

// tally is a string, a number.
func (k keys) tally(name string) string { return k.in("n:" + name) }

// probe are keys that exist only while probe.lua runs.
func (k keys) probe() []string {
	return []string{k.in("try:s"), k.in("try:h"), k.in("try:z"), k.in("try:x"), k.in("try:l")}
}

// installation is a string, the document about the installation as JSON; see
// installation.go. It has no hash tag, because every version of nod must be
// able to find it.
func (k keys) installation() string { return k.prefix + ":conf" }

// daemons is a hash of the running daemons, each with the fingerprint of its
// keys and the time of its last Announce in ms. It lives for announcedFor.
func (k keys) daemons() string { return k.in("daemons") }

// keysID is a string, the fingerprint of the keys that the deployment signs
// with.
func (k keys) keysID() string { return k.in("keyid") }

// signingKey is a string, the seed of the key that signs receipts, in hex. It
// exists only if the deployment keeps that key in Redis.
func (k keys) signingKey() string { return k.in("sign") }

// tokenKey is a string, the key that signs controls, in hex.
func (k keys) tokenKey() string { return k.in("key") }
