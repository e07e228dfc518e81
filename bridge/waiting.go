package bridge

import (
	"context"
	"slices"
	"time"
)

// Lister is a Sink that can list the pending requests of a person.
type Lister interface {
	// Waiting returns up to n of the newest pending requests that the actor
	// may answer, and whether there are more.
	Waiting(ctx context.Context, actor Actor, n int) ([]Record, bool, error)
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
	return d.Round(time.Second).String()
}
