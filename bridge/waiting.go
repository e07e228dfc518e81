package bridge

import (
	"context"
	"slices"
	"time"
)

// Desk is a Sink that shows a person what concerns them, on a page of their own.
type Desk interface {
	// Overview returns what concerns a person, with up to n pending requests.
	Overview(ctx context.Context, actor Actor, n int) (Overview, error)
	// Changes returns a text that changes with the pending requests, their
	// votes and decisions, and the grants.
	Changes(context.Context) (string, error)
	// RevokeAs revokes a grant for a person, and returns the reply to the
	// person.
	RevokeAs(ctx context.Context, actor Actor, grant string) (string, error)
}

// Overview holds the requests, grants and decisions that concern a person.
type Overview struct {
	// Waiting lists the pending requests that the person may answer and has
	// not voted on. The one with the next deadline is first.
	Waiting []Waiting
	More    bool    // further requests wait
	Grants  []Grant // that the person may revoke, ordered by expiration
	// Decided lists closed requests that the person may read, newest first.
	Decided []Record
}

// Waiting is a pending request on the page of a person.
type Waiting struct {
	// View shows the request alone.
	View View
	// Elsewhere means that the person cannot answer on this platform, because
	// it has no card that shows everything.
	Elsewhere bool
	// Card is the message with the request on the platform of the person. It
	// is zero if there is none.
	Card MessageRef
}

// Histories lists requests.
type Histories interface {
	// List returns a page of records, newest first.
	List(context.Context, ListFilter) (List, error)
}

// ShownIn reports whether a destination is one of these channels of a platform.
func (p Placement) ShownIn(platform string, channels []string) bool {
	return slices.ContainsFunc(p.Destinations, func(d Destination) bool {
		return d.Platform == platform && slices.Contains(channels, d.Channel)
	})
}

// Left returns the time left to answer, as text.
func (s Schedule) Left(now time.Time) string {
	d := s.Remaining(now)
	if d >= time.Minute {
		return Brief(d.Round(time.Minute))
	}
	return Brief(d)
}

// CanWait reports whether people can be reminded of a request later, or delegate
// it.
func (i Interaction) CanWait() bool { return i.Snooze > 0 || len(i.HandOver) > 0 }
