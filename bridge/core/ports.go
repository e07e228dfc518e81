package core

import (
	"context"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

// Port holds the methods of a [Store] that the engine and the rooms call. Observers wrap it, and tests of single
// parts replace it. Every method is atomic, safe for concurrent use and safe to repeat. A
// method returns CodeUnavailable if the database is unreachable. Returned records may share
// memory, so callers must not change what they point to.
type Port interface {
	Interactions
	Outbox
}

// ChangedError is the error of an opening if a document on which it depends has changed
// since it was read.
type ChangedError struct{ Doc broker.Doc }

// Error implements error.
func (e *ChangedError) Error() string { return "the " + e.Doc.Kind + " was changed in the meantime" }

// Also returns additions to the change that stores a decision or a vote. Its
// argument is the record after that change. If another process changes the
// documents first, Also is called again.
type Also func(context.Context, bridge.Record) (broker.Change, error)

// Interactions opens interactions, keeps them, and closes each with the first answer.
type Interactions interface {
	// Open stores a new interaction with its posting jobs, and returns its
	// record and true. It returns an earlier record and false if the call
	// repeats an earlier one (see [bridge.Identity.Repeat]), or if the request
	// joins a pending duplicate. It returns these errors:
	//   - CodeConflict, if a caller's key was used with another digest
	//   - a RepeatedError, if the answer to the earlier call was already sent
	//   - a ChangedError, if one of the documents has another version
	//   - CodeRateLimited, if too many requests of the agent are pending
	Open(context.Context, life.Opening, ...broker.Version) (bridge.Record, bool, error)
	// Known reports whether Open would return the record of an earlier
	// call.
	Known(context.Context, life.Opening) (bool, error)
	// Load returns a record. It returns CodeNotFound if there is none. A record
	// that does not verify is returned as closed without a decision; see
	// [bridge.Record.Distrust].
	Load(context.Context, bridge.ID) (bridge.Record, error)
	// Inspect returns a record as it is stored.
	Inspect(context.Context, bridge.ID) (bridge.Record, error)
	// Pending returns the pending interactions of a session, newest first.
	// If both arguments are empty, it returns all pending interactions, the
	// next deadline first. Those of a session lack the ones that it cannot
	// read, which stay pending, and notices, which no one decides, such as the
	// message of the session while it is being posted.
	Pending(ctx context.Context, agent, session string) ([]bridge.ID, error)
	// Posted returns the interactions with a wanted message on a platform. They
	// were pending a moment ago.
	Posted(ctx context.Context, platform string, wanted func(bridge.MessageRef) bool) ([]bridge.ID, error)
	// Mark stores an event other than an answer.
	Mark(context.Context, bridge.ID, life.Mark) (bridge.Record, error)
	// Resolve closes a pending interaction. It returns the resulting record,
	// and whether this call closed it. A repeat with the nonce of the
	// winning resolution also reports true. It signs decisions, and returns CodeForbidden
	// for an approval without the assurance that its request requires.
	Resolve(context.Context, life.Resolution, ...Also) (bridge.Record, bool, error)
	// Vote records a decision on an interaction that requires several. The
	// last required decision closes it.
	Vote(context.Context, life.Ballot, ...Also) (bridge.Record, BallotResult, error)
	// Abandon records that a caller no longer waits for a pending interaction.
	// If no other caller waits, it closes the interaction with the given
	// response. The name comes from [bridge.CallerName]; [bridge.Anyone] stands
	// for any caller. If cut is true, only the connection was lost, and the
	// caller may be waiting on another one.
	Abandon(ctx context.Context, id bridge.ID, name string, cut bool, end bridge.Response) (bridge.Record, error)
	// Expire applies the timeout rule to interactions whose deadline has
	// passed, up to n at a time. It returns the interactions that it ended or
	// deferred, and whether there may be more.
	Expire(ctx context.Context, n int) (expired []Expiry, more bool, err error)
	// Sending records that the response of a closed record is about to be sent.
	// If only one caller may get the response, the first one does; any other
	// caller gets a RepeatedError.
	Sending(ctx context.Context, r bridge.Record, caller string) error
	// Delivered records that the agent has received the response of a closed
	// record.
	Delivered(context.Context, bridge.Record) error
	// AwaitThen calls then once the interaction is over; see Record.Over. If ctx
	// ends first, the result is ctx's error. AwaitThen returns at once, and calls then
	// exactly once, on a goroutine of its own. Callers share the record and must not
	// change it.
	AwaitThen(ctx context.Context, id bridge.ID, then func(Awaited))
	// Retention is the time for which closed interactions are kept.
	Retention() time.Duration
}

// Outbox hands out jobs.
type Outbox interface {
	// Claim leases up to n due jobs.
	Claim(ctx context.Context, n int, lease time.Duration) ([]Job, error)
	// Finish removes a job, unless it was requested again in the meantime.
	Finish(context.Context, Job) error
	// Retry makes a job due again after d. If the reason is empty, the
	// attempt does not count.
	Retry(ctx context.Context, j Job, d time.Duration, reason string) error
	// Bury moves a job that cannot be completed to the dead letters.
	Bury(ctx context.Context, j Job, reason string) error
	// Wait blocks until jobs may be due, for at most d.
	Wait(ctx context.Context, d time.Duration)
	// Extend extends the lease of a job to d from now. It returns false if
	// the lease was lost.
	Extend(ctx context.Context, j Job, d time.Duration) (bool, error)
}
