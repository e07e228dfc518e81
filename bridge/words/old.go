package words

import (
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

const (
	// oldAfter is the age from which a command or a reply has no effect: platforms
	// keep some for a day, and what they are about has changed in the meantime.
	oldAfter = 5 * time.Minute
	// clockMargin is the difference between the clocks of a platform and of nod that
	// counts as none.
	clockMargin = 5 * time.Second
)

// Old reports whether something that was written at a time no longer has an effect.
// A zero time is never old.
func Old(at time.Time) bool { return !at.IsZero() && time.Since(at) > oldAfter }

// Before reports whether something was written before a state came about.
func Before(at, state time.Time) bool { return !at.IsZero() && state.After(at.Add(clockMargin)) }

// ArrivedOld tells a person that what was written has no effect. What names the
// effect that there is not.
func ArrivedOld(at time.Time, what string) string {
	return "You sent this at " + render.WhenExact(at) + ", and it arrived only now, " + bridge.Brief(time.Since(at).Round(time.Minute)) +
		" later. " + what
}

// What did not happen, for ArrivedOld, and replies to what was written before.
const (
	NotDoneOld     = "Nothing was changed. Send it again."
	NotRecordedOld = "Nothing was recorded."
	OlderThanStop  = "The session was stopped after you sent this. Nothing was changed. Send it again to resume it."
	OlderThan      = "This request was opened after you sent this. Nothing was changed. Send it again."
)
