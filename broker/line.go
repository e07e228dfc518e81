package broker

import (
	"context"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

const (
	// lineLength is the maximum number of cards in a line. Further cards are
	// posted without an order.
	lineLength = 4096
	lineKept   = 10 * time.Minute // in addition to the time that cards are held back
)

// lines implements bridge.Lines. A card joins its line in the pipeline of its
// opening and leaves it in the pipeline that releases its job, so that both cost
// no round trip. The order is that of the openings at Redis, so it does not
// depend on the clocks of daemons.
type lines struct{ *core }

// join returns the commands that put the cards of an opening into their lines.
// It returns nil for an opening without cards of its own.
func (l lines) join(ctx context.Context, o bridge.Opening) func(redis.Pipeliner) {
	if !queues(o) {
		return nil
	}
	return func(p redis.Pipeliner) {
		l.each(o, func(key string) {
			p.RPush(ctx, key, string(o.Interaction.ID))
			p.LTrim(ctx, key, 0, lineLength-1)
			p.PExpire(ctx, key, lineKept+o.Interaction.HeldBack())
		})
	}
}

// leave takes the cards of an opening that has none after all out of their lines:
// it stored nothing, or it joined a batch. If it fails, other cards overtake them.
func (l lines) leave(ctx context.Context, o bridge.Opening) {
	if !queues(o) {
		return
	}
	_, err := l.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		l.each(o, func(key string) { p.LRem(ctx, key, 1, string(o.Interaction.ID)) })
		return nil
	})
	if err != nil {
		l.log.Debug("card not taken out of its line", "id", o.Interaction.ID, "error", err)
	}
}

func (l lines) each(o bridge.Opening, do func(key string)) {
	for n := range o.Interaction.Destinations {
		if o.Failures[n] == "" {
			do(l.keys.line(o.Interaction.Line(n)))
		}
	}
}

// queues reports whether an opening can have cards of its own.
func queues(o bridge.Opening) bool { return o.Response == nil && o.Interaction.Root == "" }

// Ahead implements bridge.Lines.
func (l lines) Ahead(ctx context.Context, line string, id bridge.ID) ([]bridge.ID, bool, error) {
	all, err := l.client.LRange(ctx, l.keys.line(line), 0, -1).Result()
	if err != nil {
		return nil, false, unavailable(err)
	}
	at := slices.Index(all, string(id))
	if at < 0 {
		return nil, false, nil
	}
	var ahead []bridge.ID
	for _, other := range all[:at] {
		ahead = append(ahead, bridge.ID(other))
	}
	return ahead, true, nil
}

// Overtake implements bridge.Lines.
func (l lines) Overtake(ctx context.Context, line string, ids []bridge.ID) error {
	_, err := l.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, id := range ids {
			p.LRem(ctx, l.keys.line(line), 1, string(id))
		}
		return nil
	})
	return unavailable(err)
}
