package core

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

const (
	// verifyAfter is the delay after which a decision is checked. In most
	// cases, a failover to a replica without the decision is visible by then.
	verifyAfter = time.Second
	verifyTimes = 3
	verifyEvery = 250 * time.Millisecond
	verifyBatch = 100 // number of decisions that are checked together
)

// verifier reads recent decisions and votes of this process a few times. If the
// database has lost one, it records the decision or vote again with the same
// nonce. Replication is asynchronous, so a failover can drop the newest changes.
type verifier struct {
	in *interactions

	mu     sync.Mutex
	recent []*checked // oldest first
}

// checked is a decision or a vote to check.
type checked struct {
	resolution *life.Resolution
	ballot     *life.Ballot
	also       []Also
	recorded   time.Time // when it was recorded, or shortly before
	version    int64     // version of the life that contains it
	amended    int       // number of amendments at that time
	at         time.Time // time of the next check
	looks      int       // number of checks so far
}

func newVerifier(in *interactions) *verifier { return &verifier{in: in} }

// add adds a decision or a vote, with the documents that contain it.
func (v *verifier) add(c checked, d *life.Docs) {
	c.version, c.amended = d.LifeDoc.Version, len(d.Life.Amendments)
	if !d.Life.At.IsZero() {
		c.recorded = d.Life.At // a repetition has the time of the original
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	c.at = time.Now().Add(verifyAfter)
	v.recent = append(v.recent, &c)
}

func (c *checked) id() bridge.ID {
	if c.ballot != nil {
		return c.ballot.ID
	}
	return c.resolution.ID
}

// lost reports whether a life lacks the decision or the vote. Even a later
// version can lack it, if a failover dropped it and someone changed the life
// afterward.
func (c *checked) lost(d broker.Doc) bool {
	if d.Version == c.version {
		return false // this is the document that this process stored
	}
	l, err := life.Decode(d)
	switch {
	case err != nil, !d.Exists(), l.State != "": // the decision cannot be restored
		return false
	case c.ballot == nil, d.Version < c.version:
		return true
	}
	return len(l.Amendments) <= c.amended && !slices.ContainsFunc(l.Votes, c.ballot.Vote.SameVoter) // an amendment can void a vote
}

// run checks decisions until ctx ends.
func (v *verifier) run(ctx context.Context) {
	for bridge.Pause(ctx, verifyEvery) {
		for due := range slices.Chunk(v.due(), verifyBatch) {
			v.look(ctx, due)
		}
	}
}

func (v *verifier) due() []*checked {
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

// look compares the version of each decision with the database, and restores lost
// decisions. It checks every decision, because a failover may have lost an earlier
// decision even if the database has a later one, which was made after the failover.
func (v *verifier) look(ctx context.Context, due []*checked) {
	found, err := v.changed(ctx, due)
	for _, c := range due {
		if err == nil {
			c.looks++
			if d, changed := found[life.Key(c.id())]; changed && c.lost(d) && v.restored(ctx, c) {
				continue // the recorded decision is checked as a new one
			}
		}
		if c.looks < verifyTimes && ctx.Err() == nil {
			c.at = time.Now().Add(verifyAfter)
			v.mu.Lock()
			v.recent = append(v.recent, c)
			v.mu.Unlock()
		}
	}
}

// changed returns the current documents of the interactions if one of them does not
// have the version that this process stored.
func (v *verifier) changed(ctx context.Context, due []*checked) (map[broker.Key]broker.Doc, error) {
	same := broker.Change{Urgent: true}
	for _, c := range due {
		same.If = append(same.If, broker.Version{Key: life.Key(c.id()), Version: c.version})
	}
	_, err := v.in.db.Do(ctx, same)
	var stale *broker.Stale
	if !errors.As(err, &stale) {
		return nil, err
	}
	found := map[broker.Key]broker.Doc{}
	for _, d := range stale.Docs {
		found[d.Key] = d
	}
	return found, nil
}

// restored records a lost decision or vote again, and reports whether that was possible.
// If the database is unavailable, the decision is checked until the database accepts it.
func (v *verifier) restored(ctx context.Context, c *checked) bool {
	v.in.log.Warn("the database lost a decision; recording it again", "id", c.id())
	err := v.again(ctx, c)
	if err == nil {
		return true
	}
	v.in.log.Warn("the lost decision is not recorded yet", "id", c.id(), "error", err)
	if bridge.ErrorCode(err) == bridge.CodeUnavailable {
		c.looks = 0
	}
	return false
}

// again records a decision or a vote again. It keeps the original time, so the decision
// wins even if the deadline has passed since, unless the deadline was already applied.
func (v *verifier) again(ctx context.Context, c *checked) error {
	if c.ballot == nil {
		s := *c.resolution
		s.Recorded = c.recorded
		_, _, err := v.in.Resolve(ctx, s, c.also...)
		return err
	}
	b := *c.ballot
	b.Recorded = c.recorded
	_, _, err := v.in.Vote(ctx, b, c.also...)
	return err
}
