package oncall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/oncall"
)

// fake responds as a service does, and checks the requests that it receives.
func fake(t *testing.T, answers map[string]string, check func(*http.Request)) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if check != nil {
			check(r)
		}
		answer, ok := answers[r.Method+" "+r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, answer) // the client may have disconnected
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// who returns whom a schedule names now, or why that is unknown.
func who(t *testing.T, kind string, s oncall.Source) string {
	t.Helper()
	all := oncall.New()
	all.Add("primary", kind, s)
	got, err := all.OnCall(t.Context(), "primary", time.Now())
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, n := range got {
		out = append(out, n.Kind+" "+n.ID+" "+n.Email)
	}
	return strings.Join(out, ",")
}

func TestServices(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC()
	span := func(from, to time.Duration) string {
		return fmt.Sprintf(`"start":%q,"end":%q`, now.Add(from).Format(time.RFC3339), now.Add(to).Format(time.RFC3339))
	}
	needs := func(header, value string) func(*http.Request) {
		return func(r *http.Request) {
			if r.Header.Get(header) != value {
				t.Errorf("%s: %s is %q", r.URL, header, r.Header.Get(header))
			}
		}
	}
	service := func(url string) oncall.Service {
		return oncall.Service{URL: url, Schedule: "SCHED1", Token: "tok"}
	}
	pagerDuty := fake(t, map[string]string{"GET /oncalls": `{"oncalls":[
		{"user":{"id":"PBO0002","type":"user","summary":"Bo Chen","name":"Bo Chen","email":"bo@example.com"},"schedule":{"id":"SCHED1","type":"schedule_reference"},"escalation_policy":{"id":"PT1"},"escalation_level":2,"start":null,"end":null},
		{"user":{"id":"PANA001","type":"user","summary":"Ana Lima","name":"Ana Lima","email":"a.lima@example.org"},"schedule":{"id":"SCHED1","type":"schedule_reference"},"escalation_policy":{"id":"PT1"},"escalation_level":1,` + span(-48*time.Hour, time.Hour) + `}],
		"limit":100,"offset":0,"more":false,"total":null}`}, func(r *http.Request) {
		needs("Authorization", "Token token=tok")(r)
		needs("Accept", "application/vnd.pagerduty+json;version=2")(r)
		if q := r.URL.Query(); q.Get("schedule_ids[]") != "SCHED1" || q.Get("include[]") != "users" || q.Get("since") == "" {
			t.Errorf("query %v", q)
		}
	})
	if got := who(t, "pagerduty", oncall.PagerDuty(service(pagerDuty))); got != "pagerduty PANA001 a.lima@example.org" {
		t.Error("pagerduty:", got)
	}
	goAlert := fake(t, map[string]string{"POST /api/graphql": `{"data":{"schedule":{"shifts":[
		{` + span(-48*time.Hour, -time.Hour) + `,"user":{"id":"u1","name":"bo","email":"bo@example.com"}},{` + span(-time.Hour, time.Hour) + `,"user":{"id":"u2","name":"Ana","email":"ana@example.com"}}]}}}`}, func(r *http.Request) {
		var body struct{ Variables map[string]string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Variables["id"] != "SCHED1" {
			t.Errorf("%+v, %v", body, err)
		}
		needs("Authorization", "Bearer tok")(r)
	})
	if got := who(t, "goalert", oncall.GoAlert(service(goAlert))); got != "goalert u2 ana@example.com" {
		t.Error("goalert:", got)
	}
	// A response that cannot be read is an error that does not contain the token.
	broken := fake(t, map[string]string{"GET /oncalls": `<html>`, "POST /api/graphql": `{"errors":[{"message":"unauthorized"}]}`}, nil)
	for kind, s := range map[string]oncall.Source{"pagerduty": oncall.PagerDuty(service(broken)), "goalert": oncall.GoAlert(service(broken)),
		"ical": oncall.ICal{URL: "http://127.0.0.1:1/secret-feed-token"}} {
		all := oncall.New()
		all.Add("s", kind, s)
		if got, err := all.OnCall(t.Context(), "s", time.Now()); bridge.ErrorCode(err) != bridge.CodeUnavailable || strings.Contains(err.Error(), "secret-feed-token") {
			t.Errorf("%s: %v, %v", kind, got, err)
		}
	}
}

// TestRotationChanges checks that no one's turn moves if people join or leave: who
// has the turn keeps it, and if they left, the next one takes over.
func TestRotationChanges(t *testing.T) {
	t.Parallel()
	const week = 7 * 24 * time.Hour
	start := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	now := start.Add(week + time.Hour) // bo has the turn
	for _, x := range []struct{ after, want string }{
		{"ana bo cy", "bo cy ana bo"}, {"bo cy", "bo cy bo cy"}, {"ana cy", "cy ana cy ana"}, {"ana bo", "bo ana bo ana"},
		{"cy bo ana", "bo ana cy bo"}, {"zoe ana bo cy", "bo cy zoe ana"}, {"zoe", "zoe zoe zoe zoe"}, {"zoe ana", "ana zoe ana zoe"},
		{"ana cy, then ana dee cy", "cy ana dee cy"}, {"bo cy, then ana bo cy", "bo cy ana bo"},
	} {
		r := oncall.Rotation{People: []string{"ana", "bo", "cy"}, Start: start, Every: week}
		for people := range strings.SplitSeq(x.after, ", then ") {
			r = oncall.Rotation{People: strings.Fields(people), Start: start, Every: week}.After(r, now)
		}
		var got []string
		for n := range 4 {
			who, err := r.OnCall(t.Context(), now.Add(time.Duration(n)*week))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, who[0].Name)
		}
		if s := strings.Join(got, " "); s != x.want {
			t.Errorf("%s: %s; want %s", x.after, s, x.want)
		}
	}
	for after, want := range map[string]string{
		"ana bo ana cy dee": "ana cy dee ana bo", "dee ana bo ana cy": "ana cy dee ana bo", "ana ana cy": "ana cy ana ana cy", "ana bo cy": "ana bo cy ana bo", "bo cy": "cy bo cy bo cy",
	} { // the second turn of ana, who has two
		r := oncall.Rotation{People: []string{"ana", "bo", "ana", "cy"}, Start: start, Every: week}
		now := start.Add(2*week + time.Hour)
		r = oncall.Rotation{People: strings.Fields(after), Start: start, Every: week}.After(r, now)
		var got []string
		for n := range 5 {
			who, err := r.OnCall(t.Context(), now.Add(time.Duration(n)*week))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, who[0].Name)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s; want %s", after, s, want)
		}
	}
	again := oncall.Rotation{People: []string{"ana", "bo"}, Start: start.Add(time.Hour), Every: week}
	if got := again.After(oncall.Rotation{People: []string{"bo", "ana"}, Start: start, Every: week}, now); got.Anchor != (oncall.Anchor{}) {
		t.Errorf("with another start, it is %+v", got)
	}
}

func TestRotation(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	r := oncall.Rotation{People: []string{"ana", "bo", "cy"}, Start: start, Every: 168 * time.Hour}
	for after, want := range map[time.Duration]string{-time.Second: "[]", 0: "[{  ana}]", 168*time.Hour - 1: "[{  ana}]", 168 * time.Hour: "[{  bo}]", 2 * 168 * time.Hour: "[{  cy}]", 3 * 168 * time.Hour: "[{  ana}]", 300 * 168 * time.Hour: "[{  ana}]"} {
		if got, err := r.OnCall(context.Background(), start.Add(after)); err != nil || fmt.Sprint(got) != want {
			t.Errorf("after %s: %v, %v; want %s", after, got, err, want)
		}
	}
}

// TestPagerDutyShifts checks that a hand-over has one person on call, and that later
// pages of a response count.
func TestPagerDutyShifts(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)
	shift := func(who, start, end string) string {
		return `{"user":{"id":"` + who + `"},"escalation_level":1,"start":` + start + `,"end":` + end + `}`
	}
	const handOver, second = `"2026-11-27T09:00:00Z"`, `"2026-11-27T10:00:01+01:00"`
	pages := map[string]string{
		"0": shift("PANA", `"2026-11-20T09:00:00Z"`, handOver) + "," + shift("PBO", handOver, second) + "," + shift("PDEE", second, "null"), "3": shift("PCY", "null", "null"),
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		offset := r.URL.Query().Get("offset")
		_, _ = fmt.Fprintf(w, `{"oncalls":[%s],"more":%t}`, pages[offset], offset == "0") // the client may have disconnected
	}))
	t.Cleanup(s.Close)
	got, err := oncall.PagerDuty{URL: s.URL, Schedule: "S"}.OnCall(t.Context(), at)
	if fmt.Sprint(got) != "[{PBO  } {PCY  }]" || err != nil {
		t.Errorf("on call are %v, %v", got, err)
	}
}
