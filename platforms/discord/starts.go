package discord

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
)

// startGap is the minimum time between two session starts. Discord requires it
// for an application with a single shard.
const startGap = 5 * time.Second

// startLimit is the number of gateway sessions that the application may start.
// Discord resets the token of an application that starts more:
// docs.discord.com/developers/events/gateway#session-start-limit-object.
type startLimit struct {
	Total      int   `json:"total"`
	Remaining  int   `json:"remaining"`
	ResetAfter int64 `json:"reset_after"` // milliseconds
}

// resets returns the time when the count starts again.
func (l startLimit) resets() time.Duration { return time.Duration(l.ResetAfter) * time.Millisecond }

// wait returns the time until the next start. Once half of the starts are used,
// the other starts are spread over the rest of the period. The last hundredth
// is reserved for other processes.
func (l startLimit) wait(now, last time.Time, gap time.Duration) time.Duration {
	if l.Remaining <= l.Total/100 {
		return max(l.resets(), time.Second)
	}
	if 2*l.Remaining < l.Total {
		gap = max(gap, l.resets()/time.Duration(l.Remaining))
	}
	return max(0, last.Add(gap).Sub(now))
}

// address is the response of Get Gateway Bot.
type address struct {
	URL   string     `json:"url"`
	Limit startLimit `json:"session_start_limit"`
}

// gatewayAddress returns the address of the gateway and the number of remaining
// sessions.
func (a *api) gatewayAddress(ctx context.Context) (address, error) {
	var out address
	err := a.do(ctx, http.MethodGet, discordgo.EndpointGatewayBot, nil, &out)
	return out, err
}

// start returns the URL of the gateway as soon as a session may be started.
func (g *gateway) start(ctx context.Context, last time.Time) (string, error) {
	gap := startGap
	if g.unpaced {
		gap = 0
	}
	for {
		callCtx, cancel := context.WithTimeout(ctx, openTimeout)
		a, err := g.api.gatewayAddress(callCtx)
		cancel()
		if err != nil {
			return "", err
		}
		if a.URL == "" {
			return "", errors.New("discord: the gateway has no address")
		}
		wait := a.Limit.wait(time.Now(), last, gap)
		if wait == 0 {
			return a.URL, nil
		}
		if wait > startGap {
			until := time.Now().Add(wait).UTC().Format("15:04 UTC")
			g.health.Set(bridge.HealthDegraded, "too many gateway sessions were started; the next one starts at "+until)
			g.log.Warn("few gateway sessions left; waiting", "remaining", a.Limit.Remaining, "total", a.Limit.Total, "wait", wait)
		}
		if !bridge.Pause(ctx, wait) {
			return "", ctx.Err()
		}
	}
}
