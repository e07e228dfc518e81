package daemon

import (
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limits of what is tried without success: sign-ins and tokens.
const (
	signInBurst     = 10               // of an address, before it has to wait
	guessBurst      = 30               // the same, for tokens of the API
	attemptsEvery   = 10 * time.Second // between attempts of an address after that
	overallBurst    = 100              // of all addresses
	overallEvery    = time.Second
	attemptsTracked = 10_000 // addresses
)

// attempts counts what failed, by address and in all. It is safe for
// concurrent use.
type attempts struct {
	burst int // of an address

	mu      sync.Mutex
	overall *rate.Limiter
	from    map[string]*tries
	now     func() time.Time
}

// tries are those of an address.
type tries struct {
	*rate.Limiter
	last time.Time
}

func newAttempts(burst int) *attempts {
	return &attempts{burst: burst, overall: rate.NewLimiter(rate.Every(overallEvery), overallBurst), from: map[string]*tries{}, now: time.Now}
}

// failed notes one more, and returns how long the sender has to wait before
// the next; 0 if it has not failed often enough.
func (a *attempts) failed(r *http.Request) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	t := a.of(r, now)
	t.last = now
	a.overall.AllowN(now, 1)
	t.AllowN(now, 1)
	return a.wait(t, now)
}

// blocked returns how long the sender of a request has to wait before it may
// try to sign in.
func (a *attempts) blocked(r *http.Request) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	return a.wait(a.of(r, now), now)
}

// wait returns the time until both limits allow one more.
func (a *attempts) wait(t *tries, now time.Time) time.Duration {
	var longest time.Duration
	for _, l := range []*rate.Limiter{t.Limiter, a.overall} {
		if missing := 1 - l.TokensAt(now); missing > 0 {
			longest = max(longest, time.Duration(missing/float64(l.Limit())*float64(time.Second)))
		}
	}
	return longest
}

// of returns the tries of an address: of an IPv6 one, its network.
func (a *attempts) of(r *http.Request, now time.Time) *tries {
	key := networkOf(r.RemoteAddr)
	t, ok := a.from[key]
	if !ok {
		if len(a.from) >= attemptsTracked {
			for k, old := range a.from {
				if now.Sub(old.last) > time.Duration(a.burst)*attemptsEvery {
					delete(a.from, k)
				}
			}
			if len(a.from) >= attemptsTracked {
				clear(a.from) // the limit of all addresses still holds
			}
		}
		t = &tries{Limiter: rate.NewLimiter(rate.Every(attemptsEvery), a.burst)}
		a.from[key] = t
	}
	return t
}

// networkOf is the IPv4 address, or the /64 of an IPv6 address.
func networkOf(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
	ip := net.ParseIP(host)
	if ip == nil || ip.To4() != nil {
		return host
	}
	return ip.Mask(net.CIDRMask(64, 128)).String()
}
