package broker

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// notes implements bridge.Notes.
type notes struct{ *core }

// PutNote implements bridge.Notes.
func (ns *notes) PutNote(ctx context.Context, key, value string, ttl time.Duration) (string, error) {
	set, err := ns.client.SetNX(ctx, ns.keys.note(key), value, ttl).Result()
	if err != nil {
		return "", unavailable(err)
	}
	if set {
		return value, nil
	}
	return ns.Note(ctx, key)
}

// SetNote implements bridge.Notes.
func (ns *notes) SetNote(ctx context.Context, key, value string, ttl time.Duration) error {
	return unavailable(ns.client.Set(ctx, ns.keys.note(key), value, ttl).Err())
}

// Note implements bridge.Notes.
func (ns *notes) Note(ctx context.Context, key string) (string, error) {
	v, err := ns.client.Get(ctx, ns.keys.note(key)).Result()
	if errors.Is(err, redis.Nil) {
		return "", nil
	}
	return v, unavailable(err)
}

// ReadNote returns a note under a prefix as it is stored, with its proof if it has
// one. It needs no broker.
func ReadNote(ctx context.Context, client redis.UniversalClient, prefix, key string) (string, error) {
	return (&notes{&core{client: client, keys: newKeys(prefix)}}).Note(ctx, key)
}

// DropNote implements bridge.Notes.
func (ns *notes) DropNote(ctx context.Context, key string) error {
	return unavailable(ns.client.Del(ctx, ns.keys.note(key)).Err())
}

// leases implements bridge.Leases.
type leases struct{ *core }

// Hold implements bridge.Leases.
func (le *leases) Hold(ctx context.Context, name, holder string, ttl time.Duration) (bool, error) {
	n, err := le.scripts.lease.Run(ctx, le.client, []string{le.keys.lease(name)}, holder, ttl.Milliseconds()).Int()
	return n == 1, unavailable(err)
}

// Release implements bridge.Leases.
func (le *leases) Release(ctx context.Context, name, holder string) error {
	return unavailable(le.scripts.lease.Run(ctx, le.client, []string{le.keys.lease(name)}, holder, 0).Err())
}
