package core

import "time"

// Limiter counts the requests of each key in a token bucket.
type Limiter struct {
	off     bool
	buckets map[string]*bucket
}

type bucket struct {
	tokens float64
	at     time.Time
}

// Take uses one of burst tokens that come back at rate per second. If none is
// left, it returns how long to wait.
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
		return time.Duration((1 - b.tokens) / rate * float64(time.Second))
	}
	b.tokens--
	return 0
}

// Left returns how many tokens a key has left, and whether it was ever used.
func (l *Limiter) Left(key string) (int, bool) {
	b := l.buckets[key]
	if b == nil {
		return 0, false
	}
	return int(b.tokens), true
}
