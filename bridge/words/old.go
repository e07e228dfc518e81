package words

import (
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

const (
	// oldAfter is the age after which a command or a reply has no effect.
	// Platforms keep some of them for a day, and the request has changed in the
	// meantime.
	oldAfter = 5 * time.Minute
	// clockMargin is the difference between the clocks of a platform and of nod
	// that is ignored.
	clockMargin = 5 * time.Second
)

// Old reports whether a text that was written at a time no longer has an
// effect. A zero time is never old.
func Old(at time.Time) bool { return !at.IsZero() && time.Since(at) > oldAfter }

// Before reports whether a text was written before a state was reached.
func Before(at, state time.Time) bool { return !at.IsZero() && state.After(at.Add(clockMargin)) }

// ArrivedOld tells a person that a late text has no effect. What names the
// missing effect.
func ArrivedOld(at time.Time, what string) string {
	return "You sent this at " + render.WhenExact(at) + ", and it arrived only now, " + bridge.Brief(time.Since(at).Round(time.Minute)) +
		" later. " + what
}

// Missing effects for ArrivedOld, and replies to texts that were written before
// a change.
const (
	NotDoneOld     = "Nothing was changed. Send it again."
	NotRecordedOld = "Nothing was recorded."
	OlderThanStop  = "The session was stopped after you sent this. Nothing was changed. Send it again to resume it."
	OlderThan      = "This request was opened after you sent this. Nothing was changed. Send it again."
)
