package config

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Step is one thing that is done while nobody answers.
type Step struct {
	After  Duration `yaml:"after"`  // after the step before it, or the posting
	Remind bool     `yaml:"remind"` // mention those who are asked
	// Times repeats a reminder, each time after twice as long; 0 means once.
	Times  int    `yaml:"times"`
	Ask    Words  `yaml:"ask"`     // people and @groups who are asked as well, and mentioned
	Route  string `yaml:"route"`   // whose places and people are asked as well
	GiveUp string `yaml:"give_up"` // expire or deny
}

// Quiet are hours in which steps wait.
type Quiet struct {
	From  string `yaml:"from"` // as in 22:00
	To    string `yaml:"to"`
	Zone  string `yaml:"zone"`  // IANA name; default UTC
	Risks Words  `yaml:"risks"` // that do not wait
}

// OnCall is a schedule; exactly one of its kinds is set.
type OnCall struct {
	Rotation  *Rotation `yaml:"rotation"`
	ICal      *Feed     `yaml:"ical"`
	PagerDuty *Schedule `yaml:"pagerduty"`
	Opsgenie  *Schedule `yaml:"opsgenie"`
	GoAlert   *Schedule `yaml:"goalert"`
	Grafana   *Schedule `yaml:"grafana"`
}

// Rotation takes people in turns.
type Rotation struct {
	People Words     `yaml:"people"`
	Start  time.Time `yaml:"start"` // of the first one's turn
	Every  Duration  `yaml:"every"` // length of a turn
}

// Feed is a calendar.
type Feed struct {
	URL Secret `yaml:"url"` // http or https; a secret, as many hold a token
}

// Schedule is one of a service.
type Schedule struct {
	URL      string `yaml:"url"`      // default: the service's own, where it has one
	Schedule string `yaml:"schedule"` // its id
	Token    Secret `yaml:"token"`
}

// maxTimes bounds how often a reminder is repeated.
const (
	maxTimes    = 10
	maxHandOver = 4
)

func (c Config) checkEscalation(bad func(path, format string, args ...any), name, path string) {
	r := c.Routes[name]
	for n, s := range r.Escalation {
		at := fmt.Sprintf("%s.escalation[%d]", path, n)
		s.check(func(key, format string, args ...any) { bad(at+key, format, args...) }, n == len(r.Escalation)-1)
		if _, ok := c.Routes[s.Route]; s.Route != "" && (!ok || s.Route == name) {
			bad(at+".route", "there is no other route %q", s.Route)
		}
		c.checkNames(bad, at+".ask", s.Ask)
	}
	if r.Quiet != nil {
		r.Quiet.check(func(key, format string, args ...any) { bad(path+".quiet"+key, format, args...) })
	}
	if len(r.HandOver) > maxHandOver {
		bad(path+".hand_over", "names %d people, more than %d", len(r.HandOver), maxHandOver)
	}
	c.checkPeople(bad, path+".hand_over", r.HandOver)
}

// check reports what is wrong with a step, by itself.
func (s Step) check(bad func(key, format string, args ...any), last bool) {
	if s.After <= 0 {
		bad(".after", "is not set; say how long to wait, such as 2m")
	}
	if s.Times < 0 || s.Times > maxTimes || s.Times > 0 && !s.Remind {
		bad(".times", "goes with remind, and is at most %d", maxTimes)
	}
	if !s.Remind && len(s.Ask) == 0 && s.Route == "" && s.GiveUp == "" {
		bad("", "does nothing; set remind, ask, route or give_up")
	}
	if s.GiveUp != "" && !last {
		bad(".give_up", "is not the last step")
	}
	if !slices.Contains([]string{"", "expire", "deny"}, s.GiveUp) {
		bad(".give_up", "%q is not expire or deny", s.GiveUp)
	}
}

func (q Quiet) check(bad func(key, format string, args ...any)) {
	for field, s := range map[string]string{"from": q.From, "to": q.To} {
		if _, err := time.Parse("15:04", s); err != nil {
			bad("."+field, "%q is not like 22:00", s)
		}
	}
	if _, err := time.LoadLocation(q.Zone); err != nil {
		bad(".zone", "there is no time zone %q", q.Zone)
	}
}

func (c Config) checkOnCall(bad func(path, format string, args ...any)) {
	for _, name := range slices.Sorted(maps.Keys(c.OnCall)) {
		o, path := c.OnCall[name], "oncall."+name
		kinds := 0
		if r := o.Rotation; r != nil {
			kinds++
			c.checkPeople(bad, path+".rotation.people", r.People)
			if len(r.People) == 0 || r.Every <= 0 || r.Start.IsZero() {
				bad(path+".rotation", "needs people, start and every")
			}
		}
		if f := o.ICal; f != nil {
			kinds++
			if !isWeb(f.URL.Value()) {
				bad(path+".ical.url", "is not an http or https address")
			}
		}
		for kind, s := range map[string]*Schedule{
			"pagerduty": o.PagerDuty, "opsgenie": o.Opsgenie, "goalert": o.GoAlert, "grafana": o.Grafana,
		} {
			if s == nil {
				continue
			}
			kinds++
			s.check(bad, path, kind)
		}
		if kinds != 1 {
			bad(path, "has %d kinds; set one of rotation, ical, pagerduty, opsgenie, goalert, grafana", kinds)
		}
	}
}

func (s Schedule) check(bad func(path, format string, args ...any), path, kind string) {
	if s.Schedule == "" || !s.Token.Set() {
		bad(path+"."+kind, "needs schedule and token")
	}
	if s.URL == "" && (kind == "goalert" || kind == "grafana") {
		bad(path+"."+kind+".url", "is empty; it is the address of your own server")
	}
}
