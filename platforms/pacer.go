package platforms

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/nodbridge/nod/bridge"
)

// Rank is the priority of a send on a channel that is rate limited.
type Rank int

// The ranks, from the highest priority to the lowest.
const (
	RankEdit   Rank = iota // an update of a card, such as an outcome or a vote
	RankAsk                // a card that needs a response
	RankNotice             // a card that needs no response
	ranks
)

// NextTurn returns the turn of the next message of an interaction, after sent
// parts of its text. A text whose start people can see is finished before
// another one begins.
func NextTurn(i bridge.Interaction, sent int) Turn {
	if sent > 0 {
		return Turn{Key: "rest " + string(i.ID), Rank: RankEdit}
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

// Turn identifies a send and its priority.
type Turn struct {
	Key  string // identifies the send when it is retried
	Rank Rank
}

// Pacer keeps the sends to each channel below the rate limit of a platform.
// Holds that the platform imposes apply on top. A send that has to wait longer
// than a second gets a place in the line and is retried at that time. So every
// send gets its turn, and a higher rank goes first. It is safe for concurrent
// use.
type Pacer struct {
	every time.Duration
	burst int

	mu       sync.Mutex
	channels map[string]*line
}

// line holds the waiting sends of a channel.
type line struct {
	limiter *rate.Limiter
	held    time.Time
	next    [ranks]time.Time     // end of the line for each rank
	moved   [ranks]time.Time     // end of the sends that were moved behind a higher rank
	places  map[string]time.Time // times of the sends to be retried, by key
}

const (
	// patience is the longest time for which Wait blocks. A longer delay is
	// returned to the outbox, which does other work in the meantime.
	patience = time.Second
	// lost is the time after which a place is given up if its send is not
	// retried.
	lost = time.Minute
)

// NewPacer returns a pacer of one send per channel and interval, after a burst.
// With off, it applies only the holds that the platform imposes.
func NewPacer(every time.Duration, burst int, off bool) *Pacer {
	if off {
		every = 0
	}
	return &Pacer{every: every, burst: burst, channels: map[string]*line{}}
}

// Wait blocks until it is the turn of a send to the channel. If that takes
// longer than a second, it returns CodeRateLimited with the delay.
func (p *Pacer) Wait(ctx context.Context, channel string, turn Turn) error {
	delay := p.delay(channel, turn, time.Now())
	if delay > patience {
		e := bridge.Wrap(bridge.CodeRateLimited, bridge.ErrPaced, "channel %s is rate limited", channel)
		e.RetryAfter = delay
		return e
	}
	t := time.NewTimer(delay)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// delay returns how long it is until the turn of a send. A send whose turn is
// more than a second away gets a place in the line.
func (p *Pacer) delay(channel string, turn Turn, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.line(channel)
	place, waited := l.places[turn.Key]
	if waited && turn.Rank == RankEdit && !place.Before(l.held) { // an edit keeps its place
		if place.Sub(now) <= patience {
			delete(l.places, turn.Key)
		}
		return max(0, place.Sub(now))
	}
	r := l.limiter.ReserveN(now, 1)
	at := later(now.Add(r.DelayFrom(now)), l.held)
	for rank := range turn.Rank { // higher ranks go first
		if at.Before(l.next[rank]) {
			at = l.next[rank]
			if waited { // like all sends of its rank, in order
				at = later(at, l.moved[turn.Rank])
				l.moved[turn.Rank] = at.Add(p.every)
			}
		}
	}
	if !waited {
		at = later(at, l.next[turn.Rank])
	}
	if at.Sub(now) <= patience {
		delete(l.places, turn.Key)
		return at.Sub(now)
	}
	if turn.Rank != RankEdit {
		r.CancelAt(now)
	}
	l.places[turn.Key] = at
	l.next[turn.Rank] = later(l.next[turn.Rank], at.Add(p.every))
	l.forget(now)
	return at.Sub(now)
}

// line returns the line of a channel. The caller must hold p.mu.
func (p *Pacer) line(channel string) *line {
	l := p.channels[channel]
	if l == nil {
		l = &line{limiter: rate.NewLimiter(rate.Every(p.every), p.burst), places: map[string]time.Time{}}
		p.channels[channel] = l
	}
	return l
}

// forget drops the places of sends that were not retried.
func (l *line) forget(now time.Time) {
	for key, at := range l.places {
		if now.Sub(at) > lost {
			delete(l.places, key)
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Hold stops sends to a channel for d, as the platform requires.
func (p *Pacer) Hold(channel string, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line(channel).held = time.Now().Add(d)
}
