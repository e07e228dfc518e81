package oncall

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Service is a schedule of an on-call service.
type Service struct {
	// URL is the URL of the API. If it is empty, it is the default of the
	// service, if there is one.
	URL      string
	Schedule string // ID of the schedule
	Token    string
	Client   *http.Client // a nil Client means http.DefaultClient
}

func (s Service) base(own string) string {
	if s.URL != "" {
		return strings.TrimRight(s.URL, "/")
	}
	return own
}

// PagerDuty is a Source that calls the REST API v2 of PagerDuty. The people at
// the lowest escalation level are on call.
type PagerDuty Service

// OnCall implements Source.
func (p PagerDuty) OnCall(ctx context.Context, at time.Time) ([]Entry, error) {
	when := at.UTC().Format(time.RFC3339)
	q := url.Values{"schedule_ids[]": {p.Schedule}, "include[]": {"users"}, "since": {when}, "until": {at.Add(time.Second).UTC().Format(time.RFC3339)}, "limit": {"100"}}
	var out struct {
		OnCalls []struct {
			Level int `json:"escalation_level"`
			User  struct {
				ID    string `json:"id"`
				Name  string `json:"name"`
				Email string `json:"email"`
			} `json:"user"`
		} `json:"oncalls"`
	}
	header := http.Header{"Authorization": {"Token token=" + p.Token}, "Accept": {"application/vnd.pagerduty+json;version=2"}}
	if err := call(ctx, p.Client, http.MethodGet, Service(p).base("https://api.pagerduty.com")+"/oncalls?"+q.Encode(), header, nil, &out); err != nil {
		return nil, err
	}
	lowest := 0
	for _, o := range out.OnCalls {
		if lowest == 0 || o.Level < lowest {
			lowest = o.Level
		}
	}
	var entries []Entry
	for _, o := range out.OnCalls {
		if o.Level == lowest {
			entries = append(entries, Entry{ID: o.User.ID, Email: o.User.Email, Name: o.User.Name})
		}
	}
	return entries, nil
}

// Opsgenie is a Source that calls the schedule API of Opsgenie. The user names
// of its recipients are email addresses.
type Opsgenie Service

// OnCall implements Source.
func (o Opsgenie) OnCall(ctx context.Context, at time.Time) ([]Entry, error) {
	q := url.Values{"flat": {"true"}, "scheduleIdentifierType": {"id"}, "date": {at.UTC().Format(time.RFC3339)}}
	var out struct {
		Data struct {
			Recipients []string `json:"onCallRecipients"`
		} `json:"data"`
	}
	address := Service(o).base("https://api.opsgenie.com") + "/v2/schedules/" + url.PathEscape(o.Schedule) + "/on-calls?" + q.Encode()
	if err := call(ctx, o.Client, http.MethodGet, address, http.Header{"Authorization": {"GenieKey " + o.Token}}, nil, &out); err != nil {
		return nil, err
	}
	var entries []Entry
	for _, r := range out.Data.Recipients {
		entries = append(entries, Entry{Email: r})
	}
	return entries, nil
}

// GoAlert is a Source that calls the GraphQL API of GoAlert for the current
// shifts.
type GoAlert Service

const goAlertQuery = `query($id: ID!, $start: ISOTimestamp!, $end: ISOTimestamp!) { schedule(id: $id) { shifts(start: $start, end: $end) { start end user { id name email } } } }`

// OnCall implements Source.
func (g GoAlert) OnCall(ctx context.Context, at time.Time) ([]Entry, error) {
	body, err := json.Marshal(map[string]any{"query": goAlertQuery, "variables": map[string]string{
		"id": g.Schedule, "start": at.UTC().Format(time.RFC3339), "end": at.Add(time.Minute).UTC().Format(time.RFC3339),
	}})
	if err != nil {
		return nil, err
	}
	var out struct {
		Data struct {
			Schedule *struct {
				Shifts []struct {
					Start time.Time `json:"start"`
					End   time.Time `json:"end"`
					User  struct {
						ID    string `json:"id"`
						Name  string `json:"name"`
						Email string `json:"email"`
					} `json:"user"`
				} `json:"shifts"`
			} `json:"schedule"`
		} `json:"data"`
		Errors []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}
	header := http.Header{"Authorization": {"Bearer " + g.Token}, "Content-Type": {"application/json"}}
	if err := call(ctx, g.Client, http.MethodPost, Service(g).base("")+"/api/graphql", header, bytes.NewReader(body), &out); err != nil {
		return nil, err
	}
	if len(out.Errors) > 0 {
		return nil, bridge.Errorf(bridge.CodeUnavailable, "goalert: %s", out.Errors[0].Message)
	}
	if out.Data.Schedule == nil {
		return nil, bridge.Errorf(bridge.CodeUnavailable, "goalert: schedule not found")
	}
	var entries []Entry
	for _, s := range out.Data.Schedule.Shifts {
		if !at.Before(s.Start) && at.Before(s.End) {
			entries = append(entries, Entry{ID: s.User.ID, Email: s.User.Email, Name: s.User.Name})
		}
	}
	return entries, nil
}

// Grafana is a Source that calls the on-call API of Grafana IRM, first for the
// schedule and then for its people.
type Grafana Service

// OnCall implements Source.
func (g Grafana) OnCall(ctx context.Context, _ time.Time) ([]Entry, error) {
	header := http.Header{"Authorization": {g.Token}}
	base := Service(g).base("")
	var schedule struct {
		Now []string `json:"on_call_now"`
	}
	if err := call(ctx, g.Client, http.MethodGet, base+"/api/v1/schedules/"+url.PathEscape(g.Schedule)+"/", header, nil, &schedule); err != nil {
		return nil, err
	}
	var entries []Entry
	for _, id := range schedule.Now {
		var user struct {
			Email string `json:"email"`
			Name  string `json:"username"`
		}
		if err := call(ctx, g.Client, http.MethodGet, base+"/api/v1/users/"+url.PathEscape(id)+"/", header, nil, &user); err != nil {
			return nil, err
		}
		entries = append(entries, Entry{ID: id, Email: user.Email, Name: user.Name})
	}
	return entries, nil
}
