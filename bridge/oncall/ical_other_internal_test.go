package oncall

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teambition/rrule-go"
)

// otherZones are zones that change their clock in each hemisphere, by an hour and by
// half an hour: the offsets, and the rules of the changes to and from daylight
// saving.
var otherZones = [][4]string{
	{"+0100", "+0200", "19700329T020000\nRRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU", "19701025T030000\nRRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU"},
	{"-0500", "-0400", "20070311T020000\nRRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU", "20071104T020000\nRRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU"},
	{"+1000", "+1100", "20081005T020000\nRRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=1SU", "20080406T030000\nRRULE:FREQ=YEARLY;BYMONTH=4;BYDAY=1SU"},
	{"+1030", "+1100", "20081005T020000\nRRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=1SU", "20080406T020000\nRRULE:FREQ=YEARLY;BYMONTH=4;BYDAY=1SU"},
	{"+0530", "+0530", "19700101T000000", "19700101T000000"},
}

func otherZone(n int) string {
	z := otherZones[n]
	return fmt.Sprintf("BEGIN:VTIMEZONE\nTZID:Zone %d\nBEGIN:DAYLIGHT\nTZOFFSETFROM:%s\nTZOFFSETTO:%s\nDTSTART:%s\nEND:DAYLIGHT\n"+
		"BEGIN:STANDARD\nTZOFFSETFROM:%s\nTZOFFSETTO:%s\nDTSTART:%s\nEND:STANDARD\nEND:VTIMEZONE\n", n, z[0], z[1], z[2], z[1], z[0], z[3])
}

// otherRules are rules by which shifts repeat, and the lengths of the shifts.
var otherRules = []struct {
	rule   string
	length time.Duration
}{
	{"FREQ=DAILY", 8 * time.Hour},
	{"FREQ=DAILY;INTERVAL=3", 24 * time.Hour},
	{"FREQ=DAILY;COUNT=200", 12 * time.Hour},
	{"FREQ=DAILY;BYDAY=MO,WE,FR", 24 * time.Hour},
	{"FREQ=WEEKLY", 7 * 24 * time.Hour},
	{"FREQ=WEEKLY;INTERVAL=2;WKST=SU", 7 * 24 * time.Hour},
	{"FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", 10 * time.Hour},
	{"FREQ=WEEKLY;INTERVAL=3;BYDAY=SA,SU;UNTIL=20261101T120000Z", 24 * time.Hour},
	{"FREQ=WEEKLY;COUNT=30;BYDAY=TU,TH", 12 * time.Hour},
	{"FREQ=MONTHLY;BYDAY=1MO", 5 * 24 * time.Hour},
	{"FREQ=MONTHLY;BYDAY=-1FR;INTERVAL=2", 72 * time.Hour},
	{"FREQ=MONTHLY;BYMONTHDAY=1,15", 48 * time.Hour},
	{"FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", 24 * time.Hour},
	{"FREQ=YEARLY;BYMONTH=3,10;BYDAY=-1SU", 12 * time.Hour},
}

// otherCalendar returns a calendar of three people with shifts that repeat, some of
// which are left out, added or moved.
func otherCalendar(r *rand.Rand) string {
	zone := r.IntN(len(otherZones))
	form := fmt.Sprintf(";TZID=Zone %d:", zone)
	var b strings.Builder
	b.WriteString("BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//nod//test//EN\n" + otherZone(zone))
	for n := range 3 {
		rule := otherRules[r.IntN(len(otherRules))]
		// No first shift spans a change of the clock: ical.js takes its length in hours
		// for that of all the others.
		start := time.Date(2026, 1, 5+r.IntN(14), r.IntN(24), 30*r.IntN(2), 0, 0, time.UTC)
		stamp := func(t time.Time) string { return form + t.Format("20060102T150405") }
		event := func(who string, start time.Time, lines ...string) {
			fmt.Fprintf(&b, "BEGIN:VEVENT\nUID:%d\nDTSTAMP:20260101T000000Z\nSUMMARY:%s\nDTSTART%s\nDTEND%s\n%s\nEND:VEVENT\n",
				n, who, stamp(start), stamp(start.Add(rule.length)), strings.Join(lines, "\n"))
		}
		option, err := rrule.StrToROption(rule.rule)
		if err != nil {
			panic(err)
		}
		option.Dtstart = start
		all, err := rrule.NewRRule(*option)
		if err != nil {
			panic(err)
		}
		times := all.Between(start, start.AddDate(2, 0, 0), true) // the first of them has to be DTSTART
		lines := []string{"RRULE:" + rule.rule}
		if r.IntN(2) == 0 {
			lines = append(lines, "EXDATE"+stamp(times[1]))
		}
		if r.IntN(3) == 0 {
			lines = append(lines, "RDATE"+stamp(times[2].Add(36*time.Hour)))
		}
		event(fmt.Sprint("p", n), times[0], lines...)
		if r.IntN(2) == 0 {
			k := 2 + r.IntN(len(times)-2)
			id := "RECURRENCE-ID"
			if r.IntN(2) == 0 {
				id += ";RANGE=THISANDFUTURE"
			}
			event(fmt.Sprint("q", n), times[k].Add(time.Duration(r.IntN(5)-2)*time.Hour), id+stamp(times[k]))
		}
	}
	b.WriteString("END:VCALENDAR\n")
	return strings.ReplaceAll(b.String(), "\n", "\r\n")
}

// TestOtherCalendars compares calendars with what ical.js makes of them, which
// shares no code with nod. NOD_CALENDARS is the program that runs ical.js.
func TestOtherCalendars(t *testing.T) {
	t.Parallel()
	program := os.Getenv("NOD_CALENDARS")
	if program == "" {
		t.Skip("NOD_CALENDARS is not set")
	}
	r := rand.New(rand.NewPCG(1, 2))
	texts := make([]string, 60)
	for n := range texts {
		texts[n] = otherCalendar(r)
	}
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", program)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	type shift struct {
		Who        string
		Start, End int64
	}
	var all [][]shift
	if err := json.Unmarshal(raw, &all); err != nil || len(all) != len(texts) {
		t.Fatalf("%d calendars: %v", len(all), err)
	}
	asked := 0
	for n, text := range texts {
		blocks, ok := parse(text)
		if !ok {
			t.Fatalf("cannot parse\n%s", text)
		}
		cal := newCalendar(blocks[0])
		if len(cal.bad) > 0 {
			t.Fatalf("%v\n%s", cal.bad, text)
		}
		times := map[int64]bool{}
		for at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() == 2026; at = at.Add(13 * time.Hour) {
			times[at.Unix()] = true
		}
		for _, s := range all[n] {
			times[s.Start-1], times[s.Start], times[s.End-1], times[s.End] = true, true, true, true
		}
		for at := range times {
			when := time.Unix(at, 0).UTC()
			if when.Year() != 2026 {
				continue
			}
			asked++
			var want, got []string
			for _, s := range all[n] {
				if s.Start <= at && at < s.End {
					want = append(want, s.Who)
				}
			}
			for _, e := range cal.events {
				if cal.covers(e, when) && !cal.stale(e) {
					got = append(got, e.entries[0].Name)
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			if want = slices.Compact(want); !slices.Equal(slices.Compact(got), want) {
				t.Fatalf("calendar %d at %s: nod has %q, ical.js %q\n%s", n, when, got, want, text)
			}
		}
	}
	if asked < 10_000 {
		t.Errorf("only %d times", asked)
	}
	t.Logf("%d calendars, %d times", len(texts), asked)
}
