package setup

import (
	"context"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	store "github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/config"
)

// examineKeys checks where the keys that sign decisions are stored, whether all
// running daemons have the same keys, and whether Redis requires a password.
func (d *Doctor) examineKeys(ctx context.Context, c config.Config, client redis.UniversalClient) {
	const fix = "set token_key and receipts.key from env or file, with the same values for all daemons; nod init writes them"
	var err error
	switch d.keys, err = daemon.Fingerprint(ctx, c); {
	case bridge.ErrorCode(err) == bridge.CodeNotFound:
		d.add("keys", bridge.FindingWarning, "no keys yet: the daemon creates "+c.KeysFile+"; if it cannot, it keeps the keys in Redis, where they protect nothing", fix)
	case err != nil:
		d.fail("keys", err)
	case c.TokenKey.Set() && c.Receipts.Key.Set():
		d.add("keys", bridge.FindingOK, "in the config, not in Redis", "")
	default:
		d.add("keys", bridge.FindingOK, "in "+c.KeysFile+", not in Redis", "")
	}
	d.examineDaemonKeys(ctx, c, client)
	d.examinePassword(ctx, client)
}

// examineDaemonKeys compares the fingerprints that daemons announce, and the
// fingerprint of the keys of the config.
func (d *Doctor) examineDaemonKeys(ctx context.Context, c config.Config, client redis.UniversalClient) {
	all, err := store.Announced(ctx, client, c.Redis.Prefix)
	if d.running = all; err != nil || len(all) == 0 {
		return // redis.reach reports the error, or no daemon is running
	}
	switch {
	case len(all) > 1:
		d.add("keys.daemons", bridge.FindingFailed, "the running daemons sign with different keys: "+strings.Join(all, ", "),
			"give all daemons the same token_key and receipts.key, or the same key file, and restart them")
	case d.keys != "" && d.keys != all[0]:
		d.add("keys.daemons", bridge.FindingFailed, "the running daemons sign with other keys ("+all[0]+") than those of this config ("+d.keys+")",
			"run nod doctor with the config and the variables of the running daemons")
	default:
		d.add("keys.daemons", bridge.FindingOK, "all running daemons sign with the same keys", "")
	}
}

// examinePassword checks whether Redis accepts commands without a password.
func (d *Doctor) examinePassword(ctx context.Context, client redis.UniversalClient) {
	one, ok := client.(*redis.Client)
	if !ok {
		return // with Sentinel and Cluster, each node has its own password
	}
	o := *one.Options()
	o.Username, o.Password, o.CredentialsProvider, o.MaxRetries = "", "", nil, -1
	bare := redis.NewClient(&o)
	defer bare.Close()
	err := bare.Ping(ctx).Err()
	switch {
	case err == nil:
		d.add("redis.password", bridge.FindingWarning, "Redis accepts commands without a password", "set requirepass in Redis, and redis.password or NOD_REDIS_PASSWORD for nod")
	case strings.HasPrefix(err.Error(), "NOAUTH"):
		d.add("redis.password", bridge.FindingOK, "Redis requires a password", "")
	}
}
