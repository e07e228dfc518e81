package oncall

import (
	"context"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge/clock"
)

// Rotation is a schedule in which people take turns. The turn changes at the
// same time of day, by the clock of the zone of Start.
type Rotation struct {
	People []string
	Start  time.Time     // start of the first turn
	Every  time.Duration // length of a turn
	// Anchor is the turn from which the turns of People are counted. The zero value
	// gives the first turn to the first person.
	Anchor Anchor
}

// Anchor assigns a turn of a rotation to a person.
type Anchor struct {
	Turn  int64 `json:"turn"`
	First int   `json:"first"` // index of the person
}

// OnCall implements Source. No one is on call before Start.
func (r Rotation) OnCall(_ context.Context, at time.Time) ([]Entry, error) {
	if at.Before(r.Start) || r.Every <= 0 || len(r.People) == 0 {
		return nil, nil
	}
	return []Entry{{Name: r.People[r.holder(r.turn(at))]}}, nil
}

// Until returns the end of the turn at a time. Before Start, it is Start.
func (r Rotation) Until(at time.Time) time.Time {
	if at.Before(r.Start) || r.Every <= 0 {
		return r.Start
	}
	return clock.Turns{Start: r.Start, Every: r.Every}.Begin(r.turn(at) + 1)
}

func (r Rotation) turn(at time.Time) int64 {
	return clock.Turns{Start: r.Start, Every: r.Every}.Turn(at)
}

// holder returns the index of the person who has a turn.
func (r Rotation) holder(turn int64) int {
	n := int64(len(r.People))
	return int(((int64(r.Anchor.First)+turn-r.Anchor.Turn)%n + n) % n)
}

// After returns the rotation as a continuation of the previous one, which had
// other people. The person whose turn it is keeps the turn. If that person has
// left, the next person takes over. A rotation with another start or other
// turns starts from the beginning.
func (r Rotation) After(before Rotation, now time.Time) Rotation {
	if len(before.People) == 0 || !before.Start.Equal(r.Start) || before.Every != r.Every || now.Before(r.Start) {
		return r
	}
	if slices.Equal(before.People, r.People) {
		r.Anchor = before.Anchor
		return r
	}
	r.Anchor.Turn = r.turn(now)
	had := before.holder(r.Anchor.Turn)
	for k := range before.People {
		if n := same(before.People, (had+k)%len(before.People), r.People); n >= 0 {
			r.Anchor.First = n
			break
		}
	}
	return r
}

// same returns the index in now of the person at index n of before, or -1. If a
// person has several turns, the same turn is found.
func same(before []string, n int, now []string) int {
	turn := 0
	for _, who := range before[:n] {
		if who == before[n] {
			turn++
		}
	}
	found := -1
	for k, who := range now {
		if who == before[n] && turn >= 0 {
			found, turn = k, turn-1
		}
	}
	return found
}
