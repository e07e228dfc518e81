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

// ICal reads a calendar (RFC 5545): whoever attends an event of the moment is
// on call, and where nobody does, whom its summary names.
type ICal struct {
	URL    string
	Client *http.Client // nil: http.DefaultClient
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
			return nil, bridge.Errorf(bridge.CodeUnavailable, "the calendar can not be read")
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
				return nil, bridge.Errorf(bridge.CodeUnavailable, "the calendar has an event that can not be read")
			}
			if on {
				out = append(out, attendees(e)...)
			}
		}
	}
}

// overrides are the occurrences that were moved or changed, by event and time.
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
	s, _ := e.Props.Text(ical.PropUID) // an event without one is no other's
	return s
}

// Bounds of a calendar: a rotation repeats daily at most, in a few events.
const (
	maxCalendar  = 1 << 20 // bytes
	maxRepeating = 200
	maxPerDay    = 24 // occurrences of a rule
	firstYear    = 1970
)

// bounded refuses rules that take long to expand. Expanding starts at the
// beginning of a rule, and one that never matches ends in the year 9999.
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
		return bridge.Errorf(bridge.CodeUnavailable, "the calendar has a daily or weekly event on days of a month or a year, which is not supported")
	case perDay > maxPerDay:
		return bridge.Errorf(bridge.CodeUnavailable, "the calendar has an event that repeats more than %d times a day", maxPerDay)
	case start.Year() < firstYear || start.Year() > 9000:
		return bridge.Errorf(bridge.CodeUnavailable, "the calendar has a repeating event that starts in the year %d", start.Year())
	}
	return nil
}

// later returns a start of the same occurrences that is close to a time, so
// that none of the years before it are expanded.
func later(set *rrule.Set, start, before time.Time) time.Time {
	rule := set.GetRRule().OrigOptions
	days := map[rrule.Frequency]int{rrule.DAILY: 1, rrule.WEEKLY: 7}[rule.Freq] * max(1, rule.Interval)
	passed := int(before.Sub(start).Hours()/24) - 2*days
	if days == 0 || rule.Count > 0 || passed < days {
		return start
	}
	return start.AddDate(0, 0, passed/days*days)
}

// covers reports whether an event is going on.
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

// attendees are those whom an event names.
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

// address is that of a mailto: link.
func address(s string) string {
	if len(s) < 8 || !strings.EqualFold(s[:7], "mailto:") {
		return ""
	}
	return s[7:]
}
