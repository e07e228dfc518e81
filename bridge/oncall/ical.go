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
// except those who declined. If an event has no attendees, the person in its
// summary is on call.
type ICal struct {
	URL    string
	Client *http.Client // a nil Client means http.DefaultClient
	// Skipped is called for each event that cannot be read completely. Such an
	// event puts no one on call, unless only the occurrence that it replaces is
	// unknown. It may be nil.
	Skipped func(event string, err error)
}

// Limits of a calendar. A rotation repeats at most daily, in a few events.
const (
	maxCalendar = 1 << 20 // in bytes
	maxRules    = 200
	maxRule     = 300 // in bytes
	maxInterval = 1000
	maxPerDay   = 24 // maximum number of occurrences of a rule
	firstYear   = 1970
)

// OnCall implements Source. If one event cannot be read, the others still
// count.
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
	rules := 0
	for _, b := range calendars {
		rules += b.count("RRULE")
	}
	if rules > maxRules {
		return nil, bridge.Errorf(bridge.CodeUnavailable, "the calendar has more than %d rules for repetitions", maxRules)
	}
	var out []Entry
	var failed error
	read := 0
	for _, b := range calendars {
		cal := newCalendar(b)
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
	zones  map[string]*time.Location // by name: the zones of the calendar, and IANA zones
	zone   *time.Location            // zone of times without a zone
	events []*event
	series map[string]*event // events that replace no occurrence, by UID
	moved  map[string]bool   // occurrences that other events replace, by UID and time
	bad    map[string]error  // events that cannot be read, by name
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
		e, err := c.event(v)
		if bad := cmp.Or(err, e.lost); bad != nil && (!e.cancelled || e.lost != nil) {
			c.bad[e.name] = bad
		}
		switch {
		case !e.replaces.IsZero():
			e.cancelled = e.cancelled || err != nil // no one knows who has the occurrence instead
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

// settle applies events that change other events.
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

// newest returns the events without outdated versions. The number of a version
// stays the same if only the attendees change. If two versions claim to be the
// newest, each reading selects the same one.
func newest(all []*event) []*event {
	all = last(all, (*event).version, func(a, b *event) int { return cmp.Compare(a.sequence, b.sequence) })
	all = last(all, (*event).slot, func(a, b *event) int {
		return cmp.Or(strings.Compare(a.modified, b.modified), strings.Compare(a.stamp, b.stamp), strings.Compare(a.text, b.text))
	})
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(e *event) bool { // of equal versions, keep the first
		twice := e.uid != "" && seen[e.slot()]
		seen[e.slot()] = true
		return twice
	})
}

// last returns the last event for each key.
func last(all []*event, key func(*event) string, order func(a, b *event) int) []*event {
	best := map[string]*event{}
	for _, e := range all {
		if b := best[key(e)]; b == nil || order(e, b) > 0 {
			best[key(e)] = e
		}
	}
	return slices.DeleteFunc(all, func(e *event) bool { return e.uid != "" && order(e, best[key(e)]) < 0 })
}

// find returns the zone with a name: a zone that the calendar defines, such as
// those of Outlook, or an IANA zone.
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

// nameOf returns the best name of an event for people.
func nameOf(v *block) string {
	if s := v.text("SUMMARY"); s != "" {
		return bridge.OneLine(s)
	}
	return bridge.OneLine(v.text("UID"))
}

// attendees returns the people in an event.
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
			continue // not on call, even if no one takes over
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

// attendee returns the person in an ATTENDEE. An email address identifies the
// person. Otherwise, nod uses the URI and the name.
func attendee(p prop) Entry {
	if mail := cmp.Or(address(p.value), address(p.param("EMAIL"))); mail != "" {
		return Entry{Email: mail}
	}
	return Entry{ID: strings.TrimSpace(p.value), Name: strings.TrimSpace(p.param("CN"))}
}

// summarized returns the person in a summary. The person is identified by an
// email address in the summary, or by the complete summary.
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
