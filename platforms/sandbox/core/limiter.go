package core

import (
	"slices"
	"time"
)

// Limiter counts the requests of each key in a token bucket.
type Limiter struct {
	off     bool
	buckets map[string]*bucket
	refused int
	early   time.Duration
}

// Refused returns the number of refused requests, and the longest time by which
// one of them came too early.
func (l *Limiter) Refused() (requests int, early time.Duration) { return l.refused, l.early }

// refuse counts a request that comes too early, and returns how early it is.
func (l *Limiter) refuse(early time.Duration) time.Duration {
	l.refused++
	l.early = max(l.early, early)
	return early
}

type bucket struct {
	tokens float64
	at     time.Time
	calls  []time.Time // calls in the current period, for TakeIn
}

// Take removes a token from a bucket of size burst that refills at rate tokens
// per second. If the bucket is empty, it returns the time until the next token.
func (l *Limiter) Take(key string, rate, burst float64) time.Duration {
	if l.off {
		return 0
	}
	now := time.Now()
	b := l.buckets[key]
	if b == nil {
		b = &bucket{tokens: burst, at: now}
		l.buckets[key] = b
	}
	b.tokens = min(burst, b.tokens+now.Sub(b.at).Seconds()*rate)
	b.at = now
	if b.tokens < 1 {
		return l.refuse(time.Duration((1 - b.tokens) / rate * float64(time.Second)))
	}
	b.tokens--
	return 0
}

// TakeIn counts a call of a key, which may make a number of calls in any
// period. If the key has no call left, it returns the time until the next one.
func (l *Limiter) TakeIn(key string, calls int, period time.Duration) time.Duration {
	if l.off {
		return 0
	}
	now := time.Now()
	b := l.buckets[key]
	if b == nil {
		b = &bucket{}
		l.buckets[key] = b
	}
	b.calls = slices.DeleteFunc(b.calls, func(at time.Time) bool { return now.Sub(at) >= period })
	if len(b.calls) >= calls {
		b.tokens = 0
		return l.refuse(b.calls[len(b.calls)-calls].Add(period).Sub(now))
	}
	b.calls = append(b.calls, now)
	b.tokens = float64(calls - len(b.calls))
	return 0
}

// Left returns the number of tokens that a key has left, and reports whether
// the key was ever used.
func (l *Limiter) Left(key string) (int, bool) {
	b := l.buckets[key]
	if b == nil {
		return 0, false
	}
	return int(b.tokens), true
}

// Reset returns the time until a key of TakeIn gets a call back, which is at
// most its period.
func (l *Limiter) Reset(key string, period time.Duration) time.Duration {
	b := l.buckets[key]
	if b == nil || len(b.calls) == 0 {
		return period
	}
	return min(period, max(time.Until(b.calls[0].Add(period)), time.Millisecond))
}
