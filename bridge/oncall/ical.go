package oncall

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/nodbridge/nod/bridge"
)

// ICal is a calendar (RFC 5545). The attendees of current events are on call,
// except those who declined. If an event has no attendees, the person named in its
// summary is.
type ICal struct {
	URL    string
	Client *http.Client // a nil Client means http.DefaultClient
	// Skipped is called for each event that cannot be read, and that therefore puts
	// no one on call. It may be nil.
	Skipped func(event string, err error)
}

// Limits of a calendar. A rotation repeats at most daily, in a few events.
const (
	maxCalendar  = 1 << 20 // in bytes
	maxRepeating = 200
	maxPerDay    = 24 // occurrences of a rule
	firstYear    = 1970
)

// OnCall implements Source. One event that cannot be read does not keep those of
// the others from being on call.
func (c ICal) OnCall(ctx context.Context, at time.Time) ([]Entry, error) {
	raw, err := fetch(ctx, c.Client, http.MethodGet, c.URL, nil, nil)
	if err != nil {
		return nil, err
	}
	if len(raw) > maxCalendar {
		return nil, bridge.Errorf(bridge.CodeUnavailable, "the calendar is larger than %d bytes", maxCalendar)
	}
	calendars, ok := parse(string(raw))
	if !ok {
		return nil, bridge.Errorf(bridge.CodeUnavailable, "the calendar cannot be read")
	}
	var out []Entry
	var failed error
	read := 0
	for _, b := range calendars {
		cal := newCalendar(b)
		if cal.repeating > maxRepeating {
			return nil, bridge.Errorf(bridge.CodeUnavailable, "the calendar has more than %d repeating events", maxRepeating)
		}
		for name, err := range cal.bad {
			failed = err
			if c.Skipped != nil {
				c.Skipped(name, err)
			}
		}
		for _, e := range cal.events {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			read++
			if cal.covers(e, at) {
				out = append(out, e.entries...)
			}
		}
	}
	if read == 0 && failed != nil {
		return nil, failed
	}
	return out, nil
}

// calendar holds the events of a VCALENDAR.
type calendar struct {
	zones     map[string]*time.Location // by name: those that the calendar defines, and IANA zones
	zone      *time.Location            // of times without one
	events    []*event
	moved     map[string]bool // occurrences that other events replace, by UID and time
	repeating int
	bad       map[string]error // events that cannot be read, by name
}

func newCalendar(b *block) *calendar {
	c := &calendar{zones: map[string]*time.Location{}, zone: time.UTC, moved: map[string]bool{}, bad: map[string]error{}}
	for _, z := range b.all("VTIMEZONE") {
		if id := z.text("TZID"); id != "" {
			if zone := newZone(z); zone != nil {
				c.zones[id] = zone
			}
		}
	}
	if zone, err := c.find(b.text("X-WR-TIMEZONE")); err == nil {
		c.zone = zone
	}
	var all []*event
	for _, v := range b.all("VEVENT") {
		if len(v.props["RRULE"]) > 0 {
			c.repeating++
		}
		e, err := c.event(v)
		switch {
		case err == nil:
			all = append(all, e)
		case !strings.EqualFold(v.text("STATUS"), "CANCELLED") || len(v.props["RECURRENCE-ID"]) > 0:
			c.bad[nameOf(v)] = err
		}
	}
	all = newest(all)
	for _, e := range all {
		switch {
		case e.replaces.IsZero():
		case e.later:
			e.follow(all)
		default:
			c.moved[e.uid+e.replaces.UTC().String()] = true
		}
	}
	c.events = slices.DeleteFunc(all, func(e *event) bool { return e.cancelled })
	return c
}

// newest returns the events without those of which a later version is there, too.
func newest(all []*event) []*event {
	last := map[string]int{}
	for _, e := range all {
		last[e.version()] = max(last[e.version()], e.sequence)
	}
	return slices.DeleteFunc(all, func(e *event) bool { return e.uid != "" && e.sequence < last[e.version()] })
}

// find returns the zone with a name: the one that the calendar defines, such as
// those of Outlook, or else that of the IANA.
func (c *calendar) find(id string) (*time.Location, error) {
	if zone := c.zones[id]; zone != nil {
		return zone, nil
	}
	name := strings.TrimPrefix(id, "/")
	if name == "" || name == "Local" {
		return nil, bridge.Errorf(bridge.CodeUnavailable, "unknown time zone %q", name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, bridge.Errorf(bridge.CodeUnavailable, "unknown time zone %q, which the calendar does not define", name)
	}
	c.zones[id] = zone
	return zone, nil
}

// nameOf returns what identifies an event best for people.
func nameOf(v *block) string {
	if s := v.text("SUMMARY"); s != "" {
		return bridge.OneLine(s)
	}
	return bridge.OneLine(v.text("UID"))
}

// attendees returns the people that an event names.
func attendees(v *block) []Entry {
	var out []Entry
	all := v.props["ATTENDEE"]
	for _, p := range all {
		switch strings.ToUpper(p.param("PARTSTAT")) {
		case "DECLINED", "DELEGATED":
			continue // not on call, whoever takes over
		}
		switch strings.ToUpper(p.param("CUTYPE")) {
		case "ROOM", "RESOURCE":
			continue
		}
		if mail := address(p); mail != "" {
			out = append(out, Entry{Email: mail})
		}
	}
	if summary := strings.TrimSpace(v.text("SUMMARY")); len(all) == 0 && summary != "" {
		out = append(out, summarized(summary))
	}
	return out
}

// summarized returns whom a summary names: by the email address in it, if there is
// one, or else by all of it.
func summarized(summary string) Entry {
	var found []string
	for _, word := range strings.FieldsFunc(summary, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`<>()[],;:"`, r) }) {
		if user, host, _ := strings.Cut(word, "@"); user != "" && host != "" {
			found = append(found, word)
		}
	}
	if len(found) == 1 {
		return Entry{Email: found[0]}
	}
	return Entry{Name: strings.TrimPrefix(summary, "@")}
}

// address returns the email address of an attendee.
func address(p prop) string {
	s := p.value
	if len(s) <= 7 || !strings.EqualFold(s[:7], "mailto:") {
		return p.param("EMAIL")
	}
	s, _, _ = strings.Cut(s[7:], "?")
	if plain, err := url.PathUnescape(s); err == nil {
		s = plain
	}
	return strings.TrimSpace(s)
}
