package discord

import (
	"slices"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// Edits of messages older than an hour have a separate limit, which Discord
// does not publish. A developer reported three in 20 seconds for each channel:
// discord/discord-api-docs#4413.
const (
	oldAfter    = time.Hour
	oldEdits    = 3
	oldEditsPer = 20 * time.Second
)

// backdate makes a new message two hours old.
func backdate(m raw.Object, id int64) {
	const age = 2 * oldAfter
	m["id"] = snowflakeText(id - age.Milliseconds()<<22)
	m["timestamp"] = time.Now().Add(-age).UTC().Format(time.RFC3339Nano)
}

// mayEdit counts an edit of an old message, and reports whether the channel
// accepts it. The caller holds the lock.
func (g *guild) mayEdit(ch *channel, m raw.Object) bool {
	sent, err := time.Parse(time.RFC3339Nano, raw.Str(m, "timestamp"))
	if err != nil || time.Since(sent) < oldAfter {
		return true
	}
	ch.edits = slices.DeleteFunc(ch.edits, func(at time.Time) bool { return time.Since(at) > oldEditsPer })
	if len(ch.edits) >= oldEdits {
		return false
	}
	ch.edits = append(ch.edits, time.Now())
	return true
}
