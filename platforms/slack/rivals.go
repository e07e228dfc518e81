package slack

import (
	"context"
	"time"
)

const (
	// lookEvery is the interval at which a new connection finds out the number
	// of connections.
	lookEvery = 2 * time.Minute
	// lookAgain is the interval after a result with too many connections. The
	// connection of a daemon that was stopped recently may still count.
	lookAgain = 5 * time.Second
	// rivalEvery is the interval while a rival is known.
	rivalEvery = time.Minute
	countTime  = 2 * time.Second
)

// rivals detects other programs that receive events with nod's app-level token.
// Slack sends each payload to only one of the connections of an app, so a rival
// receives some of the clicks:
// docs.slack.dev/apis/events-api/using-socket-mode.
type rivals struct {
	*workspace
	doubted bool // the last check found too many connections
}

// count compares the number of connections with the number of daemons. It
// returns the time after which to compare them again.
func (r *rivals) count(ctx context.Context, connections int) time.Duration {
	daemons := 1
	if r.daemons != nil {
		ctx, cancel := context.WithTimeout(ctx, countTime)
		defer cancel()
		n, err := r.daemons(ctx)
		if err != nil {
			r.log.Debug("daemons not counted", "platform", r.name, "error", err)
			return lookEvery
		}
		daemons = max(n, 1)
	}
	switch {
	case connections <= daemons:
		r.doubted = false
		r.health.Warn("", 0)
		return lookEvery
	case !r.doubted:
		r.doubted = true
		return lookAgain
	}
	r.health.Warn("another program uses the app-level token of this app, and receives some of the clicks", 2*lookEvery)
	return rivalEvery
}
