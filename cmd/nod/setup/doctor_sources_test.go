package setup

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/cmd/nod/sandboxed"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/platforms/slack"
	"github.com/nodbridge/nod/platforms/telegram"
)

// serving returns the URL of a schedule that names people in the form of a service, or
// that answers with a status, or never.
func serving(t *testing.T, source string, people []string, status int) string {
	t.Helper()
	var event strings.Builder
	var pages, shifts []map[string]any
	for _, who := range people {
		name, declined := strings.CutPrefix(who, "declined ")
		fmt.Fprintf(&event, "ATTENDEE;PARTSTAT=%s:mailto:%s@example.com\r\n", map[bool]string{true: "DECLINED", false: "ACCEPTED"}[declined], name)
		user := map[string]string{"email": name + "@example.com"}
		pages = append(pages, map[string]any{"escalation_level": 1, "user": user})
		shifts = append(shifts, map[string]any{"start": "2020-01-01T00:00:00Z", "end": "2099-01-01T00:00:00Z", "user": user})
	}
	body := "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART:20200101T000000Z\r\nDTEND:20990101T000000Z\r\n" + event.String() + "END:VEVENT\r\nEND:VCALENDAR\r\n"
	answer := any(map[string]any{"oncalls": pages})
	if source == "GoAlert" {
		answer = map[string]any{"data": map[string]any{"schedule": map[string]any{"shifts": shifts}}}
	}
	if source != "calendar" {
		raw, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		body = string(raw)
	}
	ended := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status < 0 {
			select {
			case <-r.Context().Done():
			case <-ended:
			}
			return
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(func() { close(ended); s.Close() })
	return s.URL
}

// TestDoctorSources checks what the doctor says about each source of people and
// each way in which it can fail, and that docs/access/escalation.md says the
// same. TestSourcesAndFaults checks who may decide, who is told, and what the
// card says.
func TestDoctorSources(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../../../docs/access/escalation.md")
	if err != nil {
		t.Fatal(err)
	}
	crowd := []string{"bo"}
	for n := range 999 { // all are read within the time of a click, also with the race detector
		crowd = append(crowd, fmt.Sprintf("p%04d", n))
	}
	const schedules = "calendar PagerDuty GoAlert"
	for _, x := range []struct {
		fault   string
		sources string
		people  []string
		status  int // of HTTP; less than zero means no answer
		said    bridge.FindingStatus
		want    string
	}{
		{"none", schedules, []string{"bo"}, 200, bridge.FindingOK, "on call now: bo"},
		{"HTTP 500", schedules, nil, 500, bridge.FindingFailed, "cannot be read: "},
		{"no answer", schedules, nil, -1, bridge.FindingFailed, "cannot be read: "},
		{"empty", "PagerDuty GoAlert", nil, 200, bridge.FindingWarning, "no one is on call now"},
		{"stranger", schedules, []string{"zoe", "bo"}, 200, bridge.FindingWarning, "on call, but not in the config: "},
		{"declined", "calendar", []string{"declined bo", "cy"}, 200, bridge.FindingOK, "on call now: cy"},
		{"1,000 members", schedules, crowd, 200, bridge.FindingOK, "on call now: "},
		{"none", "rotation", []string{"bo"}, 0, bridge.FindingOK, "on call until "},
		{"stranger", "rotation config", []string{"zoe"}, 0, bridge.FindingFailed, "unknown person"},
		{"none", "Slack", []string{"bo"}, 0, bridge.FindingOK, "members of the user group: "},
		{"empty", "Slack", nil, 0, bridge.FindingWarning, "no one is in the user group"},
		{"HTTP 500", "Slack Discord", []string{"bo"}, 500, bridge.FindingFailed, "HTTP 500"},
		{"no answer", "Slack Discord", []string{"bo"}, -1, bridge.FindingFailed, "is unreachable"},
		{"empty", "Discord", nil, 0, bridge.FindingOK, "a mention notifies the members of the role"},
	} {
		for source := range strings.FieldsSeq(x.sources) {
			t.Run(x.fault+"/"+source, func(t *testing.T) {
				t.Parallel()
				var d Doctor
				switch source {
				case "rotation", "config":
					d = examinedTeam(t, source, x.people)
				case "Slack", "Discord":
					d = examinedChat(t, source, x.people, x.status)
				default:
					url := serving(t, source, x.people, x.status)
					of := config.OnCall{ICal: &config.Feed{URL: config.NewSecret(url)}}
					if s := (&config.Schedule{URL: url, Schedule: "S", Token: config.NewSecret("t")}); source == "PagerDuty" {
						of = config.OnCall{PagerDuty: s}
					} else if source == "GoAlert" {
						of = config.OnCall{GoAlert: s}
					}
					c := config.Config{People: map[string]config.Person{}, OnCall: map[string]config.OnCall{"primary": of}}
					for _, who := range append([]string{"bo", "cy"}, x.people...) {
						if who != "zoe" { // who is not in the config
							c.People[who] = config.Person{Email: who + "@example.com"}
						}
					}
					d.examineSchedules(t.Context(), c, nil)
				}
				if !slices.ContainsFunc(d.Findings, func(f bridge.Finding) bool {
					return f.Status == x.said && strings.Contains(f.Detail, x.want) && len(f.Detail) < 500
				}) {
					t.Errorf("%+v; want %s, %q", d.Findings, x.said, x.want)
				}
				if !strings.Contains(string(docs), strings.TrimSuffix(strings.TrimSpace(x.want), " bo")) {
					t.Errorf("docs/access/escalation.md does not say %q", x.want)
				}
			})
		}
	}
}

// examinedTeam returns a doctor that has examined a config in which a rotation or a
// group has people.
func examinedTeam(t *testing.T, source string, people []string) Doctor {
	t.Helper()
	list := strings.Join(people, ", ")
	text := "people: {bo: {}}\ngroups: {team: {people: [" + list + "]}}\n"
	if source == "rotation" {
		text = "people: {bo: {}}\noncall: {primary: {rotation: {people: [" + list + "], start: 2026-01-05T09:00:00Z, every: 24h}}}\n"
	}
	path := t.TempDir() + "/nod.yaml"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d := Doctor{Path: path}
	if c, ok := d.examineConfig(); ok {
		d.examineSchedules(t.Context(), c, nil)
	}
	return d
}

// examinedChat returns a doctor that has examined a group of a platform whose calls
// fail.
func examinedChat(t *testing.T, source string, people []string, status int) Doctor {
	t.Helper()
	s := sandbox.New(sandbox.Options{NoLimits: true})
	server := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); server.CloseClientConnections(); server.Close() })
	c := sandboxed.Config(server.URL)
	delete(c.Connections, "telegram")
	service, method := "slack", "usergroups.users.list"
	group := config.Group{Native: map[string]string{"slack": "S0SRE00001"}}
	if source == "Discord" {
		service, method = "discord", "GET /guilds/{guild}/roles"
		group = config.Group{Native: map[string]string{"discord": sandbox.DiscordGuild + "/" + sandbox.DiscordRole}}
		delete(c.Connections, "slack")
	} else {
		delete(c.Connections, "discord")
		s.SetGroup(service, group.Native["slack"], people...)
	}
	c.Groups = map[string]config.Group{"team": group}
	fault := sandbox.Fault{Service: service, Method: method, Kind: "page", Status: status}
	if status < 0 {
		fault.Kind = "drop"
	}
	if status != 0 {
		s.AddFault(fault)
	}
	var d Doctor
	d.examinePlatforms(t.Context(), c)
	return d
}

// TestDoctorApprovals checks that the doctor names the approvals that no one could
// give although the config is valid.
func TestDoctorApprovals(t *testing.T) {
	t.Parallel()
	route := func(quorum int, responders ...string) config.Route {
		return config.Route{To: []string{"slack:C1"}, Responders: responders, Quorum: quorum}
	}
	c := config.Config{
		People: map[string]config.Person{"ana": {}, "bo": {}},
		Groups: map[string]config.Group{"open": {OnCall: "primary"}},
		OnCall: map[string]config.OnCall{"primary": {Rotation: &config.Rotation{People: []string{"bo"}, Start: time.Now(), Every: config.Duration(time.Hour)}}},
		Routes: map[string]config.Route{"default": route(0, "bo"), "two": route(2, "ana", "bo"), "open": route(2, "@open")},
		Agents: map[string]config.Agent{
			"ci": {Owners: []string{"ana"}}, "asker": {Owners: []string{"ana"}, Kinds: []string{"ask"}}, "free": {},
			"own": {Owners: []string{"bo"}, Routes: []string{"open"}},
		},
		Policy: []policy.Rule{{Name: "prod", Then: "ask", Route: "default", Quorum: 2}, {Then: "ask", Risk: "high", Agents: []string{"own"}}},
		Risks:  []policy.Risk{{Name: "high", Quorum: 3}},
	}
	var d Doctor
	d.examineApprovals(c)
	got := map[string][]string{}
	for _, f := range d.Findings {
		got[f.Check] = append(got[f.Check], f.Detail)
		if f.Status != bridge.FindingWarning || f.Fix == "" {
			t.Errorf("%+v", f)
		}
	}
	for check, want := range map[string][]string{
		"approvals.ci":   {"route two: 2 approvals are needed, but only bo can approve", "rule prod on route default: 2 approvals are needed"},
		"approvals.free": {"rule prod on route default: 2 approvals are needed"}, "approvals.asker": nil, "approvals.own": {"rule prod on route default: "},
	} {
		if len(got[check]) != len(want) {
			t.Errorf("%s: %q; want %q", check, got[check], want)
			continue
		}
		for n, text := range want {
			if !strings.HasPrefix(got[check][n], text) {
				t.Errorf("%s: %q; want %q", check, got[check][n], text)
			}
		}
	}
}

// TestDoctorAsked checks that the doctor names people who are asked but not
// reached by any message: by steps, hand-overs, and the rotations of groups.
func TestDoctorAsked(t *testing.T) {
	t.Parallel()
	c := config.Config{
		Connections: map[string]any{"slack": &slack.Settings{BotToken: config.NewSecret("xoxb-1")}, "telegram": &telegram.Settings{BotToken: config.NewSecret("1:x")}},
		People:      map[string]config.Person{"ana": {Accounts: map[string]string{"slack": "U1"}}, "bo": {}, "cy": {Accounts: map[string]string{"discord": "3"}}, "dee": {Accounts: map[string]string{"telegram": "4"}}, "eve": {}, "fay": {Email: "fay@example.com"}},
		Groups:      map[string]config.Group{"oncall": {OnCall: "primary"}},
		OnCall:      map[string]config.OnCall{"primary": {Rotation: &config.Rotation{People: []string{"ana", "eve", "dee"}}}},
		Routes: map[string]config.Route{"default": {
			To: []string{"slack:C1"}, Responders: []string{"ana"}, HandOver: []string{"cy"}, Escalation: []config.Step{{Ask: []string{"bo", "fay"}}, {Ask: []string{"@oncall"}}},
		}},
	}
	for email, want := range map[bool]string{false: "bo cy eve fay", true: "bo cy eve"} {
		var d Doctor
		c.Identity.Email = email
		d.examineResponders(c)
		var got []string
		for _, f := range d.Findings {
			got = append(got, strings.TrimPrefix(f.Check, "people."))
			if f.Status != bridge.FindingWarning || f.Fix == "" || !strings.Contains(f.Detail, "no account on any platform") {
				t.Errorf("%+v", f)
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("it names %q; want %q", s, want)
		}
	}
	c.Routes["default"] = config.Route{To: []string{"slack:C1"}, Responders: []string{"@oncall"}}
	var d Doctor
	d.examineResponders(c)
	if len(d.Findings) != 2 || !strings.HasPrefix(d.Findings[0].Detail, "no account on slack") { // dee and eve
		t.Errorf("of a rotation that responds: %+v", d.Findings)
	}
}
