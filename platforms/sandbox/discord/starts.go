package discord

import (
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// starts counts the sessions that the bot has started. Discord resets the token
// of a bot that starts too many in a day:
// docs.discord.com/developers/events/gateway#session-start-limit-object.
type starts struct {
	used  int
	since time.Time // first start of the current period
	reset bool      // the service has reset the token
}

// startLimit returns the number of remaining starts, and the time until the
// next period. The caller holds the lock.
func (g *guild) startLimit() (left int, resets time.Duration) {
	if age := time.Since(g.starts.since); age < g.opts.StartsPer {
		return max(0, g.opts.Starts-g.starts.used), g.opts.StartsPer - age
	}
	return g.opts.Starts, g.opts.StartsPer
}

// started counts a start. It returns false if the token has been reset. The
// caller holds the lock.
func (g *guild) started() bool {
	if time.Since(g.starts.since) >= g.opts.StartsPer {
		g.starts.used, g.starts.since = 0, time.Now()
	}
	g.starts.used++
	if g.starts.used > g.opts.Starts {
		g.starts.reset = true
	}
	return !g.starts.reset
}

// gateway returns the address of the gateway and the session start limit. With
// the fault sessions, at most three starts remain.
func (api applicationsAPI) gateway(c *call) (int, any, *failure) {
	left, resets := api.startLimit()
	if c.spent {
		left = min(left, 3)
	}
	return 200, raw.Object{
		"url": core.SocketAddress(c.Request, "/discord/gateway"), "shards": 1,
		"session_start_limit": raw.Object{
			"total": api.opts.Starts, "remaining": left, "reset_after": resets.Milliseconds(), "max_concurrency": 1,
		},
	}, nil
}
