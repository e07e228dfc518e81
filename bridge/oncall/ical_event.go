package oncall

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/teambition/rrule-go"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/clock"
	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// event is an event of a calendar. Its times are wall times of its zone, so
// that a shift from nine to nine has no gap when the clock changes.
type event struct {
	uid     string
	name    string    // for people
	start   time.Time // wall time
	zone    *time.Location
	allDay  bool
	wall    time.Duration // start and end as wall times
	exact   time.Duration // additional length, in elapsed time
	rule    *rrule.RRule  // nil if the event does not repeat
	more    []time.Time   // further wall times
	without map[string]bool
	// changes is the occurrence that this event replaces, and replaces is its
	// time. Both are zero if the event replaces no occurrence.
	changes  moment
	replaces time.Time
	lost     error // reason that the replaced occurrence is unknown
	// later is set if the event also replaces all later occurrences. These are
	// the occurrences of series since replaces, moved by a time on the clock.
	later     bool
	series    *event
	by        time.Duration
	until     time.Time // occurrences from this time on are replaced; zero means none
	sequence  int       // number of the version
	modified  string    // time of the last change, according to the calendar
	stamp     string    // time when the calendar wrote it
	text      string
	cancelled bool
	entries   []Entry
}

// version identifies the versions that a version with a higher number replaces.
func (e *event) version() string { return e.uid + "\n" + e.replaces.UTC().String() }

// slot identifies the events that a later version with the same number
// replaces. Events that start at different times are different events, even if
// a program gives them the same UID.
func (e *event) slot() string {
	if e.replaces.IsZero() {
		return e.version() + e.start.String()
	}
	return e.version()
}

// occurrence returns the time of the occurrence that a change names. A change
// may name it by its date, and may name the days of an all-day event by a time.
func (e *event) occurrence(id moment) time.Time {
	if !id.day && !e.allDay {
		return id.time()
	}
	day, first := id.wall.Truncate(clock.Day), e.start.Truncate(clock.Day)
	return inZone(day.Add(e.start.Sub(first)), e.zone)
}

// stale reports whether an event replaces an occurrence that its series no
// longer has, because the occurrence was moved or has ended.
func (c *calendar) stale(e *event) bool {
	s := c.series[e.uid]
	if s == nil || e.replaces.IsZero() || e.uid == "" {
		return false
	}
	wall := clock.Wall(e.replaces.In(s.zone))
	all := append(s.begins(wall.Add(-clock.Day), wall.Add(clock.Day)), s.start)
	return !slices.ContainsFunc(all, func(begin time.Time) bool { return inZone(begin, s.zone).Equal(e.replaces) })
}

// follow makes an event replace the later occurrences of its series.
func (e *event) follow(all []*event) {
	n := slices.IndexFunc(all, func(o *event) bool { return o.uid == e.uid && o.replaces.IsZero() })
	if n < 0 {
		return
	}
	e.series = all[n]
	e.by = e.start.Sub(clock.Wall(e.replaces.In(e.series.zone)))
	for _, o := range all {
		part := o == e.series || o.later && o.uid == e.uid && o.replaces.Before(e.replaces)
		if part && (o.until.IsZero() || e.replaces.Before(o.until)) {
			o.until = e.replaces
		}
	}
}

// begins returns the wall times of the occurrences in an approximate range.
func (e *event) begins(from, to time.Time) []time.Time {
	if e.rule == nil {
		return append([]time.Time{e.start}, e.more...)
	}
	e.rule.DTStart(later(e.rule.OrigOptions, e.start, from))
	return append(e.rule.Between(from, to, true), e.more...)
}

// moment is a time in a calendar.
type moment struct {
	wall time.Time
	zone *time.Location
	day  bool // a date without a time
}

func (m moment) time() time.Time { return inZone(m.wall, m.zone) }

// inZone returns the time at which the clock of a zone shows a wall time. If
// the clock skips the wall time, the previous offset applies (RFC 5545, 3.3.5).
func inZone(wall time.Time, zone *time.Location) time.Time {
	t := clock.At(wall, zone)
	if clock.Wall(t.In(zone)).Equal(wall) {
		return t
	}
	_, before := t.Add(-1).In(zone).Zone()
	return wall.Add(-time.Duration(before) * time.Second)
}

// moment returns the time in a property.
func (c *calendar) moment(p prop, value string) (moment, error) {
	zone := c.zone
	if id := p.param("TZID"); id != "" {
		var err error
		if zone, err = c.find(id); err != nil {
			return moment{}, err
		}
	}
	form, isUTC := "20060102T150405", strings.HasSuffix(value, "Z")
	if isUTC {
		zone, value = time.UTC, strings.TrimSuffix(value, "Z")
	}
	if len(value) == len("20060102") {
		form = "20060102"
	}
	wall, err := time.Parse(form, value)
	if err != nil {
		return moment{}, bridge.Errorf(bridge.CodeUnavailable, "invalid time %q", value)
	}
	return moment{wall, zone, form == "20060102"}, nil
}

// event returns the event of a VEVENT. If it cannot be read, it still has the
// known values, such as the occurrence that it replaces.
func (c *calendar) event(v *block) (*event, error) {
	e := &event{uid: v.text("UID"), name: nameOf(v), modified: v.text("LAST-MODIFIED"), stamp: v.text("DTSTAMP"), without: map[string]bool{}, text: strings.Join(v.lines, "\n"), entries: attendees(v)}
	e.cancelled = strings.EqualFold(v.text("STATUS"), "CANCELLED")
	e.sequence, _ = strconv.Atoi(v.text("SEQUENCE")) // 0 if there is no number
	if all := v.props["RECURRENCE-ID"]; len(all) > 0 {
		was, err := c.moment(all[0], all[0].value)
		if err != nil { // a separate event
			e.uid, e.lost = "", bridge.Wrap(bridge.CodeUnavailable, err, "it replaces an occurrence that nod cannot read, so its people are on call in addition to the others")
		} else {
			e.changes, e.replaces, e.later = was, was.time(), strings.EqualFold(all[0].param("RANGE"), "THISANDFUTURE")
		}
	}
	if v.bad != "" || len(v.props["DTSTART"]) == 0 {
		return e, bridge.Errorf(bridge.CodeUnavailable, "the event is malformed")
	}
	first := v.props["DTSTART"][0]
	start, err := c.moment(first, first.value)
	if err != nil {
		return e, err
	}
	e.start, e.zone, e.allDay = start.wall, start.zone, start.day
	if err := c.setLength(e, v, start); err != nil {
		return e, err
	}
	if err := c.setRule(e, v); err != nil {
		return e, err
	}
	return e, c.setDates(e, v)
}

// setDates sets the additional and the excluded occurrences of an event.
func (c *calendar) setDates(e *event, v *block) error {
	for _, p := range v.props["EXDATE"] {
		for value := range strings.SplitSeq(p.value, ",") {
			m, err := c.moment(p, value)
			if err != nil {
				return err
			}
			e.without[key(m.time(), m.wall, m.day || e.allDay)] = true
		}
	}
	for _, p := range v.props["RDATE"] {
		for value := range strings.SplitSeq(p.value, ",") {
			value, _, _ = strings.Cut(value, "/") // start of a period; its end is the end of the event
			m, err := c.moment(p, value)
			if err != nil {
				return err
			}
			e.more = append(e.more, clock.Wall(m.time().In(e.zone)))
		}
	}
	return nil
}

// key identifies an excluded occurrence: by its date, or by its time.
func key(at, wall time.Time, day bool) string {
	if day {
		return wall.Format(time.DateOnly)
	}
	return at.UTC().String()
}

// longest is the maximum length of an event. A longer event has no end.
const longest = 100 * 366 * clock.Day

// setLength sets the length of an event. The length between two times on the
// same clock is measured on that clock. A duration in hours is exact.
func (c *calendar) setLength(e *event, v *block, start moment) error {
	switch ends, lasts := v.props["DTEND"], v.text("DURATION"); {
	case len(ends) > 0:
		end, err := c.moment(ends[0], ends[0].value)
		if err != nil {
			return err
		}
		if end.zone == start.zone {
			e.wall = end.wall.Sub(start.wall)
		} else {
			e.exact = end.time().Sub(start.time())
		}
	case lasts != "":
		var ok bool
		if e.wall, e.exact, ok = duration(lasts); !ok {
			return bridge.Errorf(bridge.CodeUnavailable, "invalid duration %q", lasts)
		}
	case start.day:
		e.wall = clock.Day
	}
	if e.wall+e.exact < 0 {
		return bridge.Errorf(bridge.CodeUnavailable, "the event ends before it begins")
	}
	e.wall, e.exact = min(e.wall, longest), min(e.exact, longest)
	return nil
}

var durations = lazyregexp.New(`^\+?P(?:(\d{1,6})W)?(?:(\d{1,9})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,9})S)?)?$`)

// duration returns the days of a duration, and the remaining time.
func duration(s string) (days, rest time.Duration, ok bool) {
	m := durations.FindStringSubmatch(s)
	if m == nil {
		return 0, 0, false
	}
	n := func(k int) time.Duration {
		v, _ := strconv.Atoi(m[k]) // digits, or nothing
		return time.Duration(v)
	}
	days = min(n(1)*7+n(2), longest/clock.Day) * clock.Day
	return days, n(3)*time.Hour + n(4)*time.Minute + n(5)*time.Second, true
}

// setRule sets the recurrence rule of an event.
func (c *calendar) setRule(e *event, v *block) error {
	all := v.props["RRULE"]
	if len(all) == 0 || !e.replaces.IsZero() || e.lost != nil {
		return nil
	}
	if y := e.start.Year(); y < firstYear || y > 9000 {
		return bridge.Errorf(bridge.CodeUnavailable, "the repeating event starts in the year %d", y)
	}
	var err error
	e.rule, err = newRule(all[0].value, e.start, e.zone, e.allDay)
	return err
}

// newRule returns a recurrence rule that starts at a wall time of a zone. All
// rules of a calendar are read here, so the same limits apply to all of them.
func newRule(text string, start time.Time, zone *time.Location, allDay bool) (*rrule.RRule, error) {
	if len(text) > maxRule {
		return nil, bridge.Errorf(bridge.CodeUnavailable, "a rule for repetitions is longer than %d bytes", maxRule)
	}
	o, err := rrule.StrToROption(text)
	if err != nil {
		return nil, bridge.Errorf(bridge.CodeUnavailable, "invalid rule %q", text)
	}
	if err := bounded(o); err != nil {
		return nil, err
	}
	o.Dtstart = start
	switch until := untilIn(text); {
	case strings.HasSuffix(until, "Z"):
		o.Until = clock.Wall(o.Until.In(zone))
	case len(until) == len("20060102") && !allDay:
		o.Until = o.Until.Add(clock.Day - time.Second)
	}
	r, err := rrule.NewRRule(*o)
	if err != nil {
		return nil, bridge.Errorf(bridge.CodeUnavailable, "invalid rule %q", text)
	}
	return r, nil
}

func untilIn(rule string) string {
	_, after, _ := strings.Cut(strings.ToUpper(rule), "UNTIL=")
	until, _, _ := strings.Cut(after, ";")
	return until
}

// bounded returns an error for rules that take long to expand. Expansion starts
// at the first occurrence of a rule, and a rule that never matches is expanded
// up to the year 9999.
func bounded(rule *rrule.ROption) error {
	perDay := max(1, len(rule.Byhour)) * max(1, len(rule.Byminute)) * max(1, len(rule.Bysecond))
	switch {
	case rule.Freq > rrule.DAILY:
		return bridge.Errorf(bridge.CodeUnavailable, "an event that repeats more often than daily is not supported")
	case rule.Freq > rrule.MONTHLY && len(rule.Bymonthday)+len(rule.Byyearday)+len(rule.Byweekno)+len(rule.Byeaster)+len(rule.Bysetpos) > 0:
		return bridge.Errorf(bridge.CodeUnavailable, "a daily or weekly event limited to days of a month or year is not supported")
	case perDay > maxPerDay:
		return bridge.Errorf(bridge.CodeUnavailable, "the event repeats more than %d times a day", maxPerDay)
	case rule.Interval > maxInterval:
		return bridge.Errorf(bridge.CodeUnavailable, "the interval %d of the event is longer than %d", rule.Interval, maxInterval)
	}
	return nil
}

// later returns a later start for the same occurrences, shortly before a time,
// so that earlier years are not expanded.
func later(rule rrule.ROption, start, before time.Time) time.Time {
	days := map[rrule.Frequency]int{rrule.DAILY: 1, rrule.WEEKLY: 7}[rule.Freq] * max(1, rule.Interval)
	passed := int(before.Sub(start).Hours()/24) - 2*days
	if days == 0 || rule.Count > 0 || passed < days {
		return start
	}
	return start.AddDate(0, 0, passed/days*days)
}

// covers reports whether an event is in progress.
func (c *calendar) covers(e *event, at time.Time) bool {
	s := cmp.Or(e.series, e)
	wall := clock.Wall(at.In(s.zone)).Add(-e.by)
	for _, begin := range s.begins(wall.Add(-e.wall-e.exact-2*clock.Day), wall.Add(2*clock.Day)) {
		when := inZone(begin, s.zone)
		switch {
		case s.without[key(when, begin, false)] || s.without[key(when, begin, true)]:
		case s.replaces.IsZero() && c.moved[e.uid+when.UTC().String()]:
		case e.series != nil && when.Before(e.replaces) || !e.until.IsZero() && !when.Before(e.until):
		default:
			begin = begin.Add(e.by)
			if end := inZone(begin.Add(e.wall), e.zone).Add(e.exact); !at.Before(inZone(begin, e.zone)) && at.Before(end) {
				return true
			}
		}
	}
	return false
}
