package core

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/broker"
)

// DefaultRetention is the retention if Options does not set one.
const DefaultRetention = 30 * 24 * time.Hour

// Options configures a Store.
type Options struct {
	// Retention is the time for which resolved interactions are kept. Zero
	// means DefaultRetention.
	Retention time.Duration
	// Node is the name of this process. If it is empty, the name is random.
	Node string
	Log  *slog.Logger // a nil logger discards output
	// Ended is called with each interaction that this process has resolved or
	// deferred. timeout means that its deadline had passed. It must not block. Nil
	// means that no one has to know.
	Ended func(r bridge.Record, timeout bool)
}

// Store implements [Port] with the documents of a broker.Store. It is safe for concurrent
// use. Close ends its background work; the broker stays open.
type Store struct {
	*interactions
	*jobs

	db broker.Store
}

var _ Port = (*Store)(nil)

// shared holds the values that all parts of a Store use.
type shared struct {
	db        broker.Store
	retention time.Duration
	node      string
	log       *slog.Logger
	agenda    *agenda
	ended     func(r bridge.Record, timeout bool)
	signer    atomic.Pointer[proof.Signer] // if nil, nothing is signed
}

// New returns a Store, and starts to follow the journal.
func New(ctx context.Context, db broker.Store, o Options) (*Store, error) {
	s := &shared{db: db, retention: cmp.Or(o.Retention, DefaultRetention), node: o.Node, log: o.Log, agenda: newAgenda(), ended: o.Ended}
	if s.node == "" {
		s.node = uuid.NewString()[:8]
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	in := &interactions{shared: s, hub: newHub(s), locks: newLocks()}
	in.verifier = newVerifier(in)
	if err := in.start(ctx); err != nil {
		return nil, err
	}
	return &Store{interactions: in, jobs: &jobs{s}, db: db}, nil
}

// Close stops the background work. Callers that still wait get CodeUnavailable.
func (s *Store) Close() error {
	s.interactions.close()
	return nil
}

// Sign sets the signer of decisions and of entries of the audit log. It may be
// called at any time. With nil, the store signs nothing.
func (s *Store) Sign(with *proof.Signer) { s.interactions.signer.Store(with) }

// Signer returns the current signer, or nil.
func (s *Store) Signer() *proof.Signer { return s.interactions.signer.Load() }

// Retention implements Interactions.
func (s *Store) Retention() time.Duration { return s.interactions.retention }

// Ready returns an error unless requests and decisions can be stored now.
func (s *Store) Ready(ctx context.Context) error { return s.db.Ready(ctx) }
