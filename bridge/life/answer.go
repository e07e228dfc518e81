package life

import (
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Resolution closes an interaction with an answer or a cancellation. It has no
// effect after the deadline.
type Resolution struct {
	ID       bridge.ID
	Response bridge.Response
	Nonce    string // identifies repeats of this resolution
	// Expect is the value of Record.Amended when the response was checked. If
	// the stored value has changed, the resolution fails with CodeConflict. If
	// Expect is nil, there is no check.
	Expect *int
	// Awaited means that the resolution fails with CodeConflict if the request was
	// deferred, because its agent no longer waits.
	Awaited bool
	// Receipt is the receipt of a decision that a failover lost and that is now
	// recorded again. It is empty for a new decision, which gets a new receipt.
	Receipt string
	// Recorded is the time when the decision was first recorded, if a failover
	// lost it. A decision that was first recorded before the deadline still
	// counts after the deadline.
	Recorded time.Time
}

// Ballot is a vote on an interaction that requires several.
type Ballot struct {
	ID   bridge.ID
	Vote bridge.Vote
	// Covers holds the indexes into Placement.Slots that the voter counts
	// toward.
	Covers []int
	// Expect is the value of Record.Amended when the vote was checked. If the
	// stored value has changed, the vote fails with CodeConflict. If Expect is
	// nil, there is no check.
	Expect *int
	// Response is the response if this vote decides.
	Response bridge.Response
	Nonce    string
	// Receipt is the receipt of a decision that a failover lost, if this vote
	// made that decision. It stays the same if the same votes decide again.
	Receipt string
	// Recorded is the time when the vote was first recorded, if a failover lost
	// it. A vote that was first recorded before the deadline still counts after
	// it.
	Recorded time.Time
}
