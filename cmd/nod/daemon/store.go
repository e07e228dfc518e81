package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/history"
	"github.com/nodbridge/nod/broker/memory"
	store "github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/config"
)

// keyring stores the keys that daemons share, and the fingerprints of the keys
// that each daemon uses. Package redis documents the methods.
type keyring interface {
	TokenKey(ctx context.Context) ([]byte, error)
	SigningKey(ctx context.Context) ([]byte, error)
	FormerSigningKey(ctx context.Context) ([]byte, error)
	KeysKey() string
	Keys(ctx context.Context) (string, error)
	ClaimKeys(ctx context.Context, fingerprint string) (string, error)
	SetKeys(ctx context.Context, fingerprint string) error
	Announce(ctx context.Context, fingerprint string) ([]string, error)
	Retire(ctx context.Context) error
	Running(ctx context.Context) (int, error)
}

var (
	_ keyring = (*store.Keyring)(nil)
	_ keyring = (*memory.Keyring)(nil)
)

// open opens the store in Redis, or in this process. It loads the keys first,
// because they seal the stored data.
func (d *Daemon) open(ctx context.Context, c config.Config) error {
	if d.redis == nil {
		d.keyring, d.db = memory.NewKeyring(), memory.New(d.seals)
	} else {
		d.redis.AddHook(d.observer.Hook())
		d.keyring = store.NewKeyring(d.redis, c.Redis.Prefix)
	}
	k, err := d.loadKeys(ctx, c)
	if err != nil {
		return err
	}
	d.sealsFor = c.Redis.Prefix
	d.seals.Use(k.signer.SealKeys(d.sealsFor))
	if d.redis != nil {
		db, err := store.New(ctx, store.Options{
			Client: d.redis, Prefix: c.Redis.Prefix, Seals: d.seals, WaitReplicas: c.Redis.WaitReplicas, Log: d.log,
		})
		if err != nil {
			return err
		}
		d.db, d.closeDB = db, db.Close
	}
	d.store, err = core.New(ctx, d.db, core.Options{Retention: time.Duration(c.Retention), Log: d.log, Ended: d.observer.Ended})
	d.history = history.New(d.db, d.store, d.log)
	return err
}

// loadKeys loads the keys of a config, and creates missing keys unless the
// daemon only opens requests.
func (d *Daemon) loadKeys(ctx context.Context, c config.Config) (keys, error) {
	if d.onlyOpens {
		return loadKeys(ctx, c, nil)
	}
	return loadKeys(ctx, c, d.keyring)
}

// closeStore stops the background work of the store.
func (d *Daemon) closeStore() error {
	var err error
	if d.store != nil {
		err = d.store.Close()
	}
	if d.closeDB != nil {
		err = errors.Join(err, d.closeDB())
	}
	return err
}
