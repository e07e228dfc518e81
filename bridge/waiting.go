package bridge

import (
	"context"
	"slices"
	"time"
)

// Desk is a Sink with a page for each person that shows their requests, grants
// and decisions.
type Desk interface {
	// Overview returns the content of a person's page, with up to n pending
	// requests.
	Overview(ctx context.Context, actor Actor, n int) (Overview, error)
	// Changes returns a text that differs whenever the pending requests, their
	// votes and decisions, or the grants change.
	Changes(context.Context) (string, error)
	// RevokeAs revokes a grant on behalf of a person, and returns the reply to
	// the person.
	RevokeAs(ctx context.Context, actor Actor, grant string) (string, error)
}

// Overview holds the requests, grants and decisions of a person's page.
type Overview struct {
	// Waiting lists the pending requests that the person may answer and has not
	// voted on, by deadline.
	Waiting []Waiting
	More    bool    // number of additional pending requests
	Grants  []Grant // grants that the person may revoke, ordered by expiration
	// Decided lists closed requests that the person may read, newest first.
	Decided []Record
}

// Waiting is a pending request on the page of a person.
type Waiting struct {
	// View shows only the request.
	View View
	// Elsewhere means that the person cannot answer on this platform, because
	// its card does not show everything.
	Elsewhere bool
	// Card is the message with the request on the platform of the person. It is
	// zero if there is no such message.
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

// Left returns the remaining time to answer, as text.
func (s Schedule) Left(now time.Time) string {
	d := s.Remaining(now)
	if d >= time.Minute {
		return Brief(d.Round(time.Minute))
	}
	return Brief(d)
}

// CanWait reports whether people can snooze a request or delegate it.
func (i Interaction) CanWait() bool { return i.Snooze > 0 || len(i.HandOver) > 0 }
