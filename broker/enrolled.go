package broker

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// Enrolled is the result of what the people under a prefix can sign with.
type Enrolled struct {
	Passkeys map[string]int  // number of valid passkeys, by person
	Codes    map[string]bool // people who have one-time codes
}

// ReadEnrolled returns what the people under a prefix can sign with. It needs
// no broker and does not check proofs, for which it would need keys.
func ReadEnrolled(ctx context.Context, client redis.UniversalClient, prefix string) (Enrolled, error) {
	out := Enrolled{Passkeys: map[string]int{}, Codes: map[string]bool{}}
	ps := passkeys{&core{client: client, keys: newKeys(prefix)}}
	all, err := ps.all(ctx)
	if err != nil {
		return out, err
	}
	for _, c := range all {
		if c.Valid() {
			out.Passkeys[c.Person]++
		}
	}
	people, err := client.HKeys(ctx, ps.keys.totp()).Result()
	for _, person := range people {
		out.Codes[person] = true
	}
	return out, unavailable(err)
}
