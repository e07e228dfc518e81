package core

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
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
}

// Store implements bridge.Store on the documents of a broker.Store. It is safe for
// concurrent use. Close ends its background work; the broker stays open.
type Store struct {
	*interactions
	*jobs
	*lists
	*events
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
	audit
	links
	passkeys
	limits

	db broker.Store
}

var _ bridge.Store = (*Store)(nil)

// shared holds the values that all parts of a Store use.
type shared struct {
	db        broker.Store
	retention time.Duration
	node      string
	log       *slog.Logger
	agenda    *agenda
	signer    atomic.Pointer[proof.Signer] // if nil, nothing is signed
}

// New returns a Store, and starts to follow the journal.
func New(ctx context.Context, db broker.Store, o Options) (*Store, error) {
	s := &shared{db: db, retention: cmp.Or(o.Retention, DefaultRetention), node: o.Node, log: o.Log, agenda: newAgenda()}
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
	return &Store{
		interactions: in, jobs: &jobs{s}, lists: &lists{in}, events: &events{in}, drafts: drafts{s}, notes: notes{s}, leases: leases{s}, grants: grants{s}, stops: stops{s}, reports: reports{s},
		memory: memory{s}, mailbox: mailbox{in}, steerings: steerings{s}, presence: presence{s}, audit: audit{s}, links: links{s}, passkeys: passkeys{s}, limits: limits{s}, db: db,
	}, nil
}

// Close stops the background work. Callers that still wait get CodeUnavailable.
func (s *Store) Close() error {
	s.interactions.close()
	return nil
}

// Sign sets the signer of decisions and of entries of the audit log. It may be
// called at any time. With nil, the store signs nothing.
func (s *Store) Sign(with *proof.Signer) { s.interactions.signer.Store(with) }

// Ready returns an error unless the store can store requests and decisions now.
func (s *Store) Ready(ctx context.Context) error { return s.db.Ready(ctx) }

// public returns an error of the broker with a code.
func public(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(*broker.Stale)), errors.As(err, new(broker.Untimely)):
		return bridge.Errorf(bridge.CodeUnavailable, "not recorded: others change it at the same time").WithHint("try again")
	case errors.As(err, new(broker.Passed)):
		return bridge.Wrap(bridge.CodeConflict, err, "audit log").
			WithHint("find out who wrote to Redis, and move the log aside; see docs/troubleshooting.md")
	case errors.As(err, new(*broker.ForgedError)):
		return bridge.Wrap(bridge.CodeForbidden, err, "stored data")
	case errors.As(err, new(*broker.NewerError)):
		return bridge.Wrap(bridge.CodeInternal, err, "stored data").WithHint("run the version of nod that wrote it, or a newer one")
	}
	return err
}

// requireSession returns CodeInvalid for an empty session.
func requireSession(session string) error {
	if session == "" {
		return bridge.Errorf(bridge.CodeInvalid, "session: required")
	}
	return nil
}

// names returns the names of members.
func names(members []broker.Member) []string {
	out := make([]string, len(members))
	for n, m := range members {
		out[n] = m.Name
	}
	return out
}

// owned returns the names that begin with an agent, or all names if the agent
// is empty. The names begin with the result of life.Owner.
func owned(all []string, agent string) []string {
	if agent == "" {
		return all
	}
	var out []string
	for _, name := range all {
		if strings.HasPrefix(name, agent+"\x00") {
			out = append(out, name)
		}
	}
	return out
}

// refused logs a document that does not verify.
func (s *shared) refused(err error) { s.log.Warn("a stored document was ignored", "error", err) }
