package config

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// OnCall is an on-call schedule. It has exactly one kind.
type OnCall struct {
	// Rotation is a schedule in which people take turns.
	Rotation *Rotation `yaml:"rotation"`
	// ICal is a calendar feed.
	ICal *Feed `yaml:"ical"`
	// PagerDuty is a schedule of PagerDuty.
	PagerDuty *Schedule `yaml:"pagerduty"`
	// GoAlert is a schedule of a GoAlert server.
	GoAlert *Schedule `yaml:"goalert"`
}

// Rotation is a schedule in which people take turns. If people join or leave,
// whoever has the turn keeps it.
type Rotation struct {
	// People are the people of the rotation, in order. It is required.
	//
	// Example: [ana, bo]
	People []string `yaml:"people"`
	// Start is the time at which the turn of the first person starts. It is
	// required.
	//
	// Example: 2026-11-02T09:00:00Z
	Start time.Time `yaml:"start"`
	// Every is the length of a turn. It is required.
	//
	// Example: 168h
	Every Duration `yaml:"every"`
	// Zone is the IANA name of the time zone in which turns begin at the same time
	// of day, even when its clock changes for daylight saving.
	//
	// Default: UTC
	// Example: Europe/Madrid
	Zone string `yaml:"zone"`
}

// Feed is a calendar in iCalendar format.
type Feed struct {
	// URL is the HTTP or HTTPS address of the calendar. It is a secret because
	// many such addresses contain a token.
	//
	// Example: {env: ICAL_URL}
	URL Secret `yaml:"url"`
}

// Schedule is a schedule of an on-call service.
type Schedule struct {
	// URL is the address of the service. GoAlert requires it. For PagerDuty, the
	// default is the address of the service.
	//
	// Example: https://goalert.example.com
	URL string `yaml:"url"`
	// Schedule is the ID of the schedule. It is required.
	//
	// Example: PABC123
	Schedule string `yaml:"schedule"`
	// Token is the API token for the service. It is required.
	//
	// Example: {env: PAGERDUTY_TOKEN}
	Token Secret `yaml:"token"`
}

// Limits of a route: reminders in an escalation step, and people and groups
// that a responder can delegate to.
const (
	maxTimes    = 10
	maxHandOver = 4
)

// asksMore reports whether a step of the route asks more people.
func (r Route) asksMore() bool {
	return slices.ContainsFunc(r.Escalation, func(s Step) bool { return len(s.Ask) > 0 || s.Route != "" })
}

func (c Config) checkEscalation(bad func(path, format string, args ...any), name, path string) {
	r := c.Routes[name]
	for n, s := range r.Escalation {
		at := fmt.Sprintf("%s.escalation[%d]", path, n)
		s.check(func(key, format string, args ...any) { bad(at+key, format, args...) }, n == len(r.Escalation)-1)
		if s.Route == name {
			bad(at+".route", "route %q cannot escalate to itself; set another route", name)
		}
		c.checkNames(bad, at+".ask", s.Ask)
	}
	if r.Quiet != nil {
		r.Quiet.check(func(key, format string, args ...any) { bad(path+".quiet"+key, format, args...) })
	}
	if len(r.HandOver) > maxHandOver {
		bad(path+".hand_over", "%d names are too many (at most %d)", len(r.HandOver), maxHandOver)
	}
	c.checkNames(bad, path+".hand_over", r.HandOver)
}

// check reports the problems with a single step.
func (s Step) check(bad func(key, format string, args ...any), last bool) {
	if s.After <= 0 {
		bad(".after", "required; set the delay, such as 2m")
	}
	if s.Times > 0 && !s.Remind {
		bad(".times", "not allowed without remind; set remind: true")
	}
	if !s.Remind && len(s.Ask) == 0 && s.Route == "" && s.GiveUp == "" {
		bad("", "the step has no effect; set remind, ask, route or give_up")
	}
	if s.GiveUp != "" && !last {
		bad(".give_up", "not allowed before the last step; move it to the last step")
	}
}

func (q Quiet) check(bad func(key, format string, args ...any)) {
	for field, s := range map[string]string{"from": q.From, "to": q.To} {
		if _, err := time.Parse("15:04", s); err != nil {
			bad("."+field, "invalid time %q (such as 22:00)", s)
		}
	}
	if q.From == q.To {
		bad(".to", "equal to from, so there are no quiet hours; set another time, or remove quiet")
	}
}

func (c Config) checkOnCall(bad func(path, format string, args ...any)) {
	for _, name := range slices.Sorted(maps.Keys(c.OnCall)) {
		o, path := c.OnCall[name], "oncall."+name
		kinds := 0
		if r := o.Rotation; r != nil {
			kinds++
			if len(r.People) == 0 || r.Every <= 0 || r.Start.IsZero() {
				bad(path+".rotation", "people, start and every are required")
			}
		}
		if f := o.ICal; f != nil {
			kinds++
			if !isWeb(f.URL.Value()) {
				bad(path+".ical.url", "not an http or https URL; set the full URL of the calendar")
			}
		}
		for kind, s := range map[string]*Schedule{"pagerduty": o.PagerDuty, "goalert": o.GoAlert} {
			if s == nil {
				continue
			}
			kinds++
			s.check(bad, path, kind)
		}
		if kinds != 1 {
			bad(path, "%d kinds of schedule; set exactly one of rotation, ical, pagerduty and goalert", kinds)
		}
	}
}

func (s Schedule) check(bad func(path, format string, args ...any), path, kind string) {
	if s.Schedule == "" || !s.Token.Set() {
		bad(path+"."+kind, "schedule and token are required")
	}
	if s.URL == "" && kind == "goalert" {
		bad(path+"."+kind+".url", "required; set the URL of your own server")
	}
}
