package engine

import (
	"context"
	"slices"

	"github.com/nodbridge/nod/bridge"
)

// link returns the URL of the card of a record. It prefers a card in the given
// channels of a platform, and then a card on this platform. The URL is empty if
// no card is posted, or if no card has a URL.
func (c *cards) link(ctx context.Context, r bridge.Record, platform string, channels []string) (string, error) {
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
		ref, shown := r.Messages[n]
		if !ok || !shown {
			continue
		}
		if at := p.Link(ctx, ref); at != "" {
			return at, nil
		}
	}
	return "", nil
}

// newer returns the URL of the card of the request that superseded a record.
// That card may be in a channel with other people, so nod shows only its URL.
func (c *cards) newer(ctx context.Context, r bridge.Record, destination int) (string, error) {
	if r.State != bridge.StateSuperseded || r.Next == "" {
		return "", nil
	}
	next, err := c.records.Load(ctx, r.Next)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return "", nil // the record has expired
	}
	if err != nil {
		return "", err
	}
	d := r.Interaction.Destinations[destination]
	return c.link(ctx, next, d.Platform, []string{d.Channel})
}

// linkBack requests an update of the cards of the request that a new card
// supersedes, so that they link to the new card. Cards that the new request
// took over already show it.
func (c *cards) linkBack(ctx context.Context, r bridge.Record) error {
	if r.Interaction.Previous == "" || r.Interaction.Root != "" {
		return nil
	}
	was, err := c.records.Load(ctx, r.Interaction.Previous)
	if bridge.ErrorCode(err) == bridge.CodeNotFound || err == nil && was.State != bridge.StateSuperseded {
		return nil
	}
	if err != nil {
		return err
	}
	for n := range was.Interaction.Destinations {
		if _, posted := was.Messages[n]; !posted {
			continue
		}
		if err := c.drawAgain(ctx, was, n); err != nil {
			return err
		}
	}
	return nil
}
