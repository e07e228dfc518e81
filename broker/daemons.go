package broker

import (
	"context"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// announcedFor is the time for which a daemon counts as running after its last
// Announce.
const announcedFor = time.Minute

// AnnounceEvery is the interval at which Announce has to be called.
const AnnounceEvery = 10 * time.Second

// KeysKey is the name under which Redis has the fingerprint of the keys that
// the deployment signs with.
func (b *Broker) KeysKey() string { return b.keys.keysID() }

// Keys returns the fingerprint of the keys that the deployment signs with. It
// is empty if its daemons have not recorded one.
func (b *Broker) Keys(ctx context.Context) (string, error) {
	s, err := b.client.Get(ctx, b.keys.keysID()).Result()
	if errors.Is(err, redis.Nil) {
		return "", nil
	}
	return s, unavailable(err)
}

// ClaimKeys records a fingerprint unless there is one, and returns the one that
// is recorded then.
func (b *Broker) ClaimKeys(ctx context.Context, fingerprint string) (string, error) {
	if err := b.client.SetNX(ctx, b.keys.keysID(), fingerprint, 0).Err(); err != nil {
		return "", unavailable(err)
	}
	return b.Keys(ctx)
}

// SetKeys records a fingerprint.
func (b *Broker) SetKeys(ctx context.Context, fingerprint string) error {
	return unavailable(b.client.Set(ctx, b.keys.keysID(), fingerprint, 0).Err())
}

// FormerSigningKey returns the seed that SigningKey made and keeps in Redis. It
// is nil if there is none.
func (b *Broker) FormerSigningKey(ctx context.Context) ([]byte, error) {
	s, err := b.client.Get(ctx, b.keys.signingKey()).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, unavailable(err)
	}
	seed, err := hex.DecodeString(s)
	if err != nil {
		return nil, nil //nolint:nilerr // it signed nothing that can be checked
	}
	return seed, nil
}

// Announce records that this daemon runs, and the fingerprint of its keys. It
// returns the fingerprints of all daemons that run.
func (b *Broker) Announce(ctx context.Context, fingerprint string) ([]string, error) {
	key := b.keys.daemons()
	_, err := b.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.HSet(ctx, key, b.node, fingerprint+" "+strconv.FormatInt(time.Now().UnixMilli(), 10))
		p.PExpire(ctx, key, announcedFor)
		return nil
	})
	if err != nil {
		return nil, unavailable(err)
	}
	return Announced(ctx, b.client, b.keys.prefix)
}

// Retire records that this daemon runs no more.
func (b *Broker) Retire(ctx context.Context) error {
	return unavailable(b.client.HDel(ctx, b.keys.daemons(), b.node).Err())
}

// Announced returns the fingerprints of the keys of the daemons that run on the
// deployment of a prefix.
func Announced(ctx context.Context, client redis.UniversalClient, prefix string) ([]string, error) {
	if prefix == "" {
		prefix = DefaultPrefix
	}
	all, err := client.HGetAll(ctx, keys{prefix: prefix}.daemons()).Result()
	if err != nil {
		return nil, unavailable(err)
	}
	seen := map[string]bool{}
	var out []string
	for _, v := range all {
		fingerprint, at, _ := strings.Cut(v, " ")
		ms, err := strconv.ParseInt(at, 10, 64)
		if err != nil || time.Since(time.UnixMilli(ms)).Abs() > announcedFor || seen[fingerprint] {
			continue
		}
		seen[fingerprint] = true
		out = append(out, fingerprint)
	}
	return out, nil
}
