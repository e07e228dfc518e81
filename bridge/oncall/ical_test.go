package oncall_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the calendars below do not depend on the machine

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/oncall"
)

// A calendarCase is a calendar, and who is on call at some times: email addresses
// or names, with a blank between them.
type calendarCase struct {
	Name, Text string
	OnCall     map[string]string
	skipped    []string // events that cannot be read
}

// vevent returns an event of one person.
func vevent(who string, lines ...string) string {
	return "BEGIN:VEVENT\nUID:" + who + strings.Join(lines, "") + "\nDTSTAMP:20260101T000000Z\nSUMMARY:" + who + "\n" + strings.Join(lines, "\n") + "\nEND:VEVENT\n"
}

func vcalendar(parts ...string) string {
	text := "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//x//y//EN\n" + strings.Join(parts, "") + "END:VCALENDAR\n"
	return strings.ReplaceAll(text, "\n", "\r\n")
}

// vtimezone returns a zone as Outlook writes it.
func vtimezone(name, standard, daylight, march, october string) string {
	return "BEGIN:VTIMEZONE\nTZID:" + name + "\nBEGIN:STANDARD\nDTSTART:16010101T030000\nTZOFFSETFROM:" + daylight + "\nTZOFFSETTO:" + standard +
		"\nRRULE:FREQ=YEARLY;INTERVAL=1;" + october + "\nEND:STANDARD\nBEGIN:DAYLIGHT\nDTSTART:16010101T020000\nTZOFFSETFROM:" + standard +
		"\nTZOFFSETTO:" + daylight + "\nRRULE:FREQ=YEARLY;INTERVAL=1;" + march + "\nEND:DAYLIGHT\nEND:VTIMEZONE\n"
}

const (
	outlook = "W. Europe Standard Time"
	last    = "BYDAY=-1SU;BYMONTH="
)

// calendarCases are calendars as public reports have them.
func calendarCases() []calendarCase {
	europe := vtimezone(outlook, "+0100", "+0200", last+"3", last+"10")
	weekly := func(zone string) string {
		return vevent("ana", "DTSTART;TZID="+zone+":20261005T090000", "DTEND;TZID="+zone+":20261012T090000", "RRULE:FREQ=WEEKLY;INTERVAL=2") +
			vevent("bo", "DTSTART;TZID="+zone+":20261012T090000", "DTEND;TZID="+zone+":20261019T090000", "RRULE:FREQ=WEEKLY;INTERVAL=2")
	}
	// The clock changes on October 25, in the week of bo, who has the turn until
	// 9:00, and not until 8:00.
	turns := map[string]string{
		"2026-10-05T06:59:59Z": "", "2026-10-05T07:00:00Z": "ana", "2026-10-12T06:59:59Z": "ana", "2026-10-12T07:00:00Z": "bo",
		"2026-10-19T07:00:00Z": "ana", "2026-10-26T07:30:00Z": "ana", "2026-10-26T08:00:00Z": "bo", "2026-11-02T07:59:59Z": "bo", "2026-11-02T08:00:00Z": "ana",
	}
	hour := func(zone, day string) []string {
		return []string{"DTSTART;TZID=" + zone + ":" + day + "T090000", "DTEND;TZID=" + zone + ":" + day + "T100000"}
	}
	return slices.Concat([]calendarCase{
		{Name: "an IANA zone", Text: vcalendar(weekly("Europe/Berlin")), OnCall: turns}, // others need a VTIMEZONE
		{Name: "a zone of Outlook", Text: vcalendar(europe, weekly(outlook)), OnCall: turns},
		{Name: "a numbered zone of Outlook", Text: vcalendar(strings.Replace(europe, outlook, outlook+" 1", 1), weekly(outlook+" 1")), OnCall: turns},
		{Name: "a quoted zone", Text: vcalendar(europe, weekly(`"`+outlook+`"`)), OnCall: turns},
		{Name: "a zone with a slash", Text: vcalendar(weekly("/Europe/Berlin")), OnCall: turns},
		{
			Name: "a zone of Outlook that nothing defines", Text: vcalendar(weekly(outlook), vevent("cy", "DTSTART:20261005T000000Z", "DTEND:20261006T000000Z")),
			OnCall: map[string]string{"2026-10-05T12:00:00Z": "cy"}, skipped: []string{"ana", "bo"},
		},
		{
			Name: "a zone with dates", OnCall: map[string]string{"2026-10-20T08:30:00Z": "", "2026-10-20T09:30:00Z": "ana", "2026-11-20T08:30:00Z": "bo"},
			Text: vcalendar("BEGIN:VTIMEZONE\nTZID:x\nBEGIN:STANDARD\nDTSTART:20260101T000000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0000\nRDATE:20261001T000000\nEND:STANDARD\n"+
				"BEGIN:DAYLIGHT\nDTSTART:20260501T000000\nTZOFFSETFROM:+0000\nTZOFFSETTO:+0100\nRDATE:20261101T000000\nEND:DAYLIGHT\nEND:VTIMEZONE\n",
				vevent("ana", hour("x", "20261020")...), vevent("bo", "DTSTART;TZID=x:20261120T090000", "DTEND;TZID=x:20261120T100000")),
		},
		{
			Name: "a zone whose rule ended", OnCall: map[string]string{"2026-07-01T07:30:00Z": "", "2026-07-01T08:30:00Z": "ana"},
			Text: vcalendar("BEGIN:VTIMEZONE\nTZID:x\nBEGIN:STANDARD\nDTSTART:19701025T030000\nTZOFFSETFROM:+0200\nTZOFFSETTO:+0100\nRRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\nEND:STANDARD\n"+
				"BEGIN:DAYLIGHT\nDTSTART:19700329T020000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nRRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3;UNTIL=20200329T010000Z\nEND:DAYLIGHT\nEND:VTIMEZONE\n",
				vevent("ana", hour("x", "20260701")...)),
		},
	}, dateCases(europe, hour), occurrenceCases(europe), brokenCases())
}

// dateCases are calendars with all-day events, times without a zone, and people who
// are not on call.
func dateCases(europe string, hour func(zone, day string) []string) []calendarCase {
	attendee := func(params, who string) string { return "ATTENDEE" + params + ":mailto:" + who + "@example.com" }
	return []calendarCase{
		{
			Name:   "all day, in the zone of the calendar",
			Text:   vcalendar("X-WR-TIMEZONE:America/New_York\n", vevent("ana", "DTSTART;VALUE=DATE:20261101", "DTEND;VALUE=DATE:20261102"), vevent("bo", "DTSTART;VALUE=DATE:20261102")),
			OnCall: map[string]string{"2026-11-01T03:59:59Z": "", "2026-11-01T04:00:00Z": "ana", "2026-11-02T04:59:59Z": "ana", "2026-11-02T05:00:00Z": "bo", "2026-11-03T05:00:00Z": ""},
		},
		{
			Name: "a time without a zone", Text: vcalendar("X-WR-TIMEZONE:America/New_York\n", vevent("ana", "DTSTART:20261103T090000", "DTEND:20261103T170000")),
			OnCall: map[string]string{"2026-11-03T13:59:59Z": "", "2026-11-03T14:00:00Z": "ana", "2026-11-03T22:00:00Z": ""},
		},
		{
			Name: "a time without any zone", Text: vcalendar(vevent("ana", "DTSTART:20261103T090000", "DTEND:20261103T170000")),
			OnCall: map[string]string{"2026-11-03T09:00:00Z": "ana", "2026-11-03T17:00:00Z": ""},
		},
		{
			Name: "people who declined", OnCall: map[string]string{"2026-10-20T07:30:00Z": "bo@example.com eve@example.com", "2026-10-21T07:30:00Z": ""},
			Text: vcalendar(europe, vevent("shift", append(hour(outlook, "20261020"), attendee(";PARTSTAT=DECLINED", "ana"), attendee(";CN=Bo;PARTSTAT=ACCEPTED", "bo"),
				attendee(`;PARTSTAT=DELEGATED;DELEGATED-TO="mailto:eve@example.com"`, "cy"), attendee(`;DELEGATED-FROM="mailto:cy@example.com"`, "eve"),
				attendee(";CUTYPE=ROOM", "room"))...), vevent("ana", append(hour(outlook, "20261021"), attendee(";PARTSTAT=declined", "ana"))...)),
		},
		{
			Name: "a folded line", OnCall: map[string]string{"2026-10-20T07:30:00Z": "ana@example.com"},
			Text: vcalendar(europe, vevent("shift", append(hour(outlook, "20261020"), `ATTENDEE;CN="Ana; on call: today";PARTSTAT=ACCEP`, ` TED:mailto:ana@example.com`)...)),
		},
		{
			Name: "names with quotation marks, and parameters in lower case", OnCall: map[string]string{"2026-10-20T07:30:00Z": "ana@example.com"},
			Text: vcalendar(europe, vevent("shift", append(hour(outlook, "20261020"), attendee(`;CN=Ana "AL" Lima;RSVP`, "ana"), attendee(`;cn="ACME\Bo";partstat=Declined`, "bo"))...)),
		},
		{
			Name: "addresses spelled in other ways", OnCall: map[string]string{"2026-10-20T07:30:00Z": "ana+x@example.com bo@example.com"},
			Text: vcalendar(europe, vevent("shift", append(hour(outlook, "20261020"), "ATTENDEE:mailto:ana%2Bx@example.com", "ATTENDEE:MAILTO: bo@example.com?subject=shift")...)),
		},
		{
			Name: "addresses in summaries", OnCall: map[string]string{"2026-10-20T07:30:00Z": "Ana Lima ana@example.com bo bo@example.com from a@b to c@d"},
			Text: vcalendar(europe, vevent("Bo <bo@example.com>", hour(outlook, "20261020")...), vevent("On call: ana@example.com", hour(outlook, "20261020")...),
				vevent("@bo", hour(outlook, "20261020")...), vevent("Ana Lima", hour(outlook, "20261020")...), vevent("from a@b to c@d", hour(outlook, "20261020")...)),
		},
		{
			Name: "an address as a parameter", OnCall: map[string]string{"2026-10-20T07:30:00Z": "ana@example.com bo@example.com"},
			Text: vcalendar(europe, vevent("shift", append(hour(outlook, "20261020"), "ATTENDEE;EMAIL=ana@example.com:urn:uuid:1", `ATTENDEE;EMAIL="mailto:bo@example.com":/principals/bo`)...)),
		},
		{
			Name: "addresses without mailto, and people without an address", OnCall: map[string]string{"2026-10-20T07:30:00Z": "Ana Lima Cy Roe (invalid:nomail) bo@example.com"},
			Text: vcalendar(europe, vevent("shift", append(hour(outlook, "20261020"), "ATTENDEE: bo@example.com", "ATTENDEE;CN=Ana Lima:", "ATTENDEE;CN=Cy Roe:invalid:nomail", "ATTENDEE:")...)),
		},
		{
			Name: "people who are only informed, and rooms", OnCall: map[string]string{"2026-10-20T07:30:00Z": "ana bo@example.com"},
			Text: vcalendar(europe, vevent("shift", append(hour(outlook, "20261020"), attendee(";ROLE=NON-PARTICIPANT", "eve"), attendee(";ROLE=OPT-PARTICIPANT", "bo"))...),
				vevent("ana", append(hour(outlook, "20261020"), attendee(";CUTYPE=RESOURCE", "car"))...), vevent("cy", append(hour(outlook, "20261020"), attendee(";ROLE=non-participant", "eve"))...)),
		},
		{
			Name: "cancelled", OnCall: map[string]string{"2026-10-20T07:30:00Z": ""}, Text: vcalendar(europe, vevent("ana", append(hour(outlook, "20261020"), "STATUS:CANCELLED")...)),
		},
	}
}

// occurrenceCases are calendars with events that repeat.
func occurrenceCases(europe string) []calendarCase {
	daily := []string{"DTSTART;TZID=" + outlook + ":20261005T090000", "DTEND;TZID=" + outlook + ":20261005T100000", "RRULE:FREQ=DAILY"}
	but := func(lines ...string) string {
		return vcalendar(europe, vevent("ana", append(daily[:len(daily):len(daily)], lines...)...))
	}
	instead := func(who, hour, id string, lines ...string) string {
		return "BEGIN:VEVENT\nUID:1\nDTSTAMP:20260101T000000Z\nSUMMARY:" + who + "\nRECURRENCE-ID" + id + "\nDTSTART;TZID=" + outlook + ":20261008T" + hour + "0000\nDURATION:PT1H\n" +
			strings.Join(append(lines, "END:VEVENT\n"), "\n")
	}
	changed := func(changes ...string) string {
		return vcalendar(europe, "BEGIN:VEVENT\nUID:1\nDTSTAMP:20260101T000000Z\nSUMMARY:ana\n"+strings.Join(daily, "\n")+"\nEND:VEVENT\n", strings.Join(changes, ""))
	}
	moved := func(id string) string { return changed(instead("bo", "12", id)) }
	swapped := map[string]string{"2026-10-07T07:30:00Z": "ana", "2026-10-08T07:30:00Z": "", "2026-10-08T10:30:00Z": "bo", "2026-10-09T07:30:00Z": "ana"}
	without := map[string]string{"2026-10-07T07:30:00Z": "ana", "2026-10-08T07:30:00Z": "", "2026-10-09T07:30:00Z": "ana"}
	allDay := func(exdate string) string {
		return vcalendar(europe, vevent("ana", "DTSTART;VALUE=DATE:20261005", "DTEND;VALUE=DATE:20261006", "RRULE:FREQ=DAILY", exdate))
	}
	return []calendarCase{
		{Name: "an exception", Text: but("EXDATE;TZID=" + outlook + ":20261008T090000"), OnCall: without},
		{Name: "an exception in UTC", Text: but("EXDATE:20261008T070000Z,20261108T080000Z"), OnCall: without},
		{Name: "an exception that is a date", Text: but("EXDATE;VALUE=DATE:20261008"), OnCall: without},
		{Name: "an exception of all day", Text: allDay("EXDATE;VALUE=DATE:20261008"), OnCall: without},
		{Name: "an exception of all day with a time", Text: allDay("EXDATE;TZID=" + outlook + ":20261008T000000"), OnCall: without},
		{Name: "moved", Text: moved(";TZID=" + outlook + ":20261008T090000"), OnCall: swapped},
		{Name: "moved, in UTC", Text: moved(":20261008T070000Z"), OnCall: swapped},
		{Name: "moved, in another zone", Text: moved(";TZID=America/New_York:20261008T030000"), OnCall: swapped},
		{Name: "moved twice; the newest counts", Text: changed(instead("cy", "12", ":20261008T070000Z", "SEQUENCE:1"), instead("bo", "12", ":20261008T070000Z", "SEQUENCE:10")), OnCall: swapped},
		{Name: "moved, by its date", Text: moved(";VALUE=DATE:20261008"), OnCall: swapped},
		{
			Name: "moved twice, without another number", OnCall: swapped,
			Text: changed(instead("bo", "12", ":20261008T070000Z", "LAST-MODIFIED:20260102T000000Z"), instead("cy", "13", ":20261008T070000Z", "LAST-MODIFIED:20260101T000000Z")),
		},
		{
			Name: "moved in a way that cannot be read", OnCall: map[string]string{"2026-10-07T07:30:00Z": "ana", "2026-10-08T07:30:00Z": "", "2026-10-09T07:30:00Z": "ana"},
			Text: changed(strings.Replace(instead("bo", "12", ":20261008T070000Z"), "DTSTART;TZID="+outlook, "DTSTART;TZID=Mars/Olympus", 1)), skipped: []string{"bo"},
		},
		{
			Name: "moved twice, with the same number and time", OnCall: swapped,
			Text: changed(instead("abe", "12", ":20261008T070000Z"), instead("bo", "12", ":20261008T070000Z")),
		},
		{
			Name: "moved twice, with the same number and time, in another order", OnCall: swapped,
			Text: changed(instead("bo", "12", ":20261008T070000Z"), instead("abe", "12", ":20261008T070000Z"), instead("bo", "12", ":20261008T070000Z")),
		},
		{
			// It is unknown whom bo replaces, so both are on call.
			Name: "instead of an occurrence that cannot be read", OnCall: map[string]string{"2026-10-07T07:30:00Z": "ana", "2026-10-08T07:30:00Z": "ana bo", "2026-10-09T07:30:00Z": "ana"},
			Text: changed(instead("bo", "09", ";TZID=Mars/Olympus:20261008T090000", "SEQUENCE:7")), skipped: []string{"bo"},
		},
		{
			Name: "later occurrences from one that cannot be read", OnCall: map[string]string{"2026-10-08T07:30:00Z": "ana bo", "2026-10-09T07:30:00Z": "ana"},
			Text: changed(instead("bo", "09", ";RANGE=THISANDFUTURE:soon", "RRULE:FREQ=DAILY")), skipped: []string{"bo"},
		},
		{
			Name: "an occurrence that cannot be read is cancelled", OnCall: map[string]string{"2026-10-08T07:30:00Z": "ana"},
			Text: changed(instead("bo", "09", ":soon", "STATUS:CANCELLED")), skipped: []string{"bo"},
		},
		{
			Name: "all later occurrences in a way that cannot be read", OnCall: map[string]string{"2026-10-07T07:30:00Z": "ana", "2026-10-08T07:30:00Z": "", "2026-10-20T07:30:00Z": ""},
			Text: changed(strings.Replace(instead("bo", "12", ";RANGE=THISANDFUTURE;VALUE=DATE:20261008"), "DURATION:PT1H", "DURATION:long", 1)), skipped: []string{"bo"},
		},
		{
			Name: "all later occurrences, by a date", OnCall: map[string]string{"2026-10-07T07:30:00Z": "ana", "2026-10-08T07:30:00Z": "", "2026-10-20T07:30:00Z": "", "2026-10-20T10:30:00Z": "bo"},
			Text: changed(instead("bo", "12", ";RANGE=THISANDFUTURE;VALUE=DATE:20261008")),
		},
		{
			Name: "an occurrence of all day, by a time", OnCall: map[string]string{"2026-10-07T12:00:00Z": "ana", "2026-10-08T12:00:00Z": "bo"},
			Text: vcalendar("X-WR-TIMEZONE:America/New_York\n", "BEGIN:VEVENT\nUID:1\nSUMMARY:ana\nDTSTART;VALUE=DATE:20261005\nRRULE:FREQ=DAILY\nEND:VEVENT\n",
				"BEGIN:VEVENT\nUID:1\nSUMMARY:bo\nRECURRENCE-ID:20261008T000000Z\nDTSTART;VALUE=DATE:20261008\nEND:VEVENT\n"),
		},
		{
			Name: "other people without another number", OnCall: map[string]string{"2026-10-07T07:30:00Z": "bo"},
			Text: changed("BEGIN:VEVENT\nUID:1\nSUMMARY:bo\nDTSTAMP:20260102T000000Z\n" + strings.Join(daily, "\n") + "\nEND:VEVENT\n"),
		},
		{
			Name: "an event without a series", OnCall: map[string]string{"2026-10-08T10:30:00Z": "bo"}, Text: vcalendar(europe, instead("bo", "12", ":20261008T070000Z")),
		},
		{
			Name: "one occurrence left out and moved", OnCall: swapped,
			Text: vcalendar(europe, "BEGIN:VEVENT\nUID:1\nSUMMARY:ana\n"+strings.Join(daily, "\n")+"\nEXDATE:20261008T070000Z\nEND:VEVENT\n", instead("bo", "12", ":20261008T070000Z")),
		},
		{Name: "one occurrence cancelled", Text: changed(instead("ana", "09", ":20261008T070000Z", "STATUS:CANCELLED")), OnCall: without},
		{Name: "an occurrence with a rule of its own", Text: changed(instead("bo", "12", ":20261008T070000Z", "RRULE:FREQ=DAILY")), OnCall: swapped},
		{
			Name: "all later occurrences", Text: changed(instead("bo", "12", ";RANGE=THISANDFUTURE:20261008T070000Z"), instead("cy", "15", ":20261010T070000Z")),
			OnCall: map[string]string{
				"2026-10-07T07:30:00Z": "ana", "2026-10-08T07:30:00Z": "", "2026-10-08T10:30:00Z": "bo", "2026-10-09T07:30:00Z": "", "2026-10-09T10:30:00Z": "bo",
				"2026-10-10T10:30:00Z": "", "2026-10-08T13:30:00Z": "cy", "2026-10-26T10:30:00Z": "", "2026-10-26T11:30:00Z": "bo",
			},
		},
		{
			Name: "later occurrences, twice", Text: changed(instead("bo", "09", ";RANGE=THISANDFUTURE:20261008T070000Z"), strings.ReplaceAll(instead("cy", "09", ";RANGE=THISANDFUTURE:20261010T070000Z"), "DTSTART;TZID="+outlook+":20261008", "DTSTART;TZID="+outlook+":20261010")),
			OnCall: map[string]string{"2026-10-07T07:30:00Z": "ana", "2026-10-09T07:30:00Z": "bo", "2026-10-10T07:30:00Z": "cy", "2026-10-20T07:30:00Z": "cy"},
		},
		{
			Name: "later occurrences cancelled", Text: changed(instead("ana", "09", ";RANGE=THISANDFUTURE:20261008T070000Z", "STATUS:CANCELLED")),
			OnCall: map[string]string{"2026-10-07T07:30:00Z": "ana", "2026-10-08T07:30:00Z": "", "2026-10-09T07:30:00Z": ""},
		},
		{
			Name: "two versions with the same number and time", OnCall: map[string]string{"2026-10-07T07:30:00Z": "bo"},
			Text: changed("BEGIN:VEVENT\nUID:1\nDTSTAMP:20260101T000000Z\nSUMMARY:bo\n" + strings.Join(daily, "\n") + "\nEND:VEVENT\n"),
		},
		{
			Name: "an older version", Text: changed("BEGIN:VEVENT\nUID:1\nSUMMARY:bo\nSEQUENCE:3\n" + strings.Join(daily, "\n") + "\nEND:VEVENT\n"),
			OnCall: map[string]string{"2026-10-07T07:30:00Z": "bo"},
		},
		{
			Name: "until a time", Text: vcalendar(europe, vevent("ana", append(daily[:2:2], "RRULE:FREQ=DAILY;UNTIL=20261026T080000Z")...)),
			OnCall: map[string]string{"2026-10-25T08:30:00Z": "ana", "2026-10-26T08:30:00Z": "ana", "2026-10-27T08:30:00Z": ""},
		},
		{
			Name: "until a date", Text: vcalendar(europe, vevent("ana", append(daily[:2:2], "RRULE:FREQ=DAILY;UNTIL=20261008")...)),
			OnCall: map[string]string{"2026-10-08T07:30:00Z": "ana", "2026-10-09T07:30:00Z": ""},
		},
		{
			Name: "hours by the clock and by the hour", OnCall: map[string]string{"2026-10-25T07:30:00Z": "ana", "2026-10-25T08:30:00Z": ""},
			Text: vcalendar(europe, vevent("ana", "DTSTART;TZID="+outlook+":20261024T090000", "DTEND;TZID="+outlook+":20261025T090000")),
		},
		{
			Name: "a time that the clock skips", OnCall: map[string]string{"2026-03-29T01:29:59Z": "", "2026-03-29T01:30:00Z": "ana", "2026-03-29T02:59:59Z": "ana", "2026-03-29T03:00:00Z": ""},
			Text: vcalendar(europe, vevent("ana", "DTSTART;TZID="+outlook+":20260329T023000", "DTEND;TZID="+outlook+":20260329T050000")),
		},
		{
			Name: "a time that the clock shows twice", OnCall: map[string]string{"2026-10-25T00:29:59Z": "", "2026-10-25T00:30:00Z": "ana", "2026-10-25T03:59:59Z": "ana", "2026-10-25T04:00:00Z": ""},
			Text: vcalendar(europe, vevent("ana", "DTSTART;TZID="+outlook+":20261025T023000", "DTEND;TZID="+outlook+":20261025T050000")),
		},
		{
			Name: "a duration", OnCall: map[string]string{"2026-10-26T07:59:59Z": "ana", "2026-10-26T08:00:00Z": ""},
			Text: vcalendar(europe, vevent("ana", "DTSTART;TZID="+outlook+":20261019T090000", "DURATION:P1W")),
		},
		{
			Name: "more times", OnCall: map[string]string{"2026-10-20T07:30:00Z": "ana", "2026-10-21T07:30:00Z": "", "2026-10-22T07:30:00Z": "ana"},
			Text: vcalendar(europe, vevent("ana", "DTSTART;TZID="+outlook+":20261020T090000", "DTEND;TZID="+outlook+":20261020T100000", "RDATE;TZID="+outlook+":20261022T090000")),
		},
	}
}

// brokenCases are calendars with events that cannot be read.
func brokenCases() []calendarCase {
	good := vevent("ana", "DTSTART:20261020T090000Z", "DTEND:20261020T100000Z")
	var out []calendarCase
	for name, lines := range map[string][]string{
		"no start": {"DTEND:20261020T100000Z"}, "no time": {"DTSTART:soon"}, "a line without a value": {"DTSTART:20261020T090000Z", "nonsense"},
		"a rule of seconds": {"DTSTART:20261020T090000Z", "RRULE:FREQ=SECONDLY"}, "no rule": {"DTSTART:20261020T090000Z", "RRULE:FREQ=SOMETIMES"},
		"an end before the start": {"DTSTART:20261020T090000Z", "DTEND:20261019T090000Z"}, "no duration": {"DTSTART:20261020T090000Z", "DURATION:long"},
		"a change of nothing, without a start": {"RECURRENCE-ID:never"},
		"an unknown zone":                      {"DTSTART;TZID=Mars/Olympus:20261020T090000"}, "no exception": {"DTSTART:20261020T090000Z", "EXDATE:never"},
	} {
		out = append(out, calendarCase{
			Name: name, Text: vcalendar(good, vevent("bad", lines...)), OnCall: map[string]string{"2026-10-20T09:30:00Z": "ana"}, skipped: []string{"bad"},
		})
	}
	return out
}

// TestICal checks who is on call by calendars of many programs, and which events
// are skipped.
func TestICal(t *testing.T) {
	t.Parallel()
	for _, x := range calendarCases() {
		t.Run(x.Name, func(t *testing.T) {
			t.Parallel()
			var skipped []string
			c := oncall.ICal{
				URL:     fake(t, map[string]string{"GET /feed.ics": x.Text}, nil) + "/feed.ics",
				Skipped: func(event string, _ error) { skipped = append(skipped, event) },
			}
			for at, want := range x.OnCall {
				skipped = nil
				when, err := time.Parse(time.RFC3339, at)
				if err != nil {
					t.Fatal(err)
				}
				got, err := c.OnCall(t.Context(), when)
				if err != nil {
					t.Fatal(err)
				}
				var who []string
				for _, e := range got {
					text := e.Email + e.Name
					if e.ID != "" {
						text += " (" + e.ID + ")"
					}
					who = append(who, text)
				}
				slices.Sort(who)
				slices.Sort(skipped)
				if s := strings.Join(who, " "); s != want {
					t.Errorf("at %s: %q; want %q", at, s, want)
				}
				if !slices.Equal(skipped, x.skipped) {
					t.Errorf("skipped %q; want %q", skipped, x.skipped)
				}
			}
		})
	}
}

// TestStaleChange checks that a change of an occurrence which its series does
// not have, or no longer has, puts no one on call, and that this is reported.
func TestStaleChange(t *testing.T) {
	t.Parallel()
	series := "BEGIN:VEVENT\nUID:1\nSUMMARY:ana\nSEQUENCE:2\nDTSTART;VALUE=DATE:20240701\nDTEND;VALUE=DATE:20240708\nRRULE:FREQ=WEEKLY;UNTIL=20240720;INTERVAL=2;BYDAY=MO\nEND:VEVENT\n"
	for id, want := range map[string]string{"20240729": "skipped bo", "20240715": "bo"} {
		var said []string
		text := vcalendar(series, "BEGIN:VEVENT\nUID:1\nSUMMARY:bo\nSEQUENCE:1\nRECURRENCE-ID;VALUE=DATE:"+id+"\nDTSTART;VALUE=DATE:20240729\nDTEND;VALUE=DATE:20240804\nEND:VEVENT\n")
		c := oncall.ICal{
			URL:     fake(t, map[string]string{"GET /": text}, nil) + "/",
			Skipped: func(event string, _ error) { said = append(said, "skipped "+event) },
		}
		got, err := c.OnCall(t.Context(), time.Date(2024, 7, 30, 12, 0, 0, 0, time.UTC))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range got {
			said = append(said, e.Name)
		}
		if s := strings.Join(said, " "); s != want {
			t.Errorf("instead of %s: %q; want %q", id, s, want)
		}
	}
}

// TestICalUnreadable checks that an unreadable calendar never silently takes people
// off call.
func TestICalUnreadable(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"nothing": "", "a page": "<html></html>", "cut": "BEGIN:VCALENDAR\r\nnonsense", "cut in an event": strings.TrimSuffix(vcalendar(vevent("ana", "DTSTART:20261020T090000Z")), "END:VCALENDAR\r\n"),
		"only bad events": vcalendar(vevent("bad", "DTSTART:soon")),
	} {
		c := oncall.ICal{URL: fake(t, map[string]string{"GET /": text}, nil) + "/"}
		if got, err := c.OnCall(t.Context(), time.Now()); bridge.ErrorCode(err) != bridge.CodeUnavailable || got != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	empty := oncall.ICal{URL: fake(t, map[string]string{"GET /": vcalendar()}, nil) + "/"}
	if got, err := empty.OnCall(t.Context(), time.Now()); got != nil || err != nil {
		t.Errorf("without events: %v, %v", got, err)
	}
}
