// Package clock computes with the time of day on a wall clock: turns of
// rotations, quiet hours, and reminders. All of nod's times of day come from
// here.
//
// A clock that changes for daylight saving skips some times and shows others
// twice. A skipped time stands for the time of the change. A repeated time
// stands for its first occurrence. The package reads no clock: callers pass the
// time. Start with [Daily] and [Turns].
package clock

import "time"

// Day is the length of a day on which no clock changes.
const Day = 24 * time.Hour

// Wall returns the wall time of a clock as a time in UTC, so that differences
// between two wall times ignore changes of the clock.
func Wall(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// At returns the time at which the clock of a zone shows a wall time.
func At(wall time.Time, zone *time.Location) time.Time {
	t := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), zone)
	start, end := t.ZoneBounds()
	if !Wall(t).Equal(wall.UTC()) { // no clock showed wall; use the nearest change of the clock, which skipped it
		if end.IsZero() || !start.IsZero() && t.Sub(start) < end.Sub(t) {
			return start
		}
		return end
	}
	if start.IsZero() {
		return t
	}
	_, before := start.Add(-1).Zone()
	_, now := t.Zone()
	if first := t.Add(time.Duration(now-before) * time.Second); first.Before(start) {
		return first
	}
	return t
}

// Daily is a range of hours of each day. A range that ends at or before its start
// ends on the next day.
type Daily struct {
	From, To time.Duration // since midnight
	Zone     *time.Location
}

// Until returns the end of the range that contains t. It returns t itself if t is
// in none, or if the range is empty.
func (d Daily) Until(t time.Time) time.Time {
	if d.From == d.To {
		return t
	}
	wall := Wall(t.In(d.Zone))
	midnight := time.Date(wall.Year(), wall.Month(), wall.Day(), 0, 0, 0, 0, time.UTC)
	length := d.To
	if d.To < d.From {
		length += Day
	}
	for _, day := range []time.Time{midnight.Add(-Day), midnight} { // a range that began yesterday may not have ended
		begin, end := At(day.Add(d.From), d.Zone), At(day.Add(length), d.Zone)
		if !t.Before(begin) && t.Before(end) {
			return end
		}
	}
	return t
}

// Turns holds the turns of a rotation. Each turn starts at the same time of
// day.
type Turns struct {
	Start time.Time // start of turn 0, in the zone of the clock
	Every time.Duration
}

// Begin returns the time at which a turn begins.
func (r Turns) Begin(turn int64) time.Time {
	return At(Wall(r.Start).Add(time.Duration(turn)*r.Every), r.Start.Location())
}

// Turn returns the number of the turn at a time. It is negative before Start.
func (r Turns) Turn(at time.Time) int64 {
	turn := int64(Wall(at.In(r.Start.Location())).Sub(Wall(r.Start)) / r.Every)
	for at.Before(r.Begin(turn)) {
		turn--
	}
	for !at.Before(r.Begin(turn + 1)) {
		turn++
	}
	return turn
}

// Snooze returns the time of a reminder that a person requests after a delay.
// It leaves at least a quarter of the remaining time, so that the person can
// still answer.
func Snooze(now time.Time, delay time.Duration, deadline time.Time) time.Time {
	return now.Add(min(delay, deadline.Sub(now)*3/4))
}
