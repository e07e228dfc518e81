package platforms

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Rank is the priority of a call on a channel that is rate limited.
type Rank int

// The ranks of posts, from the highest priority to the lowest, and the rank of
// edits, which alternate with posts.
const (
	RankRest   Rank = iota // the rest of a text or card that people see in part
	RankAsk                // a card that needs a response
	RankNotice             // a card that needs no response
	RankEdit               // an update of a card, such as an outcome or a vote
)

// NextTurn returns the turn of the next message of an interaction, after sent
// parts of its text. A text whose start people can see is finished before
// another one begins.
func NextTurn(i bridge.Interaction, sent int) Turn {
	if sent > 0 {
		return Turn{Key: "rest " + string(i.ID), Rank: RankRest}
	}
	return Turn{Key: string(i.ID), Rank: RankOf(i)}
}

// RankOf returns the rank of posting an interaction.
func RankOf(i bridge.Interaction) Rank {
	if i.Kind == bridge.KindNotice {
		return RankNotice
	}
	return RankAsk
}

// Turn identifies a call and its priority.
type Turn struct {
	Key   string // identifies the call when it is retried
	Rank  Rank
	Calls int // calls that are made together; zero means one
}

// ErrAllChannels is wrapped by a rate limit error for calls to all channels.
var ErrAllChannels = errors.New("all channels are rate limited")

// Pacer keeps the calls to each channel within the rate limits of a platform.
// It shares them with the pacers of all daemons that have the same store. Holds
// that the platform imposes apply in addition. A call that has to wait longer
// than bridge.WaitForTurn keeps its place and is retried later. A Pacer is safe
// for concurrent use.
type Pacer struct {
	o Pace
}

// Pace configures a Pacer.
type Pace struct {
	Platform string // the configured name
	// Turns has the state of the limits. If it is nil, no call waits.
	Turns bridge.Turns
	// Channel has the limits of each channel, at least one. Their Lines are
	// prefixes of the ID of the channel.
	Channel []bridge.Limit
	// All has the limits of all channels together.
	All []bridge.Limit
	// Wide means that a refusal applies to the calls to all channels, even if
	// only one channel has too many calls.
	Wide bool
	// Off means that only the holds of the platform apply.
	Off bool
	Log *slog.Logger
}

// NewPacer returns a pacer.
func NewPacer(o Pace) *Pacer {
	o.Channel, o.All = slices.Clone(o.Channel), slices.Clone(o.All)
	for _, limits := range [][]bridge.Limit{o.Channel, o.All} {
		for n := range limits {
			limits[n].Margin = marginOf(limits[n])
			if o.Off {
				limits[n].Calls = 0
			}
		}
	}
	return &Pacer{o}
}

// Calls take different times to reach a platform. If that time differs by less
// than the margin, they stay within the limit.
const (
	leastMargin = 50 * time.Millisecond
	mostMargin  = 250 * time.Millisecond
	marginPart  = 50 // of the period
)

// marginOf returns the margin of a limit. The margin of a steady limit is used
// once, not in each period, so it can be large.
func marginOf(l bridge.Limit) time.Duration {
	if l.Steady {
		return mostMargin
	}
	return min(max(l.Period/marginPart, leastMargin), mostMargin)
}

// unnamedHold is the hold after a rate limit error without a wait time.
const unnamedHold = time.Second

// longestHold is the longest hold that a response can impose on all daemons. A
// platform that still limits the rate repeats its response.
const longestHold = time.Hour

// Do makes a call to the channel at its turn. If that takes longer than
// bridge.WaitForTurn, it returns an error with CodeRateLimited and the delay,
// which wraps bridge.ErrPaced. If the call returns another error with
// CodeRateLimited, further calls wait.
func (p *Pacer) Do(ctx context.Context, channel string, turn Turn, call func() error) error {
	if p.o.Turns == nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		return call()
	}
	c := p.call(channel, turn)
	delay, err := p.o.Turns.Turn(ctx, c)
	if err != nil {
		return err
	}
	if delay > bridge.WaitForTurn {
		e := bridge.Wrap(bridge.CodeRateLimited, bridge.ErrPaced, "channel %s is rate limited", channel)
		e.RetryAfter = delay
		return e
	}
	if delay > 0 && !bridge.Pause(ctx, delay) || ctx.Err() != nil {
		return ctx.Err()
	}
	err = call()
	limited, ok := errors.AsType[*bridge.Error](err)
	if ok && limited.Code == bridge.CodeRateLimited && !errors.Is(err, bridge.ErrPaced) {
		limit := 0
		if p.o.Wide || errors.Is(err, ErrAllChannels) {
			limit = len(p.o.Channel)
		}
		p.hold(ctx, c, limit, cmp.Or(limited.RetryAfter, unnamedHold))
	}
	return err
}

// Hold stops further calls to a channel for d.
func (p *Pacer) Hold(ctx context.Context, channel string, d time.Duration) {
	if p.o.Turns != nil {
		p.hold(ctx, p.call(channel, Turn{}), 0, d)
	}
}

func (p *Pacer) call(channel string, turn Turn) bridge.Call {
	limits := slices.Concat(p.o.Channel, p.o.All)
	for n := range p.o.Channel {
		limits[n].Line += channel
	}
	return bridge.Call{
		Platform: p.o.Platform, Key: turn.Key, Class: int(turn.Rank), Edit: turn.Rank == RankEdit, Calls: max(1, turn.Calls),
		Limits: limits,
	}
}

func (p *Pacer) hold(ctx context.Context, c bridge.Call, limit int, d time.Duration) {
	if err := p.o.Turns.HoldTurns(context.WithoutCancel(ctx), c, limit, min(d, longestHold)); err != nil {
		p.o.Log.Warn("rate limit not stored", "platform", p.o.Platform, "line", c.Limits[limit].Line, "error", err)
	}
}
