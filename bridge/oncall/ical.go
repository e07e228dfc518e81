package oncall

import (
	"context"
	"net/http"
	"strings"
	"time"

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
	events    []event
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
	for _, v := range b.all("VEVENT") {
		if len(v.props["RRULE"]) > 0 {
			c.repeating++
		}
		if strings.EqualFold(v.text("STATUS"), "CANCELLED") && len(v.props["RECURRENCE-ID"]) == 0 {
			continue
		}
		e, err := c.event(v)
		if err != nil {
			c.bad[nameOf(v)] = err
			continue
		}
		if !e.replaces.IsZero() {
			c.moved[e.uid+e.replaces.UTC().String()] = true
		}
		if !strings.EqualFold(v.text("STATUS"), "CANCELLED") {
			c.events = append(c.events, e)
		}
	}
	return c
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
	summary := strings.TrimSpace(v.text("SUMMARY"))
	switch {
	case len(all) > 0 || summary == "":
	case strings.Contains(summary, "@"):
		out = append(out, Entry{Email: summary})
	default:
		out = append(out, Entry{Name: summary})
	}
	return out
}

// address returns the email address of an attendee.
func address(p prop) string {
	if s := p.value; len(s) > 7 && strings.EqualFold(s[:7], "mailto:") {
		return s[7:]
	}
	return p.param("EMAIL")
}
