package bridge

import (
	"context"
	"time"
)

// Turns shares the rate limits of platforms between daemons. A platform asks
// for a turn before each call that is limited. All methods are safe for
// concurrent use.
type Turns interface {
	// Turn returns the time that a call must wait. If the wait is at most
	// WaitForTurn, the call has used its turn and must be made after the wait.
	// Otherwise, the call keeps its place in each line, and must ask again
	// after AskAgain.
	Turn(context.Context, Call) (time.Duration, error)
	// HoldTurns stops the calls of the limit with the given index for d,
	// because the platform requires it. The call that the platform refused goes
	// first afterward. Its Key is empty if no call was refused.
	HoldTurns(ctx context.Context, c Call, limit int, d time.Duration) error
}

// WaitForTurn is the longest time for which a worker waits for the turn of a
// call. For a longer wait, it returns the job to the outbox and does other
// work.
const WaitForTurn = 100 * time.Millisecond

// HalfwayFrom is the minimum wait for which a call asks again after half of the
// wait.
const HalfwayFrom = 20 * time.Second

// askEarly is subtracted from the wait after which a call asks again, so that
// the time until a worker takes the call does not delay its turn.
const askEarly = 4 * WaitForTurn / 5

// AskAgain returns the time after which a call with a delay asks again for its
// turn. After half of a long delay, fewer calls than expected may be ahead of
// it, because requests were cancelled.
func AskAgain(delay time.Duration) time.Duration {
	if delay < HalfwayFrom {
		return max(0, delay-askEarly)
	}
	return (delay / 2).Truncate(time.Millisecond)
}

// Call is a call that is subject to rate limits.
type Call struct {
	Platform string // configured name of the platform
	// Key identifies the call when it asks again. A call without a key is a new
	// one each time.
	Key string
	// Class is the priority among posts; lower classes go first. Calls of the
	// same class go in the order in which they asked.
	Class int
	// Edit means that the call changes a message. If posts and edits wait, they
	// alternate, beginning with a post.
	Edit bool
	// Calls is the number of calls that are made together. Zero means one.
	Calls int
	// Limits lists the limits that the call is subject to, beginning with the
	// limit of its channel.
	Limits []Limit
}

// Limit is a rate limit of a platform.
type Limit struct {
	Line string // subject of the limit, such as a channel
	// Calls is the number of calls that may be made in any Period. Zero means
	// that only HoldTurns limits the calls.
	Calls  int
	Period time.Duration
	// Steady means that one call becomes possible every Period/Calls. Unused
	// calls accumulate up to Calls.
	Steady bool
	// Margin is added once to the Period, because calls take different times to
	// reach the platform.
	Margin time.Duration
}
