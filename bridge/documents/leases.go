package documents

import (
	"context"
	"errors"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// Leases exclude other processes. They are safe for concurrent use.
type Leases struct{ db DB }

// NewLeases returns the leases in a database.
func NewLeases(db DB) Leases { return Leases{db} }

var leaseDocs = broker.NewDocs[string]("lease", 1)

// Hold acquires or extends a lease, and reports whether the holder now has the
// lease.
func (le Leases) Hold(ctx context.Context, name, holder string, ttl time.Duration) (bool, error) {
	held := false
	_, err := leaseDocs.Update(ctx, le.db, name, func(by *string, d *broker.Doc) (broker.Change, error) {
		if held = !d.Exists() || *by == holder; !held {
			return broker.Change{}, broker.ErrUnchanged
		}
		*by, d.Keep = holder, ttl
		return broker.Change{Urgent: true}, nil
	})
	return held && err == nil, Public(err)
}

// Fence returns the condition that no one else has held a lease since now. It returns
// CodeUnavailable if the holder does not have the lease.
func (le Leases) Fence(ctx context.Context, name, holder string) (broker.Version, error) {
	by, d, err := leaseDocs.Get(ctx, le.db, name)
	if err == nil && by != holder {
		err = bridge.Errorf(bridge.CodeUnavailable, "the lease %s has ended", name).WithHint("try again")
	}
	return d.At(), Public(err)
}

// Release ends a lease if the holder has it.
func (le Leases) Release(ctx context.Context, name, holder string) error {
	by, d, err := leaseDocs.Get(ctx, le.db, name)
	if err != nil || by != holder {
		return Public(err)
	}
	_, err = le.db.Do(ctx, broker.Change{Drop: []broker.Version{d.At()}, Urgent: true})
	var stale *broker.Stale
	if errors.As(err, &stale) {
		return nil // the lease has ended
	}
	return Public(err)
}
