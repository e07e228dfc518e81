package setup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/config"
)

// examineKeys says where the keys are that prove decisions, whether they
// protect them, whether all daemons that run have the same ones, and whether
// Redis takes callers without a password.
func (d *Doctor) examineKeys(ctx context.Context, c config.Config, client redis.UniversalClient) {
	const fix = "set token_key and receipts.key by env or file, alike for all daemons; nod init writes them"
	where := "in the config"
	if !c.TokenKey.Set() || !c.Receipts.Key.Set() {
		where = "in " + c.KeysFile
		_, err := os.Stat(c.KeysFile)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			d.add("keys", bridge.FindingWarning, "there are none yet: the daemon creates "+c.KeysFile+"; if it cannot, it keeps them in Redis, where they protect nothing", fix)
			where = ""
		case err != nil:
			d.add("keys", bridge.FindingFailed, "keys_file: "+err.Error(), "let the user that runs nod read it")
			where = ""
		}
	}
	if where != "" {
		d.add("keys", bridge.FindingOK, where+", not in Redis", "")
	}
	d.examineDaemonKeys(ctx, c, client)
	d.examinePassword(ctx, client)
}

// examineDaemonKeys compares the fingerprints that daemons announce.
func (d *Doctor) examineDaemonKeys(ctx context.Context, c config.Config, client redis.UniversalClient) {
	all, err := broker.Announced(ctx, client, c.Redis.Prefix)
	if err != nil || len(all) == 0 {
		return // redis.reach says it, or no daemon runs
	}
	slices.Sort(all)
	if len(all) > 1 {
		d.add("keys.daemons", bridge.FindingFailed, "the daemons that run sign with different keys: "+strings.Join(all, ", "),
			"give all of them the same token_key and receipts.key, or the same file of keys, and restart them")
		return
	}
	d.add("keys.daemons", bridge.FindingOK, "all daemons that run sign with the same keys", "")
}

// examinePassword reports whether Redis takes commands from anyone.
func (d *Doctor) examinePassword(ctx context.Context, client redis.UniversalClient) {
	one, ok := client.(*redis.Client)
	if !ok {
		return // of Sentinel and Cluster, each node has its own
	}
	o := *one.Options()
	o.Username, o.Password, o.CredentialsProvider, o.MaxRetries = "", "", nil, -1
	bare := redis.NewClient(&o)
	defer bare.Close()
	err := bare.Ping(ctx).Err()
	switch {
	case err == nil:
		d.add("redis.password", bridge.FindingWarning, "Redis takes commands from everyone who reaches it", "set requirepass of Redis, and redis.password or NOD_REDIS_PASSWORD of nod")
	case strings.HasPrefix(err.Error(), "NOAUTH"):
		d.add("redis.password", bridge.FindingOK, "Redis wants a password", "")
	}
}
