package broker

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// ReadEnrolled returns the number of valid passkeys of each person under a
// prefix. It needs no broker and does not check proofs, for which it would need
// keys.
func ReadEnrolled(ctx context.Context, client redis.UniversalClient, prefix string) (map[string]int, error) {
	ps := passkeys{&core{client: client, keys: newKeys(prefix)}}
	all, err := ps.all(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for _, c := range all {
		if c.Valid() {
			out[c.Person]++
		}
	}
	return out, nil
}
