package engine

import (
	"context"
	"slices"

	"github.com/nodbridge/nod/bridge"
)

// link returns the URL of the card of a record. Of several cards, it prefers one
// in the given channels of a platform, and then one on this platform. It is empty
// if no card is posted, or none has a URL.
func (c *cards) link(ctx context.Context, r bridge.Record, platform string, channels []string) (string, error) {
	posted := r.Messages
	if r.Batch != "" {
		first, err := c.records.Load(ctx, r.Batch)
		if err != nil {
			return "", err
		}
		posted = first.Messages
	}
	all := r.Interaction.Destinations
	distance := func(n int) int {
		switch d := all[n]; {
		case d.Platform != platform:
			return 2
		case !slices.Contains(channels, d.Channel):
			return 1
		}
		return 0
	}
	order := make([]int, len(all))
	for n := range all {
		order[n] = n
	}
	slices.SortStableFunc(order, func(a, b int) int { return distance(a) - distance(b) })
	for _, n := range order {
		p, ok := c.platforms[all[n].Platform].(bridge.Linker)
		ref, shown := posted[n]
		if !ok || !shown {
			continue
		}
		if at := p.Link(ctx, ref); at != "" {
			return at, nil
		}
	}
	return "", nil
}
