package oncall

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Service is a schedule of an on-call service.
type Service struct {
	// URL is the URL of the API. If it is empty, the default URL of the service
	// is used, if the service has one.
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

// pagerDutyShift is a shift in a response of PagerDuty. A shift may lack a
// start or an end.
type pagerDutyShift struct {
	Level int        `json:"escalation_level"`
	Start *time.Time `json:"start"`
	End   *time.Time `json:"end"`
	User  struct {
		ID    string `json:"id"`
		Name  string `json:"name"`
		Email string `json:"email"`
	} `json:"user"`
}

// maxPages is the maximum number of pages of a response, each with 100 shifts.
const maxPages = 10

// OnCall implements Source.
func (p PagerDuty) OnCall(ctx context.Context, at time.Time) ([]Entry, error) {
	all, err := p.shifts(ctx, at)
	if err != nil {
		return nil, err
	}
	// the response includes shifts before and after this time
	all = slices.DeleteFunc(all, func(s pagerDutyShift) bool {
		return s.Start != nil && at.Before(*s.Start) || s.End != nil && !at.Before(*s.End)
	})
	var entries []Entry
	for _, s := range all {
		if !slices.ContainsFunc(all, func(o pagerDutyShift) bool { return o.Level < s.Level }) {
			entries = append(entries, Entry{ID: s.User.ID, Email: s.User.Email, Name: s.User.Name})
		}
	}
	return entries, nil
}

// shifts returns the shifts of all pages of a response.
func (p PagerDuty) shifts(ctx context.Context, at time.Time) (all []pagerDutyShift, err error) {
	header := http.Header{"Authorization": {"Token token=" + p.Token}, "Accept": {"application/vnd.pagerduty+json;version=2"}}
	q := url.Values{
		"schedule_ids[]": {p.Schedule}, "include[]": {"users"}, "limit": {"100"},
		"since": {at.UTC().Format(time.RFC3339)}, "until": {at.Add(time.Second).UTC().Format(time.RFC3339)},
	}
	for range maxPages {
		q.Set("offset", strconv.Itoa(len(all)))
		var page struct {
			OnCalls []pagerDutyShift `json:"oncalls"`
			More    bool             `json:"more"`
		}
		if err := call(ctx, p.Client, http.MethodGet, Service(p).base("https://api.pagerduty.com")+"/oncalls?"+q.Encode(), header, nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.OnCalls...)
		if !page.More || len(page.OnCalls) == 0 {
			return all, nil
		}
	}
	return nil, bridge.Errorf(bridge.CodeUnavailable, "the schedule has more than %d shifts", len(all))
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
