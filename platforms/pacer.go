package platforms

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/nodbridge/nod/bridge"
)

// Rank is how soon something is sent when a channel has more to send than its
// service takes.
type Rank int

// The ranks, the most important first.
const (
	RankEdit   Rank = iota // what changes a card that people see: an outcome, a vote
	RankAsk                // a card that asks
	RankNotice             // what needs no answer
	ranks
)

// NextTurn is the turn of the next message of an interaction, after the parts
// of its text that were sent. A text that people see the start of is finished
// before another one is begun.
func NextTurn(i bridge.Interaction, sent int) Turn {
	if sent > 0 {
		return Turn{Key: "rest " + string(i.ID), Rank: RankEdit}
	}
	return Turn{Key: string(i.ID), Rank: RankOf(i)}
}

// RankOf is the rank of posting an interaction.
func RankOf(i bridge.Interaction) Rank {
	if i.Kind == bridge.KindNotice {
		return RankNotice
	}
	return RankAsk
}

// Turn is what somebody wants to send.
type Turn struct {
	Key  string // names it when it is repeated
	Rank Rank
}

// Pacer keeps sends to one channel below a service's rate. Holds imposed by
// the service outlast it. Who has to wait longer than a moment gets a place in
// the line, and is repeated then: so everybody's turn comes, and what is more
// important goes first. It is safe for concurrent use.
type Pacer struct {
	every time.Duration
	burst int

	mu       sync.Mutex
	channels map[string]*line
}

// line is what waits for a channel.
type line struct {
	limiter *rate.Limiter
	held    time.Time
	next    [ranks]time.Time     // end of the line of each rank
	moved   [ranks]time.Time     // end of those that let more important ones go first
	places  map[string]time.Time // of those that are repeated
}

const (
	// patience is how long a caller is kept; a longer delay is handed back to
	// the outbox, which has other work in the meantime.
	patience = time.Second
	// lost is after how long a place counts as given up.
	lost = time.Minute
)

// NewPacer returns a pacer of one send per channel and interval, after a
// burst. With off it only honours what the service demands.
func NewPacer(every time.Duration, burst int, off bool) *Pacer {
	if off {
		every = 0
	}
	return &Pacer{every: every, burst: burst, channels: map[string]*line{}}
}

// Wait returns when it is the turn to send to the channel, or CodeRateLimited
// with the delay if that takes longer than a second.
func (p *Pacer) Wait(ctx context.Context, channel string, turn Turn) error {
	delay := p.delay(channel, turn, time.Now())
	if delay > patience {
		e := bridge.Wrap(bridge.CodeRateLimited, bridge.ErrPaced, "%s has more to show than its service takes", channel)
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

// delay is how long the turn takes to come. One that is more than a moment
// away has a place in the line from then on.
func (p *Pacer) delay(channel string, turn Turn, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.line(channel)
	place, waited := l.places[turn.Key]
	if waited && turn.Rank == RankEdit && !place.Before(l.held) { // its turn is kept
		if place.Sub(now) <= patience {
			delete(l.places, turn.Key)
		}
		return max(0, place.Sub(now))
	}
	r := l.limiter.ReserveN(now, 1)
	at := later(now.Add(r.DelayFrom(now)), l.held)
	for rank := range turn.Rank { // who is more important goes first
		if at.Before(l.next[rank]) {
			at = l.next[rank]
			if waited { // as everybody of its rank, in their order
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

// line is that of a channel; p.mu is held.
func (p *Pacer) line(channel string) *line {
	l := p.channels[channel]
	if l == nil {
		l = &line{limiter: rate.NewLimiter(rate.Every(p.every), p.burst), places: map[string]time.Time{}}
		p.channels[channel] = l
	}
	return l
}

// forget drops the places of those that did not are repeated.
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

// Hold stops sends to a channel for d, as the service demanded.
func (p *Pacer) Hold(channel string, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line(channel).held = time.Now().Add(d)
}
