// Package turns shares the rate limits of platforms between daemons: it decides
// when each call has its turn. Each limit has a document, and one change covers
// all limits of a call. It makes no calls, does not know the limits of any
// platform, and is unrelated to the turns of package life and of on-call
// rotations. Start with take in rule.go.
package turns

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/broker"
)

var lines = broker.NewDocs[line]("limit", 1)

const (
	// keep is the time for which a limit is kept after its last change.
	keep = 24 * time.Hour
	// mostSkew is the maximum difference between the time that the rule used and
	// that of the store. A change that is later than that would record a turn too
	// early, so the next calls would also be too early. It is longer than a slow
	// store takes: if a call is too early, the platform refuses it and says when to repeat it.
	mostSkew = 2 * time.Second
)

// Turns implements bridge.Turns.
type Turns struct {
	db    documents.DB
	locks sync.Map // chan struct{}, by the key of a call's last limit, which most calls share
}

// New returns the turns in a database.
func New(db documents.DB) *Turns { return &Turns{db: db} }

// Turn implements bridge.Turns.
func (t *Turns) Turn(ctx context.Context, c bridge.Call) (wait time.Duration, err error) {
	c.Key = short(cmp.Or(c.Key, rand.Text())) // a call without a key has a place of its own
	err = t.change(ctx, c, func(all []*limit) { wait = time.Duration(take(c, all)) * time.Millisecond })
	return wait, err
}

// HoldTurns implements bridge.Turns.
func (t *Turns) HoldTurns(ctx context.Context, c bridge.Call, which int, d time.Duration) error {
	if c.Key != "" {
		c.Key = short(c.Key)
	}
	return t.change(ctx, c, func(all []*limit) { hold(c, all, which, d) })
}

// short returns a short name for the key of a call, which may be a long text for people.
func short(key string) string {
	sum := sha256.Sum256([]byte(key))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// change applies a rule to the limits of a call. The calls of this process take turns,
// because a change has to be retried if another one overtakes it.
func (t *Turns) change(ctx context.Context, c bridge.Call, rule func([]*limit)) error {
	keys := make([]broker.Key, len(c.Limits))
	for n, l := range c.Limits {
		keys[n] = lines.Key(c.Platform + ":" + l.Line)
	}
	held, _ := t.locks.LoadOrStore(keys[len(keys)-1], make(chan struct{}, 1))
	lock, _ := held.(chan struct{}) // the map holds nothing else
	select {
	case lock <- struct{}{}:
		defer func() { <-lock }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return documents.Public(broker.Retry(ctx, func() error { return t.try(ctx, c, keys, rule) }))
}

func (t *Turns) try(ctx context.Context, c bridge.Call, keys []broker.Key, rule func([]*limit)) error {
	docs, err := t.db.Get(ctx, keys...)
	if err != nil {
		return err
	}
	now, all := t.db.Now(), make([]*limit, len(docs))
	for n, d := range docs {
		all[n] = &limit{Limit: c.Limits[n]}
		if err := t.read(all[n], d, now); err != nil {
			return err
		}
	}
	rule(all)
	// A limit that did not change needs no condition: it counts no calls, or the call waits.
	change := broker.Change{From: now.Add(-mostSkew), Until: now.Add(mostSkew), Urgent: true}
	for n, l := range all {
		if !l.changed {
			continue
		}
		d, err := lines.Encode(docs[n], &l.line)
		if err != nil {
			return err
		}
		d.Keep = keep
		change.Put = append(change.Put, d)
	}
	if change.Empty() {
		return nil
	}
	_, err = t.db.Do(ctx, change)
	return err
}

// read reads the document of a limit. If the document does not verify, all calls wait
// for one period. After that, the platform allows as many calls as it ever does. If the
// platform requires a longer wait, it refuses the next call.
func (t *Turns) read(l *limit, d broker.Doc, now time.Time) (err error) {
	l.line, err = lines.Decode(d)
	switch {
	case errors.As(err, new(*broker.ForgedError)):
		t.db.Refused(err)
		l.line, l.changed = line{At: now.UnixMilli(), Held: l.period()}, true
	case err != nil: // a newer version of nod wrote it; its daemons make the calls
		return bridge.Errorf(bridge.CodeUnavailable, "rate limit: %v", err)
	}
	l.move(now)
	return nil
}
