package broker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"hash/fnv"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// Defaults of Options.
const (
	DefaultPrefix     = "nod"
	DefaultPartitions = 16
	DefaultRetention  = 30 * 24 * time.Hour
)

// nodeName is how long the random name of a process is: records hold it.
const nodeName = 8

// Options configures a Broker.
type Options struct {
	// Client talks to one Redis, a Sentinel group or a Cluster. Build it with
	// ContextTimeoutEnabled, or a hung server holds every caller.
	Client redis.UniversalClient
	Prefix string // of every key; empty: DefaultPrefix
	// Partitions for a new deployment, 1 to 256; 0: DefaultPartitions. An
	// existing deployment keeps what it was started with.
	Partitions int
	Retention  time.Duration // of settled interactions; 0: DefaultRetention
	// WaitReplicas is how many replicas must have an opening, a decision or a
	// grant before it counts; with fewer after a second it is CodeUnavailable,
	// to be repeated. 0: the master alone. Not on a Cluster, where WAIT cannot
	// be sent to the node that matters.
	WaitReplicas int
	Node         string       // name of this process; empty: random
	Log          *slog.Logger // nil: discard
}

// Broker keeps interactions in Redis. It is safe for concurrent use. Close
// ends its background work; the client stays open.
type Broker struct {
	client     redis.UniversalClient
	keys       keys
	scripts    scripts
	partitions int
	retention  time.Duration
	node       string
	log        *slog.Logger
	queues     []*queue
	hub        *hub
	verifier   *verifier
	nudge      chan struct{} // jobs were stored by this process
}

var _ bridge.Store = (*Broker)(nil)

// New connects to Redis, fixes or reads the number of partitions, and starts
// to listen for wake-ups.
func New(ctx context.Context, o Options) (*Broker, error) {
	b := &Broker{
		client: o.Client, keys: keys{prefix: o.Prefix}, partitions: o.Partitions, retention: o.Retention,
		node: o.Node, log: o.Log, nudge: make(chan struct{}, 1),
	}
	if b.keys.prefix == "" {
		b.keys.prefix = DefaultPrefix
	}
	if b.partitions == 0 {
		b.partitions = DefaultPartitions
	}
	if b.partitions < 1 || b.partitions > bridge.MaxPartitions {
		return nil, bridge.Errorf(bridge.CodeInvalid, "partitions: %d is not 1 to %d", b.partitions, bridge.MaxPartitions)
	}
	if b.retention == 0 {
		b.retention = DefaultRetention
	}
	if b.node == "" {
		b.node = uuid.NewString()[:nodeName]
	}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	version, err := serverVersion(ctx, b.client)
	if err != nil {
		return nil, unavailable(err)
	}
	if b.scripts, err = loadScripts(version >= 7); err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "scripts")
	}
	if err := b.fixPartitions(ctx); err != nil {
		return nil, err
	}
	if _, ok := b.client.(*redis.ClusterClient); ok {
		for range b.partitions {
			b.queues = append(b.queues, newQueue(b.client, 0, 1))
		}
	} else {
		b.queues = []*queue{newQueue(b.client, o.WaitReplicas, queueFlushers)}
	}
	b.verifier = &verifier{b: b}
	b.hub = newHub(b)
	return b, nil
}

// Close stops listening. Callers that still wait get CodeUnavailable.
func (b *Broker) Close() error {
	err := b.hub.close()
	for _, q := range b.queues {
		q.close()
	}
	return err
}

// Ping reports whether Redis answers.
func (b *Broker) Ping(ctx context.Context) error { return unavailable(b.client.Ping(ctx).Err()) }

// serverVersion is the major version; 0 for an embedded server, which does
// not say.
func serverVersion(ctx context.Context, c redis.UniversalClient) (int, error) {
	info, err := c.Info(ctx, "server").Result()
	if _, refused := errors.AsType[redis.Error](err); refused {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(info) {
		if v, ok := strings.CutPrefix(line, "redis_version:"); ok {
			major, minor, _ := strings.Cut(v, ".")
			n, _ := strconv.Atoi(major) // 0 for a server that says something else
			if n > 0 && (n < 6 || n == 6 && strings.HasPrefix(minor, "0")) {
				return 0, bridge.Errorf(bridge.CodeUnavailable, "redis %s is too old", strings.TrimSpace(v)).WithHint("nod needs 6.2 or newer")
			}
			return n, nil
		}
	}
	return 0, nil
}

func (b *Broker) fixPartitions(ctx context.Context) error {
	if err := b.client.SetNX(ctx, b.keys.conf(), b.partitions, 0).Err(); err != nil {
		return unavailable(err)
	}
	n, err := b.client.Get(ctx, b.keys.conf()).Int()
	if err != nil {
		return unavailable(err)
	}
	if n != b.partitions {
		b.log.Info("the deployment keeps its number of partitions", "stored", n, "configured", b.partitions)
	}
	b.partitions = n
	return nil
}

// TokenKey returns the key that signs controls, made on the first start of a
// deployment and shared by its daemons.
func (b *Broker) TokenKey(ctx context.Context) ([]byte, error) {
	return b.sharedKey(ctx, b.keys.tokenKey(), bridge.MinKey)
}

func (b *Broker) sharedKey(ctx context.Context, name string, size int) ([]byte, error) {
	fresh := make([]byte, size)
	rand.Read(fresh)
	if err := b.client.SetNX(ctx, name, hex.EncodeToString(fresh), 0).Err(); err != nil {
		return nil, unavailable(err)
	}
	s, err := b.client.Get(ctx, name).Result()
	if err != nil {
		return nil, unavailable(err)
	}
	key, err := hex.DecodeString(s)
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "key %s in redis", name)
	}
	return key, nil
}

// partition is where a session, else an idempotency key, keeps its
// interactions; -1 for neither.
func (b *Broker) partition(session, key string) int {
	s := session
	if s == "" {
		s = key
	}
	if s == "" {
		return -1
	}
	h := fnv.New32a()
	io.WriteString(h, s)
	return int(h.Sum32() % uint32(b.partitions))
}

// NewID implements bridge.Openings.
func (b *Broker) NewID(session, key string) (bridge.ID, error) {
	p := b.partition(session, key)
	if p < 0 {
		var r [1]byte
		rand.Read(r[:])
		p = int(r[0]) % b.partitions
	}
	return bridge.NewID(p)
}

// unavailable gives errors of Redis a code. Errors of a context pass.
func unavailable(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case bridge.ErrorCode(err) != bridge.CodeInternal:
		return err
	case strings.HasPrefix(err.Error(), "OOM "):
		return bridge.Wrap(bridge.CodeUnavailable, err, "redis is out of memory").WithHint("raise maxmemory; the eviction policy must be noeviction")
	}
	return bridge.Wrap(bridge.CodeUnavailable, err, "redis is not reachable")
}
