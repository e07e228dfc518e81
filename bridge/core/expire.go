package core

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

// A database that runs one change at a time blocks other clients while it
// expires many interactions. Therefore, the number of changes that are sent
// together, and the number of changes in flight, are limited.
const (
	expireMost   = 64 // maximum number of interactions in one round trip
	expireFlight = 3  // number of round trips in flight
	expireCall   = 32 // number of full rounds of this size after which Expire returns
)

// A process retries an interaction that it cannot expire. It retries soon if
// the database refused the change. It retries later if the documents do not
// verify, a newer version of nod wrote them, or their receipt cannot be signed.
const (
	expireSoon  = time.Second
	expireLater = time.Minute
)

// aside holds the deadlines that this process cannot apply now, each with the
// time of the next attempt. Otherwise, it would constantly read
// such interactions, and delay others.
type aside struct {
	mu    sync.Mutex
	until map[broker.Member]time.Time
}

func (a *aside) put(m broker.Member, until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.until == nil {
		a.until = map[broker.Member]time.Time{}
	}
	a.until[m] = until
}

// others returns the deadlines that are not set aside.
func (a *aside) others(due []broker.Member, now time.Time) []broker.Member {
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.until, func(_ broker.Member, until time.Time) bool { return !now.Before(until) })
	return slices.DeleteFunc(slices.Clone(due), func(m broker.Member) bool {
		_, is := a.until[m]
		return is
	})
}

// Expiry is an interaction that no one answered in time, and its new state: the
// state of its timeout rule, or StatePending if it waits for a late answer.
type Expiry struct {
	ID    bridge.ID
	State bridge.State
}

// Expire implements Interactions.
func (in *interactions) Expire(ctx context.Context, n int) (expired []Expiry, more bool, err error) {
	n = min(n, expireMost)
	q := broker.Query{Index: life.Deadlines, To: in.db.Now(), N: n * expireFlight}
	for len(expired) < n*expireFlight*expireCall {
		due, err := in.db.Range(ctx, q)
		if err != nil || len(due) == 0 {
			return expired, false, documents.Public(err)
		}
		ended, gone, err := in.expireAll(ctx, due, n)
		expired = append(expired, ended...)
		if err != nil || len(due) < q.N {
			return expired, false, err
		}
		q.Skip += len(due) - gone
	}
	return expired, true, nil
}

// expireAll applies at most n deadlines in each round trip. It also returns the number
// of deadlines that are no longer in the index.
func (in *interactions) expireAll(ctx context.Context, due []broker.Member, n int) (expired []Expiry, gone int, failed error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for part := range slices.Chunk(in.aside.others(due, in.db.Now()), n) {
		wg.Go(func() {
			ended, g, err := in.expire(ctx, part)
			mu.Lock()
			defer mu.Unlock()
			expired, gone, failed = append(expired, ended...), gone+g, errors.Join(failed, err)
		})
	}
	wg.Wait()
	return expired, gone, failed
}

// expire applies deadlines in one round trip. Interactions that another process
// has changed are left to the next round. It returns the first error from the
// database.
func (in *interactions) expire(ctx context.Context, due []broker.Member) (expired []Expiry, gone int, failed error) {
	ids := make([]bridge.ID, len(due))
	for n, m := range due {
		ids[n] = bridge.ID(m.Name)
	}
	all, err := in.Read(ctx, ids)
	if err != nil {
		return nil, 0, err
	}
	var tried []broker.Member
	var turns []*life.Turn
	var changes []broker.Change
	for n, f := range all {
		t, c, err := in.expiry(ctx, f, due[n])
		if t == nil {
			in.hub.wake(ids[n], nil) // the callers then read the new state
		}
		switch {
		case err != nil:
			in.log.Warn("deadline not applied", "id", ids[n], "again_in", expireLater, "error", err)
			in.aside.put(due[n], in.db.Now().Add(expireLater))
		case c.Empty(): // the interaction is due later than the index says
			in.aside.put(due[n], t.Life.Deadline)
		default:
			tried, turns, changes = append(tried, due[n]), append(turns, t), append(changes, c)
		}
	}
	for n, r := range in.db.DoAll(ctx, changes) {
		var stale *broker.Stale
		var untimely broker.Untimely
		switch {
		case errors.As(r.Err, &stale), errors.As(r.Err, &untimely):
			continue
		case r.Err != nil:
			in.aside.put(tried[n], in.db.Now().Add(expireSoon))
			if failed == nil {
				failed = documents.Public(r.Err)
			}
			continue
		}
		gone++
		if turns[n] != nil {
			after := in.announce(turns[n], changes[n], r.Done)
			expired = append(expired, Expiry{ID: turns[n].ID, State: after.State})
		}
	}
	return expired, gone, failed
}

// expiry returns the turn that applies a deadline, and its change. The change
// is empty if the deadline has not passed. For an interaction that is over or
// does not exist, there is no turn, and the change removes the deadline. If
// such an interaction still counts toward its agent's limit, the next opening
// that reaches the limit corrects the count. If a failover has dropped the
// resolution, that change fails, and the deadline stays.
func (in *interactions) expiry(ctx context.Context, f Found, m broker.Member) (*life.Turn, broker.Change, error) {
	switch {
	case bridge.ErrorCode(f.Err) == bridge.CodeNotFound, f.Err == nil && f.Problem == "" && f.Life.State != "":
		return nil, broker.Change{If: []broker.Version{f.LifeDoc.At()}, Unset: []broker.Member{m}, Urgent: true}, nil
	case f.Err != nil:
		return nil, broker.Change{}, f.Err
	case f.Problem != "": // another daemon may have the key that verifies it
		return nil, broker.Change{}, bridge.Errorf(bridge.CodeForbidden, "it does not verify: %s", f.Problem)
	}
	t := f.Begin(in.db.Now(), in.retention)
	if t.Expire() != life.Done {
		return t, broker.Change{}, nil
	}
	c, err := in.change(ctx, t)
	return t, c, err
}
