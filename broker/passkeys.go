package broker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/passkey"
)

// passkeys implements passkey.Store.
type passkeys struct{ *core }

var _ passkey.Store = (*Broker)(nil)

// swapTries is the number of attempts to change a value that others change.
const swapTries = 10

// errUnchanged ends a change without an error.
var errUnchanged = errors.New("unchanged")

// swap changes a field of a hash with a function of its value, in one step. The
// value is empty if there is none. The function may be called again.
func (ps *passkeys) swap(ctx context.Context, key, field string, change func(stored string) (string, error)) error {
	for range swapTries {
		stored, err := ps.client.HGet(ctx, key, field).Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return unavailable(err)
		}
		next, err := change(stored)
		if errors.Is(err, errUnchanged) {
			return nil
		}
		if err != nil {
			return err
		}
		n, err := ps.scripts.swap.Run(ctx, ps.client, []string{key}, field, stored, next).Int()
		if err != nil {
			return unavailable(err)
		}
		if n == 1 {
			return nil
		}
	}
	return bridge.Errorf(bridge.CodeUnavailable, "the stored value changes too often; try again")
}

// all returns all keys, oldest first.
func (ps *passkeys) all(ctx context.Context) ([]passkey.Credential, error) {
	stored, err := ps.client.HVals(ctx, ps.keys.passkeys()).Result()
	if err != nil {
		return nil, unavailable(err)
	}
	var out []passkey.Credential
	for _, raw := range stored {
		c, err := decodePasskey(raw)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b passkey.Credential) int {
		if n := a.Created.Compare(b.Created); n != 0 {
			return n
		}
		return bytes.Compare(a.ID, b.ID)
	})
	return out, nil
}

func decodePasskey(raw string) (passkey.Credential, error) {
	var c passkey.Credential
	if err := json.Unmarshal([]byte(raw), &c); err != nil {
		return c, bridge.Wrap(bridge.CodeInternal, err, "stored passkey")
	}
	return c, nil
}

// Passkeys implements passkey.Store.
func (ps *passkeys) Passkeys(ctx context.Context, person string) ([]passkey.Credential, error) {
	all, err := ps.all(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(c passkey.Credential) bool { return c.Person != person }), nil
}

// PasskeyPeople implements passkey.Store.
func (ps *passkeys) PasskeyPeople(ctx context.Context) ([]string, error) {
	all, err := ps.all(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, c := range all {
		out = append(out, c.Person)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// AddPasskey implements passkey.Store. Two calls at the same moment may exceed
// MaxKeys by one.
func (ps *passkeys) AddPasskey(ctx context.Context, c passkey.Credential) error {
	mine, err := ps.Passkeys(ctx, c.Person)
	if err != nil {
		return err
	}
	mine = slices.DeleteFunc(mine, func(c passkey.Credential) bool { return !c.Valid() })
	if len(mine) >= passkey.MaxKeys {
		return bridge.Errorf(bridge.CodeConflict, "%s has %d passkeys already", c.Person, len(mine)).
			WithHint("revoke one that is no longer used")
	}
	return ps.swap(ctx, ps.keys.passkeys(), c.Name(), func(stored string) (string, error) {
		if stored != "" {
			return "", bridge.Errorf(bridge.CodeConflict, "this passkey is registered already")
		}
		return string(data(c)), nil
	})
}

// stored decodes the stored form of a key and checks that it is the same key.
func stored(raw string, c passkey.Credential) (passkey.Credential, error) {
	unknown := bridge.Errorf(bridge.CodeNotFound, "passkey %s of %s not found", c.Name(), c.Person)
	if raw == "" {
		return passkey.Credential{}, unknown
	}
	was, err := decodePasskey(raw)
	if err == nil && (was.Person != c.Person || !bytes.Equal(was.PublicKey, c.PublicKey)) {
		err = unknown
	}
	return was, err
}

// UsePasskey implements passkey.Store.
func (ps *passkeys) UsePasskey(ctx context.Context, c passkey.Credential) error {
	return ps.swap(ctx, ps.keys.passkeys(), c.Name(), func(raw string) (string, error) {
		was, err := stored(raw, c)
		switch {
		case bridge.ErrorCode(err) == bridge.CodeNotFound:
			return "", bridge.Wrap(bridge.CodeForbidden, err, "passkey: not known for this person")
		case err != nil:
			return "", err
		case !was.Valid():
			return "", bridge.Errorf(bridge.CodeForbidden, "passkey: this passkey was revoked")
		case !passkey.Grows(was.Counter, c.Counter):
			return "", bridge.Errorf(bridge.CodeForbidden, "passkey: the counter of this passkey went back, so a copy of it may exist")
		}
		return string(data(c)), nil
	})
}

// RevokePasskey implements passkey.Store.
func (ps *passkeys) RevokePasskey(ctx context.Context, c passkey.Credential) error {
	if c.Valid() {
		return bridge.Errorf(bridge.CodeInternal, "passkey: the time of the revocation is missing")
	}
	return ps.swap(ctx, ps.keys.passkeys(), c.Name(), func(raw string) (string, error) {
		was, err := stored(raw, c)
		switch {
		case err != nil:
			return "", err
		case !was.Valid():
			return "", errUnchanged
		}
		return string(data(c)), nil
	})
}
