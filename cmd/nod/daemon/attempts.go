package daemon

import (
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limits of failed sign-ins and unknown API tokens.
const (
	signInBurst     = 10               // failed sign-ins before an address must wait
	guessBurst      = 30               // unknown API tokens before an address must wait
	attemptsEvery   = 10 * time.Second // minimum interval for an address after the burst
	overallBurst    = 100              // attempts of all addresses together
	overallEvery    = time.Second      // minimum interval for all addresses after the burst
	attemptsTracked = 10_000           // maximum number of tracked addresses
)

// attempts counts failed attempts by address and in total. It is safe for
// concurrent use.
type attempts struct {
	burst int // limit of an address

	mu      sync.Mutex
	overall *rate.Limiter
	from    map[string]*tries
	now     func() time.Time
}

// tries limits the attempts of one address.
type tries struct {
	*rate.Limiter
	last time.Time
}

func newAttempts(burst int) *attempts {
	return &attempts{burst: burst, overall: rate.NewLimiter(rate.Every(overallEvery), overallBurst), from: map[string]*tries{}, now: time.Now}
}

// failed records a failed attempt and returns how long the sender must wait
// before the next one. Zero means that the sender need not wait.
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

// wait returns the time until both limits allow another attempt.
func (a *attempts) wait(t *tries, now time.Time) time.Duration {
	var longest time.Duration
	for _, l := range []*rate.Limiter{t.Limiter, a.overall} {
		if missing := 1 - l.TokensAt(now); missing > 0 {
			longest = max(longest, time.Duration(missing/float64(l.Limit())*float64(time.Second)))
		}
	}
	return longest
}

// of returns the tries of the sender's address, or of its network for IPv6.
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
				clear(a.from) // the limit for all addresses still applies
			}
		}
		t = &tries{Limiter: rate.NewLimiter(rate.Every(attemptsEvery), a.burst)}
		a.from[key] = t
	}
	return t
}

// networkOf returns the IPv4 address, or the /64 network of an IPv6 address.
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
