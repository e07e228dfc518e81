package broker

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// Defaults of Options.
const (
	DefaultPrefix    = "nod"
	DefaultRetention = 30 * 24 * time.Hour
)

// nodeName is the length of the random name of a process. It is short because
// records hold it.
const nodeName = 8

// Options configures a Broker.
type Options struct {
	// Client talks to one Redis, a Sentinel group or a Cluster. Create it with
	// ContextTimeoutEnabled. Otherwise a hung server blocks every caller.
	Client redis.UniversalClient
	// Prefix is the first part of every key. If empty, it is DefaultPrefix.
	Prefix string
	// Retention is the time for which resolved interactions are kept. Zero
	// means DefaultRetention.
	Retention time.Duration
	// WaitReplicas is the number of replicas that must confirm an opening, a
	// decision or a grant within a second; otherwise the call returns
	// CodeUnavailable and can be repeated. Zero means that the master alone
	// counts. It has no effect on a Cluster, where WAIT cannot be sent to the
	// node in question.
	WaitReplicas int
	// Node is the name of this process. If empty, it is random.
	Node string
	Log  *slog.Logger // nil discards output
}

// Broker keeps interactions in Redis. It is safe for concurrent use. Close ends
// its background work; the client stays open.
//
// It is composed of one part for each port of bridge.Store, and of the parts
// that list records and read events.
type Broker struct {
	openings
	records
	outcomes
	outbox
	lines
	deadlines
	drafts
	notes
	leases
	grants
	stops
	reports
	memory
	mailbox
	steerings
	presence
	auditLog
	links
	passkeys
	limits
	lists
	events
	turns

	// Keyring keeps the keys that the daemons share.
	Keyring *Keyring

	core *core
	hub  *hub
}

var _ bridge.Store = (*Broker)(nil)

// New connects to Redis, checks the format of what is stored, and starts to listen
// for wake-ups.
func New(ctx context.Context, o Options) (*Broker, error) {
	c, err := newCore(ctx, o)
	if err != nil {
		return nil, err
	}
	h := newHub(c)
	b := &Broker{
		outbox: outbox{c}, lines: lines{c}, deadlines: deadlines{c, h}, drafts: drafts{c}, notes: notes{c}, leases: leases{c},
		grants: grants{c}, stops: stops{c}, reports: reports{c}, memory: memory{c}, mailbox: mailbox{c}, steerings: steerings{c}, presence: presence{c}, auditLog: auditLog{c},
		links: links{c}, passkeys: passkeys{c}, limits: limits{c}, lists: lists{c}, events: events{c}, turns: turns{c},
		Keyring: &Keyring{c}, core: c, hub: h,
	}
	b.records = records{c, h, &b.lists}
	b.openings = openings{c, h, &b.records, b.lines}
	v := &verifier{core: c}
	b.outcomes = outcomes{c, h, v}
	v.settle = b.outcomes.Settle
	h.start(v)
	return b, nil
}

// Close stops the background work. Callers that are still waiting get
// CodeUnavailable.
func (b *Broker) Close() error {
	err := b.hub.close()
	b.core.close()
	return err
}

// TidyEvery is the interval at which Tidy needs to run.
const TidyEvery = time.Hour

// Tidy removes late answers that have outlived the retention.
func (b *Broker) Tidy(ctx context.Context) error {
	now, err := b.core.client.Time(ctx).Result()
	if err != nil {
		return unavailable(err)
	}
	oldest := strconv.FormatInt(now.Add(-b.EventsKept()).UnixMilli(), 10)
	return unavailable(b.core.client.XTrimMinID(ctx, b.core.keys.late(), oldest).Err())
}
