package clock_test

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones below do not depend on the machine

	"github.com/nodbridge/nod/bridge/clock"
)

// changing has a zone for each way in which clocks change in 2026, and zones in
// which a day began late or was left out in another year.
var changing = map[int]string{
	2026: `Africa/Cairo Africa/Casablanca Africa/Ceuta America/Adak America/Anchorage America/Boise America/Chicago
		America/Detroit America/Ensenada America/Glace_Bay America/Godthab America/Havana America/Miquelon America/Santiago
		America/St_Johns Antarctica/Macquarie Antarctica/McMurdo Antarctica/Troll Asia/Beirut Asia/Famagusta Asia/Gaza
		Asia/Jerusalem Atlantic/Azores Atlantic/Canary Australia/Adelaide Australia/LHI Chile/EasterIsland Europe/Chisinau
		Pacific/Chatham Pacific/Norfolk`,
	2022: "Asia/Tehran Asia/Amman", 2018: "America/Sao_Paulo", 2011: "Pacific/Apia",
}

// years calls f for each zone with the beginning of its year.
func years(t *testing.T, f func(t *testing.T, zone *time.Location, year time.Time)) {
	for year, zones := range changing {
		for name := range strings.FieldsSeq(zones) {
			zone, err := time.LoadLocation(name)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				f(t, zone, time.Date(year, 1, 1, 0, 0, 0, 0, zone))
			})
		}
	}
}

// changes returns the times of a year at which the clock of a zone changes.
func changes(year time.Time) []time.Time {
	var out []time.Time
	for at := year; ; {
		_, end := at.ZoneBounds()
		if end.IsZero() || end.Sub(year) > 366*clock.Day {
			return out
		}
		out = append(out, end)
		at = end
	}
}

// TestAt checks that a wall time is the first moment at which the clock shows it or
// a later one, around each change of a year.
func TestAt(t *testing.T) {
	t.Parallel()
	years(t, func(t *testing.T, zone *time.Location, year time.Time) {
		all := changes(year)
		if len(all) == 0 {
			t.Fatal("the clock does not change")
		}
		for _, change := range all {
			at := change.Add(-27 * time.Hour)
			for wall := clock.Wall(at.In(zone)); wall.Before(clock.Wall(change.Add(27 * time.Hour).In(zone))); wall = wall.Add(15 * time.Minute) {
				for clock.Wall(at.In(zone)).Before(wall) {
					at = at.Add(15 * time.Minute)
				}
				if got := clock.At(wall, zone); !got.Equal(at) {
					t.Fatalf("%s is %s; want %s", wall.Format(time.DateTime), got, at.In(zone))
				}
			}
		}
	})
}

// TestTurns checks that rotations hand over at the same time of day, all year, and
// that someone has the turn at any time.
func TestTurns(t *testing.T) {
	t.Parallel()
	years(t, func(t *testing.T, zone *time.Location, year time.Time) {
		for _, every := range []time.Duration{time.Hour, 12 * time.Hour, clock.Day, 7 * clock.Day} {
			for _, start := range []time.Duration{0, 30 * time.Minute, 2*time.Hour + 30*time.Minute, 8 * time.Hour} {
				r := clock.Turns{Start: clock.At(clock.Wall(year).Add(start), zone), Every: every}
				turn := r.Turn(year)
				for at := year; at.Sub(year) < 366*clock.Day; at = at.Add(3*time.Hour + 7*time.Minute) {
					now := r.Turn(at)
					begin, end := r.Begin(now), r.Begin(now+1)
					if now < turn || begin.After(at) || !at.Before(end) {
						t.Fatalf("every %s, at %s: turn %d from %s to %s, after %d", every, at, now, begin, end, turn)
					}
					if wall := clock.Wall(r.Start).Add(time.Duration(now) * every); !clock.Wall(begin).Equal(wall) && !skipped(wall, zone) {
						t.Fatalf("every %s: turn %d begins at %s", every, now, begin)
					}
					turn = now
				}
			}
		}
	})
}

// skipped reports whether no clock of a zone shows a time.
func skipped(wall time.Time, zone *time.Location) bool {
	return !clock.Wall(clock.At(wall, zone)).Equal(wall)
}

// TestDaily checks the end of quiet hours all year: the clock shows it, and they
// never last longer than on other days, apart from the change itself.
func TestDaily(t *testing.T) {
	t.Parallel()
	hours := func(h float64) time.Duration { return time.Duration(h * float64(time.Hour)) }
	years(t, func(t *testing.T, zone *time.Location, year time.Time) {
		for _, d := range []clock.Daily{
			{hours(22), hours(7), zone}, {hours(2.25), hours(2.75), zone}, {hours(0), hours(0.5), zone}, {hours(23.5), hours(1), zone}, {hours(3), hours(2), zone},
		} {
			length := d.To - d.From
			if length < 0 {
				length += clock.Day
			}
			for _, change := range changes(year) {
				for at := change.Add(-26 * time.Hour); at.Before(change.Add(26 * time.Hour)); at = at.Add(5 * time.Minute) {
					wall := clock.Wall(at.In(zone))
					since := wall.Sub(wall.Truncate(clock.Day))
					in := since >= d.From && since < d.To || d.To < d.From && (since >= d.From || since < d.To)
					until := d.Until(at)
					if until.Equal(at) {
						if in && !repeated(at, zone) {
							t.Fatalf("%v: %s is not in it", d, at.In(zone))
						}
						continue
					}
					if end := clock.Wall(until.In(zone)); end.Sub(end.Truncate(clock.Day)) != d.To%clock.Day && until != change {
						t.Fatalf("%v: at %s, it ends at %s", d, at.In(zone), until)
					}
					if most := length + 3*time.Hour; until.Sub(at) > most && zone.String() != "Pacific/Apia" {
						t.Fatalf("%v: at %s, it lasts for %s", d, at.In(zone), until.Sub(at))
					}
				}
			}
		}
	})
	if now := time.Now(); !(clock.Daily{From: hours(7), To: hours(7), Zone: time.UTC}).Until(now).Equal(now) {
		t.Error("an empty range has an end")
	}
}

// repeated reports whether the clock of a zone shows a time for the second time.
func repeated(at time.Time, zone *time.Location) bool {
	return clock.At(clock.Wall(at.In(zone)), zone).Before(at)
}

// TestTurnsOfGoAlert compares rotations with those that the tests of GoAlert
// describe (target/goalert, schedule/rotation/rotation_test.go).
func TestTurnsOfGoAlert(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	at := func(s string) time.Time {
		when, err := time.ParseInLocation("Jan 2 2006 3:04 pm", s, zone)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	const hour, week = time.Hour, 7 * clock.Day
	for _, x := range []struct {
		start, now, end string
		every, lasts    time.Duration
	}{
		{"Jun 10 2017 8:00 am", "", "Jun 17 2017 8:00 am", week, week},
		{"Jun 10 2017 8:00 am", "", "Jun 24 2017 8:00 am", 2 * week, 2 * week},
		{"Mar 10 2017 8:00 am", "", "Mar 17 2017 8:00 am", week, week - hour},
		{"Nov 4 2017 8:00 am", "", "Nov 11 2017 8:00 am", week, week + hour},
		{"Jun 10 2017 8:00 am", "", "Jun 11 2017 8:00 am", clock.Day, clock.Day},
		{"Jun 10 2017 8:00 am", "", "Jun 12 2017 8:00 am", 2 * clock.Day, 2 * clock.Day},
		{"Mar 11 2017 8:00 am", "", "Mar 12 2017 8:00 am", clock.Day, 23 * hour},
		{"Nov 4 2017 8:00 am", "", "Nov 5 2017 8:00 am", clock.Day, 25 * hour},
		{"Jun 10 2017 8:00 am", "", "Jun 10 2017 9:00 am", hour, hour},
		{"Mar 12 2017 12:00 am", "", "Mar 12 2017 3:00 am", 3 * hour, 2 * hour},
		{"Nov 5 2017 12:00 am", "", "Nov 5 2017 3:00 am", 3 * hour, 4 * hour},
		{"Jan 1 2017 1:00 am", "Nov 5 2017 1:00 am", "Nov 5 2017 2:00 am", hour, 2 * hour},
		{"Jan 1 2017 12:00 am", "Jan 3 2017 6:00 am", "Jan 3 2017 12:00 pm", 12 * hour, 6 * hour},
	} {
		r := clock.Turns{Start: at(x.start), Every: x.every}
		now := r.Start
		if x.now != "" {
			now = at(x.now)
		}
		if end := r.Begin(r.Turn(now) + 1); !end.Equal(at(x.end)) || end.Sub(now) != x.lasts {
			t.Errorf("%s, every %s: the turn ends at %s after %s; want %s", x.start, x.every, end, end.Sub(now), x.end)
		}
	}
}

// TestSnooze checks that no one is reminded after a deadline.
func TestSnooze(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for left, want := range map[time.Duration]time.Duration{time.Hour: 10 * time.Minute, 8 * time.Minute: 6 * time.Minute, time.Minute: 45 * time.Second} {
		if got := clock.Snooze(now, 10*time.Minute, now.Add(left)).Sub(now); got != want {
			t.Errorf("with %s left, after %s; want %s", left, got, want)
		}
	}
}
