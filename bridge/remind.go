package bridge

import (
	"slices"
	"time"
)

// minReminded is the minimum timeout for a reminder at a percentage. With a
// shorter timeout, people would read the reminder together with the card.
const minReminded = 2 * time.Minute

// RemindAfter is the time after which a pending request mentions the people
// whose response is missing: a percentage of its timeout, or a duration. The
// zero value means never.
type RemindAfter struct {
	Percent  int
	Duration time.Duration
}

// Steps returns the steps of a request including the reminder. It leaves out a
// reminder that would be due after the deadline.
func (a RemindAfter) Steps(steps []Step, timeout time.Duration) []Step {
	at := a.Duration
	if a.Percent > 0 && timeout >= minReminded {
		at = timeout * time.Duration(a.Percent) / 100
	}
	if at <= 0 || at >= timeout {
		return steps
	}
	return insert(steps, 0, Step{Remind: true}, Duration(at))
}

// AsksMore reports whether a step asks more people.
func (s Step) AsksMore() bool { return len(s.Ask) > 0 || s.Route != "" }

// AskMoreBy moves the first step that asks more people, and all steps before
// it, so that they are due within a time. It reports whether such a step
// exists.
func AskMoreBy(steps []Step, after time.Duration) ([]Step, bool) {
	n := slices.IndexFunc(steps, Step.AsksMore)
	if n < 0 {
		return steps, false
	}
	steps = slices.Clone(steps)
	left := Duration(after)
	for k := range n + 1 {
		steps[k].After = min(steps[k].After, left)
		left -= steps[k].After
	}
	return steps, true
}
