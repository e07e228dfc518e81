package oncall

import (
	"cmp"
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
	// Skipped is called for each event that cannot be read completely. It puts no one
	// on call, unless only what it replaces is unknown. It may be nil.
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
			if !cal.covers(e, at) {
				continue
			}
			if cal.stale(e) {
				if c.Skipped != nil {
					c.Skipped(e.name, bridge.Errorf(bridge.CodeUnavailable, "it replaces an occurrence that its series does not have"))
				}
				continue
			}
			out = append(out, e.entries...)
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
	series    map[string]*event // events that replace no occurrence, by UID
	moved     map[string]bool   // occurrences that other events replace, by UID and time
	repeating int
	bad       map[string]error // events that cannot be read, by name
}

func newCalendar(b *block) *calendar {
	c := &calendar{zones: map[string]*time.Location{}, zone: time.UTC, series: map[string]*event{}, moved: map[string]bool{}, bad: map[string]error{}}
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
	c.read(b.all("VEVENT"))
	return c
}

// read sets the events.
func (c *calendar) read(all []*block) {
	var series, changes []*event
	for _, v := range all {
		if len(v.props["RRULE"]) > 0 {
			c.repeating++
		}
		e, err := c.event(v)
		if bad := cmp.Or(err, e.lost); bad != nil && (!e.cancelled || e.lost != nil) {
			c.bad[e.name] = bad
		}
		switch {
		case !e.replaces.IsZero():
			e.cancelled = e.cancelled || err != nil // nobody knows who has the occurrence instead
			changes = append(changes, e)
		case err == nil:
			series = append(series, e)
		}
	}
	series = newest(series)
	for _, e := range series {
		c.series[e.uid] = e
	}
	for _, e := range changes {
		if s := c.series[e.uid]; s != nil {
			e.replaces = s.occurrence(e.changes)
		}
	}
	c.settle(append(series, newest(changes)...))
}

// settle applies changes to the events that they change.
func (c *calendar) settle(all []*event) {
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
}

// newest returns the events without those of which a later version is there, too. A
// version has a number, which stays the same if only other people take over. Of two
// that claim to be the newest one, the same one counts at each reading.
func newest(all []*event) []*event {
	all = last(all, (*event).version, func(a, b *event) int { return cmp.Compare(a.sequence, b.sequence) })
	all = last(all, (*event).slot, func(a, b *event) int {
		return cmp.Or(strings.Compare(a.modified, b.modified), strings.Compare(a.stamp, b.stamp), strings.Compare(a.text, b.text))
	})
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(e *event) bool { // of equal ones, the first
		twice := e.uid != "" && seen[e.slot()]
		seen[e.slot()] = true
		return twice
	})
}

// last returns the events that are the last ones of those with the same key.
func last(all []*event, key func(*event) string, order func(a, b *event) int) []*event {
	best := map[string]*event{}
	for _, e := range all {
		if b := best[key(e)]; b == nil || order(e, b) > 0 {
			best[key(e)] = e
		}
	}
	return slices.DeleteFunc(all, func(e *event) bool { return e.uid != "" && order(e, best[key(e)]) < 0 })
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
	invited := false
	for _, p := range v.props["ATTENDEE"] {
		switch strings.ToUpper(p.param("CUTYPE")) {
		case "ROOM", "RESOURCE":
			continue
		}
		invited = true
		switch strings.ToUpper(p.param("PARTSTAT")) {
		case "DECLINED", "DELEGATED":
			continue // not on call, whoever takes over
		}
		if strings.EqualFold(p.param("ROLE"), "NON-PARTICIPANT") {
			continue // only informed
		}
		if e := attendee(p); e != (Entry{}) {
			out = append(out, e)
		}
	}
	if summary := strings.TrimSpace(v.text("SUMMARY")); !invited && summary != "" {
		out = append(out, summarized(summary))
	}
	return out
}

// attendee returns whom an ATTENDEE names: by an email address, or else by any other
// address, which nod does not know. The name counts only if there is neither.
func attendee(p prop) Entry {
	if mail := cmp.Or(address(p.value), address(p.param("EMAIL"))); mail != "" {
		return Entry{Email: mail}
	}
	return Entry{ID: strings.TrimSpace(p.value), Name: strings.TrimSpace(p.param("CN"))}
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

// address returns the email address in the address of an attendee, which some
// programs write without mailto.
func address(s string) string {
	const scheme = "mailto:"
	s = strings.TrimSpace(s)
	if len(s) <= len(scheme) || !strings.EqualFold(s[:len(scheme)], scheme) {
		if !strings.Contains(s, "@") || strings.ContainsAny(s, ":/") {
			return ""
		}
		return s
	}
	s, _, _ = strings.Cut(s[len(scheme):], "?")
	if plain, err := url.PathUnescape(s); err == nil {
		s = plain
	}
	return strings.TrimSpace(s)
}
