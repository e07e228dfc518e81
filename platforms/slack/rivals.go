package slack

import (
	"context"
	"time"
)

const (
	// lookEvery is the time after which a new connection learns how many there are.
	lookEvery = 2 * time.Minute
	// lookAgain is the time after which it learns that again if there were too many:
	// the connection of a daemon that has just stopped may still count.
	lookAgain = 5 * time.Second
	// rivalEvery is the time between two looks while there is a rival.
	rivalEvery = time.Minute
	countTime  = 2 * time.Second
)

// rivals notices other programs that receive with the app-level token of nod. Slack
// gives each payload to one of the connections of an app, so that a rival takes a
// part of the clicks: docs.slack.dev/apis/events-api/using-socket-mode.
type rivals struct {
	*workspace
	doubted bool // there were too many connections
}

// count compares the number of connections with that of the daemons. It returns the
// time after which it has to be compared again.
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
	r.health.Warn("another program receives with the app-level token of this app, and takes a part of the clicks", 2*lookEvery)
	return rivalEvery
}
