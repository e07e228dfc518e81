package redis

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// announcedFor is the time for which a daemon counts as running after its last
// Announce.
const announcedFor = time.Minute

// AnnounceEvery is the interval at which Announce must be called.
const AnnounceEvery = 10 * time.Second

// Keyring keeps the keys that the daemons of a deployment share, and the
// fingerprints of the keys that each daemon uses.
type Keyring struct {
	client rdb.UniversalClient
	keys   keys
	node   string
}

// NewKeyring returns the keyring of the installation with a prefix, which is
// DefaultPrefix if it is empty.
func NewKeyring(client rdb.UniversalClient, prefix string) *Keyring {
	return &Keyring{client, keys{cmp.Or(prefix, DefaultPrefix)}, uuid.NewString()[:nodeName]}
}

// TokenKey returns the key that signs controls. The first start of a deployment
// generates it, and its daemons share it.
func (kr *Keyring) TokenKey(ctx context.Context) ([]byte, error) {
	return kr.sharedKey(ctx, kr.keys.tokenKey(), bridge.MinKey)
}

// SigningKey returns the seed of the key that signs receipts. The first start
// of a deployment generates it, and its daemons share it.
func (kr *Keyring) SigningKey(ctx context.Context) ([]byte, error) {
	return kr.sharedKey(ctx, kr.keys.signingKey(), ed25519.SeedSize)
}

func (kr *Keyring) sharedKey(ctx context.Context, name string, size int) ([]byte, error) {
	fresh := make([]byte, size)
	rand.Read(fresh)
	s, err := once(ctx, kr.client, name, hex.EncodeToString(fresh))
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(s)
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "key %s in redis", name)
	}
	return key, nil
}

// FormerSigningKey returns the seed that SigningKey generated and keeps in
// Redis, or nil if there is none.
func (kr *Keyring) FormerSigningKey(ctx context.Context) ([]byte, error) {
	s, err := kr.client.Get(ctx, kr.keys.signingKey()).Result()
	if errors.Is(err, rdb.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, unavailable(ctx, err)
	}
	seed, err := hex.DecodeString(s)
	if err != nil {
		return nil, nil //nolint:nilerr // no signature of such a key can be verified
	}
	return seed, nil
}

// KeysKey returns the name of the Redis key that holds the fingerprint of the
// keys that the deployment signs with.
func (kr *Keyring) KeysKey() string { return kr.keys.keysID() }

// Keys returns the fingerprint of the keys that the deployment signs with. It
// is empty if no daemon has recorded one.
func (kr *Keyring) Keys(ctx context.Context) (string, error) {
	s, err := kr.client.Get(ctx, kr.keys.keysID()).Result()
	if errors.Is(err, rdb.Nil) {
		return "", nil
	}
	return s, unavailable(ctx, err)
}

// ClaimKeys records a fingerprint unless one is recorded already, and returns
// the recorded one.
func (kr *Keyring) ClaimKeys(ctx context.Context, fingerprint string) (string, error) {
	return once(ctx, kr.client, kr.keys.keysID(), fingerprint)
}

// SetKeys records a fingerprint, replacing any other.
func (kr *Keyring) SetKeys(ctx context.Context, fingerprint string) error {
	return unavailable(ctx, kr.client.Set(ctx, kr.keys.keysID(), fingerprint, 0).Err())
}

// Announce records that this daemon is running, and the fingerprint of its
// keys. It returns the fingerprints of all running daemons.
func (kr *Keyring) Announce(ctx context.Context, fingerprint string) ([]string, error) {
	key := kr.keys.daemons()
	err := transact(ctx, kr.client, func(p rdb.Pipeliner) error {
		p.HSet(ctx, key, kr.node, fingerprint+" "+strconv.FormatInt(time.Now().UnixMilli(), 10))
		p.PExpire(ctx, key, announcedFor)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return Announced(ctx, kr.client, kr.keys.prefix)
}

// Retire records that this daemon has stopped.
func (kr *Keyring) Retire(ctx context.Context) error {
	return unavailable(ctx, kr.client.HDel(ctx, kr.keys.daemons(), kr.node).Err())
}

// Running returns the number of daemons that are running.
func (kr *Keyring) Running(ctx context.Context) (int, error) {
	all, err := running(ctx, kr.client, kr.keys.prefix)
	return len(all), err
}

// running returns the fingerprint of each running daemon.
func running(ctx context.Context, client rdb.UniversalClient, prefix string) ([]string, error) {
	all, err := client.HGetAll(ctx, (keys{prefix}).daemons()).Result()
	if err != nil {
		return nil, unavailable(ctx, err)
	}
	var out []string
	for _, v := range all {
		fingerprint, at, _ := strings.Cut(v, " ")
		if ms, err := strconv.ParseInt(at, 10, 64); err == nil && time.Since(time.UnixMilli(ms)).Abs() <= announcedFor {
			out = append(out, fingerprint)
		}
	}
	return out, nil
}

// Announced returns the fingerprints of the keys of the daemons that are
// running on the deployment with a prefix.
func Announced(ctx context.Context, client rdb.UniversalClient, prefix string) ([]string, error) {
	if prefix == "" {
		prefix = DefaultPrefix
	}
	all, err := running(ctx, client, prefix)
	slices.Sort(all)
	return slices.Compact(all), err
}
