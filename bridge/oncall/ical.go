package oncall

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	ical "github.com/emersion/go-ical"
	"github.com/teambition/rrule-go"

	"github.com/nodbridge/nod/bridge"
)

// ICal is a calendar (RFC 5545). The attendees of current events are on call.
// If an event has no attendees, the person named in its summary is.
type ICal struct {
	URL    string
	Client *http.Client // a nil Client means http.DefaultClient
}

// OnCall implements Source.
func (c ICal) OnCall(ctx context.Context, at time.Time) ([]Entry, error) {
	raw, err := fetch(ctx, c.Client, http.MethodGet, c.URL, nil, nil)
	if err != nil {
		return nil, err
	}
	if len(raw) > maxCalendar {
		return nil, bridge.Errorf(bridge.CodeUnavailable, "the calendar is larger than %d bytes", maxCalendar)
	}
	dec := ical.NewDecoder(bytes.NewReader(raw))
	var out []Entry
	left := maxRepeating
	for {
		calendar, err := dec.Decode()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, bridge.Errorf(bridge.CodeUnavailable, "the calendar cannot be read")
		}
		moved := overrides(calendar)
		for _, e := range calendar.Events() {
			if e.Props.Get(ical.PropRecurrenceRule) != nil {
				left--
			}
			if left < 0 {
				return nil, bridge.Errorf(bridge.CodeUnavailable, "the calendar has more than %d repeating events", maxRepeating)
			}
			on, err := covers(ctx, e, at, moved)
			if own, ok := errors.AsType[*bridge.Error](err); ok {
				return nil, own
			}
			if err != nil {
				return nil, bridge.Errorf(bridge.CodeUnavailable, "the calendar has an event that cannot be read")
			}
			if on {
				out = append(out, attendees(e)...)
			}
		}
	}
}

// overrides returns the occurrences that were moved or changed, by event and
// time.
func overrides(c *ical.Calendar) map[string]bool {
	out := map[string]bool{}
	for _, e := range c.Events() {
		if p := e.Props.Get(ical.PropRecurrenceID); p != nil {
			if t, err := p.DateTime(time.UTC); err == nil {
				out[uid(e)+t.UTC().String()] = true
			}
		}
	}
	return out
}

func uid(e ical.Event) string {
	s, _ := e.Props.Text(ical.PropUID) // an event without a UID overrides no other event
	return s
}

// Limits of a calendar. A rotation repeats at most daily, in a few events.
const (
	maxCalendar  = 1 << 20 // in bytes
	maxRepeating = 200
	maxPerDay    = 24 // occurrences of a rule
	firstYear    = 1970
)

// bounded returns an error for rules that take long to expand. Expansion starts
// at the first occurrence of a rule, and a rule that never matches is expanded
// up to the year 9999.
func bounded(e ical.Event, start time.Time) error {
	rule, err := e.Props.RecurrenceRule()
	if err != nil || rule == nil {
		return err
	}
	perDay := max(1, len(rule.Byhour)) * max(1, len(rule.Byminute)) * max(1, len(rule.Bysecond))
	switch {
	case rule.Freq > rrule.DAILY:
		return bridge.Errorf(bridge.CodeUnavailable, "the calendar has an event that repeats more often than daily, which is not supported")
	case rule.Freq > rrule.MONTHLY && len(rule.Bymonthday)+len(rule.Byyearday)+len(rule.Byweekno)+len(rule.Byeaster)+len(rule.Bysetpos) > 0:
		return bridge.Errorf(bridge.CodeUnavailable, "the calendar has a daily or weekly event limited to days of a month or year, which is not supported")
	case perDay > maxPerDay:
		return bridge.Errorf(bridge.CodeUnavailable, "the calendar has an event that repeats more than %d times a day", maxPerDay)
	case start.Year() < firstYear || start.Year() > 9000:
		return bridge.Errorf(bridge.CodeUnavailable, "the calendar has a repeating event that starts in the year %d", start.Year())
	}
	return nil
}

// later returns a later start for the same occurrences, close to a time, so
// that the years before it are not expanded.
func later(set *rrule.Set, start, before time.Time) time.Time {
	rule := set.GetRRule().OrigOptions
	days := map[rrule.Frequency]int{rrule.DAILY: 1, rrule.WEEKLY: 7}[rule.Freq] * max(1, rule.Interval)
	passed := int(before.Sub(start).Hours()/24) - 2*days
	if days == 0 || rule.Count > 0 || passed < days {
		return start
	}
	return start.AddDate(0, 0, passed/days*days)
}

// covers reports whether an event is in progress.
func covers(ctx context.Context, e ical.Event, at time.Time, moved map[string]bool) (bool, error) {
	if s, err := e.Status(); err == nil && s == ical.EventCancelled {
		return false, nil
	}
	start, err := e.DateTimeStart(time.UTC)
	if err != nil {
		return false, err
	}
	end, err := e.DateTimeEnd(time.UTC)
	if err != nil {
		return false, err
	}
	length := end.Sub(start)
	if err := errors.Join(ctx.Err(), bounded(e, start)); err != nil {
		return false, err
	}
	set, err := e.RecurrenceSet(time.UTC)
	if err != nil {
		return false, err
	}
	if set != nil {
		set.DTStart(later(set, start, at.Add(-length)))
	}
	if set == nil || e.Props.Get(ical.PropRecurrenceID) != nil {
		return !at.Before(start) && at.Before(end), nil
	}
	for _, begin := range set.Between(at.Add(-length), at, true) {
		if at.Before(begin.Add(length)) && !moved[uid(e)+begin.UTC().String()] {
			return true, nil
		}
	}
	return false, nil
}

// attendees returns the people that an event names.
func attendees(e ical.Event) []Entry {
	var out []Entry
	for _, p := range e.Props.Values(ical.PropAttendee) {
		if mail := address(p.Value); mail != "" {
			out = append(out, Entry{Email: mail})
		}
	}
	if len(out) > 0 {
		return out
	}
	summary, err := e.Props.Text(ical.PropSummary)
	if err != nil || strings.TrimSpace(summary) == "" {
		return nil
	}
	summary = strings.TrimSpace(summary)
	if strings.Contains(summary, "@") {
		return []Entry{{Email: summary}}
	}
	return []Entry{{Name: summary}}
}

// address returns the address in a mailto: link.
func address(s string) string {
	if len(s) < 8 || !strings.EqualFold(s[:7], "mailto:") {
		return ""
	}
	return s[7:]
}
