package redis

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// storedFormat is the format of all stored data. Raise it with every change
// after which an older daemon could misread the data, or a newer daemon could
// misread older data.
const storedFormat = 8

// installation is the document about an installation as a whole. The first daemon
// stores it, and it never changes.
type installation struct {
	Format int `json:"format"`
}

// checkInstallation returns CodeUnavailable if nod cannot use data of the format in
// the document of an installation.
func checkInstallation(prefix, raw string) error {
	var in installation
	if err := json.Unmarshal([]byte(raw), &in); err == nil && in.Format == storedFormat {
		return nil
	}
	hint := "use an empty Redis database or another redis.prefix: this nod cannot convert the data"
	if in.Format > storedFormat {
		hint = "run the version of nod that wrote the data, or use another redis.prefix"
	}
	return bridge.Errorf(bridge.CodeUnavailable,
		"the data in Redis under the prefix %q has format %d, but this nod needs format %d", prefix, in.Format, storedFormat).WithHint("%s", hint)
}

// claimInstallation reads the document of the installation, and stores it for a
// new installation.
func (s *Store) claimInstallation(ctx context.Context) error {
	fresh, err := json.Marshal(installation{storedFormat})
	if err != nil {
		return bridge.Wrap(bridge.CodeInternal, err, "installation")
	}
	raw, err := once(ctx, s.client, s.keys.installation(), string(fresh))
	if err != nil {
		return err
	}
	return checkInstallation(s.keys.prefix, raw)
}

// CheckFormat returns a function that must be called with each new connection
// to the Redis of the installation with a prefix. It refuses a connection to
// data that nod cannot use, because Redis may be restored or replaced while a
// daemon runs.
func CheckFormat(prefix string) func(context.Context, *rdb.Conn) error {
	prefix = cmp.Or(prefix, DefaultPrefix)
	return func(ctx context.Context, conn *rdb.Conn) error {
		raw, err := conn.Get(ctx, (keys{prefix}).installation()).Result()
		if _, refused := errors.AsType[rdb.Error](err); refused { // missing, or on another node of a Cluster
			return nil
		}
		if err != nil {
			return err
		}
		return checkInstallation(prefix, raw)
	}
}

// once returns the value of a key that is written only once: the stored value,
// or the given value for a new installation. If the key exists, it writes
// nothing, because a full Redis refuses writes, and a daemon must be able to
// start in that case.
func once(ctx context.Context, client rdb.UniversalClient, key, value string) (string, error) {
	stored, err := client.Get(ctx, key).Result()
	if errors.Is(err, rdb.Nil) {
		if err = client.SetNX(ctx, key, value, 0).Err(); err == nil {
			stored, err = client.Get(ctx, key).Result()
		}
	}
	return stored, unavailable(ctx, err)
}
