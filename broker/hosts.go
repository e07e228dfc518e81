package broker

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// hosts implements bridge.Hosts.
type hosts struct{ *core }

// PutHost implements bridge.Hosts.
func (hs *hosts) PutHost(ctx context.Context, h bridge.HostCoverage) error {
	key, field := hs.keys.hosts(), h.Reporter+ownerMark+h.Host+ownerMark+h.User
	known, err := hs.client.HExists(ctx, key, field).Result()
	if err != nil {
		return unavailable(err)
	}
	if !known {
		kept, err := hs.ListHosts(ctx)
		if err != nil {
			return err
		}
		if len(kept) >= bridge.MaxHosts {
			return bridge.Errorf(bridge.CodeRateLimited, "too many hosts (at most %d)", bridge.MaxHosts).
				WithHint("reports are dropped after %d days", int(bridge.HostRetention/(24*time.Hour)))
		}
	}
	if err := hs.client.HSet(ctx, key, field, data(h)).Err(); err != nil {
		return unavailable(err)
	}
	return unavailable(hs.client.Expire(ctx, key, bridge.HostRetention).Err())
}

// ListHosts implements bridge.Hosts. It drops old reports, and those that it
// cannot read.
func (hs *hosts) ListHosts(ctx context.Context) ([]bridge.HostCoverage, error) {
	all, err := hs.client.HGetAll(ctx, hs.keys.hosts()).Result()
	if err != nil {
		return nil, unavailable(err)
	}
	var out []bridge.HostCoverage
	var old []string
	for field, raw := range all {
		var h bridge.HostCoverage
		if json.Unmarshal([]byte(raw), &h) != nil || time.Since(h.At) > bridge.HostRetention {
			old = append(old, field)
			continue
		}
		out = append(out, h)
	}
	if len(old) > 0 {
		err = hs.client.HDel(ctx, hs.keys.hosts(), old...).Err()
	}
	return out, unavailable(err)
}
