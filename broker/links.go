package broker

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// links implements bridge.Links.
type links struct{ *core }

// Linked implements bridge.Links.
func (ls *links) Linked(ctx context.Context, platform, user string) (bridge.Link, error) {
	raw, err := ls.client.HGet(ctx, ls.keys.links(), platform+"/"+user).Result()
	if errors.Is(err, redis.Nil) {
		return bridge.Link{}, nil
	}
	if err != nil {
		return bridge.Link{}, unavailable(err)
	}
	return decodeLink(raw)
}

func decodeLink(raw string) (bridge.Link, error) {
	var l bridge.Link
	if err := json.Unmarshal([]byte(raw), &l); err != nil {
		return l, bridge.Wrap(bridge.CodeInternal, err, "stored link")
	}
	return l, nil
}

// PutLink implements bridge.Links.
func (ls *links) PutLink(ctx context.Context, l bridge.Link) error {
	return unavailable(ls.client.HSet(ctx, ls.keys.links(), l.Platform+"/"+l.User, data(l)).Err())
}

// DropLink implements bridge.Links.
func (ls *links) DropLink(ctx context.Context, platform, user string) (bool, error) {
	n, err := ls.client.HDel(ctx, ls.keys.links(), platform+"/"+user).Result()
	return n > 0, unavailable(err)
}

// Links implements bridge.Links.
func (ls *links) Links(ctx context.Context) ([]bridge.Link, error) {
	all, err := ls.client.HGetAll(ctx, ls.keys.links()).Result()
	if err != nil {
		return nil, unavailable(err)
	}
	out := make([]bridge.Link, 0, len(all))
	for _, account := range slices.Sorted(maps.Keys(all)) {
		l, err := decodeLink(all[account])
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}
