package bridge

import (
	"context"
	"slices"
	"time"
)

// Lister is a Sink that knows what waits for somebody.
type Lister interface {
	// Waiting returns the newest requests that wait for an answer and that the
	// actor may give, at most n, and whether there are more.
	Waiting(ctx context.Context, actor Actor, n int) ([]Record, bool, error)
}

// ShownIn reports whether a request is shown in a place.
func (p Placement) ShownIn(platform string, channels []string) bool {
	return slices.ContainsFunc(p.Destinations, func(d Destination) bool {
		return d.Platform == platform && slices.Contains(channels, d.Channel)
	})
}

// Left is how long there is to answer, in words.
func (s Schedule) Left(now time.Time) string {
	d := s.Remaining(now)
	if d >= time.Minute {
		return Brief(d.Round(time.Minute))
	}
	return d.Round(time.Second).String()
}
