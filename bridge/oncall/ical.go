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
	dec := ical.NewDecoder(bytes.NewReader(raw))
	var out []Entry
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
			on, err := covers(e, at, moved)
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

// covers reports whether an event is going on.
func covers(e ical.Event, at time.Time, moved map[string]bool) (bool, error) {
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
	set, err := e.RecurrenceSet(time.UTC)
	if err != nil {
		return false, err
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
