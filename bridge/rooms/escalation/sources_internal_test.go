package escalation

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/directory"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/oncall"
	"github.com/nodbridge/nod/platforms/platformtest/fake"
	"github.com/nodbridge/nod/render"
)

// grouped is a chat with groups of its own.
type grouped struct {
	fake.Talker
	members func() ([]string, error)
}

func (g grouped) Belongs(_ context.Context, _, user string) (bool, error) {
	all, err := g.members()
	return slices.Contains(all, user), err
}

// listing is a chat that lists the members of its groups.
type listing struct{ grouped }

func (l listing) Members(context.Context, string) ([]string, error) { return l.members() }

type transport func() (*http.Response, error)

func (f transport) RoundTrip(*http.Request) (*http.Response, error) { return f() }

// sourceOf returns the group of a source that names people, or fails.
type sourceOf func(o *directory.Options, people []string, err error) (directory.Group, bridge.Platform)

// responds returns a client whose service answers with a text, or fails.
func responds(text string, err error) *http.Client {
	return &http.Client{Transport: transport(func() (*http.Response, error) {
		status := http.StatusOK
		if err == errServer {
			status, err = http.StatusInternalServerError, nil
		}
		return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(text)), Header: http.Header{}}, err
	})}
}

var errServer = bridge.Errorf(bridge.CodeUnavailable, "HTTP 500")

func scheduled(kind string, from func(people []string, err error) oncall.Source) sourceOf {
	return func(o *directory.Options, people []string, err error) (directory.Group, bridge.Platform) {
		all := oncall.New()
		all.Add("primary", kind, from(people, err))
		o.Schedules = all
		return directory.Group{OnCall: "primary"}, nil
	}
}

func native(list bool) sourceOf {
	return func(_ *directory.Options, people []string, err error) (directory.Group, bridge.Platform) {
		var ids []string
		for _, who := range people {
			ids = append(ids, "U-"+who)
		}
		g := grouped{fake.Talker{Chat: &fake.Chat{As: "chat"}}, func() ([]string, error) { return ids, err }}
		if list {
			return directory.Group{Of: map[string]string{"chat": "G"}}, listing{g}
		}
		return directory.Group{Of: map[string]string{"chat": "G"}}, g
	}
}

// sources are the sources of the members of a group.
var sources = map[string]sourceOf{
	"config": func(_ *directory.Options, people []string, _ error) (directory.Group, bridge.Platform) {
		return directory.Group{People: people}, nil
	},
	"Slack group": native(true), "Discord role": native(false),
	"iCal": scheduled("ical", func(people []string, err error) oncall.Source {
		text := "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART:20200101T000000Z\r\nDTEND:20990101T000000Z\r\n"
		for _, who := range people {
			name, declined := strings.CutPrefix(who, "declined ")
			text += "ATTENDEE;PARTSTAT=" + map[bool]string{true: "DECLINED", false: "ACCEPTED"}[declined] + ":mailto:" + name + "@example.com\r\n"
		}
		return oncall.ICal{URL: "http://ical", Client: responds(text+"END:VEVENT\r\nEND:VCALENDAR\r\n", err)}
	}),
	"PagerDuty": scheduled("pagerduty", func(people []string, err error) oncall.Source {
		var all []map[string]any
		for _, who := range people {
			all = append(all, map[string]any{"escalation_level": 1, "user": map[string]string{"id": "P-" + who, "email": who + "@example.com"}})
		}
		raw, _ := json.Marshal(map[string]any{"oncalls": all})
		return oncall.PagerDuty{Client: responds(string(raw), err)}
	}),
	"GoAlert": scheduled("goalert", func(people []string, err error) oncall.Source {
		var all []map[string]any
		for _, who := range people {
			all = append(all, map[string]any{"start": "2020-01-01T00:00:00Z", "end": "2099-01-01T00:00:00Z", "user": map[string]string{"id": "G-" + who, "email": who + "@example.com"}})
		}
		raw, _ := json.Marshal(map[string]any{"data": map[string]any{"schedule": map[string]any{"shifts": all}}})
		return oncall.GoAlert{URL: "http://goalert", Client: responds(string(raw), err)}
	}),
	"rotation": scheduled("rotation", func(people []string, _ error) oncall.Source {
		return oncall.Rotation{People: people, Start: time.Now().Add(-time.Minute), Every: 24 * time.Hour}
	}),
}

// TestSourcesAndFaults checks for each source of people and each way in which it can
// fail who may decide, who is told, and what the card says.
func TestSourcesAndFaults(t *testing.T) {
	t.Parallel()
	crowd := []string{"bo"}
	for n := range 1_999 {
		crowd = append(crowd, fmt.Sprintf("p%04d", n))
	}
	const found, again = "More people were asked: ", "Not found; nod will look again: @team ("
	for _, x := range []struct {
		fault  string
		people []string
		err    error
		only   string // sources that can fail so; empty means all
		may    bool   // bo may approve
		denies bool   // bo may deny
		card   string
		native string // if a chat mentions the group
	}{
		{"none", []string{"bo"}, nil, "", true, true, found + "bo (Chat)", found + "@team (Chat)"},
		{"HTTP 500", nil, errServer, "Slack group Discord role iCal PagerDuty GoAlert", false, true, again, found + "@team (Chat)"},
		{"timeout", nil, os.ErrDeadlineExceeded, "Slack group Discord role iCal PagerDuty GoAlert", false, true, again, found + "@team (Chat)"},
		{"empty", nil, nil, "Slack group Discord role iCal PagerDuty GoAlert", false, false, again + "no one is on call)", found + "@team (Chat)"},
		{"stranger", []string{"zoe"}, nil, "iCal PagerDuty GoAlert rotation", false, false, again + "on call, but not in the config: zoe", ""},
		{"someone else", []string{"cy"}, nil, "", false, false, found + "cy (Chat)", found + "@team (Chat)"},
		{"declined", []string{"declined bo", "cy"}, nil, "iCal", false, false, found + "cy (Chat)", ""},
		{"2,000 members", crowd, nil, "Slack group Discord role iCal PagerDuty GoAlert rotation", true, true, "bo (Chat)", found + "@team (Chat)"},
	} {
		for source, from := range sources {
			if x.only != "" && !strings.Contains(x.only, source) {
				continue
			}
			t.Run(x.fault+"/"+source, func(t *testing.T) {
				t.Parallel()
				d := directory.Options{People: map[string]directory.Person{}, Groups: map[string]directory.Group{}, Remembered: time.Nanosecond}
				for _, who := range []string{"ana", "bo", "cy"} {
					d.People[who] = directory.Person{Accounts: map[string]string{"chat": "U-" + who}, Email: who + "@example.com"}
				}
				group, p := from(&d, x.people, x.err)
				d.Groups["team"] = group
				if p == nil {
					p = fake.Talker{Chat: &fake.Chat{As: "chat"}}
				}
				d.Platforms = []bridge.Platform{p}
				o := newOffice(t, func(o *engine.Options) { o.Directory, o.Platforms = directory.New(d), []bridge.Platform{p} })
				i := fake.Question("Ship it?")
				i.Groups = []string{"team"}
				i.Responders = slices.DeleteFunc(slices.Clone(i.Responders), func(r bridge.Responder) bool { return r.Person == "bo" })
				bo := bridge.Actor{Platform: "chat", User: "U-bo"}
				if may, denies := o.People.MayAnswer(t.Context(), i, bo), o.People.MayDeny(t.Context(), i, bo); may != x.may || denies != x.denies {
					t.Errorf("bo may approve: %v, deny: %v", may, denies)
				}
				if ana := (bridge.Actor{Platform: "chat", User: "U-ana"}); !o.People.MayAnswer(t.Context(), i, ana) {
					t.Error("a responder by name may not answer")
				}
				r := o.climb(i, bridge.Step{Ask: []string{"@team"}})
				want := x.card
				if group.Of != nil {
					want = x.native
				}
				said := render.Standing(r)
				if !strings.Contains(said, want) || len(said) > 2000 {
					t.Errorf("the card says %q; want %q", said, want)
				}
				users := 0
				for _, m := range r.Reminders {
					users += len(m.Users)
				}
				if users > 50 {
					t.Errorf("%d people are mentioned", users)
				}
			})
		}
	}
}
