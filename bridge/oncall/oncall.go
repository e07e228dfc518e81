// Package oncall determines who is on call: from a rotation in the config, from
// a calendar, or from the schedule of a service.
//
// This package reads schedules. Looking up the people on call belongs to
// bridge/directory, and telling them to bridge/tell. It stores nothing. Start
// with [Schedules.OnCall].
package oncall

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Entry identifies a person on call with the data of the schedule. Unknown
// fields are empty.
type Entry struct {
	ID    string // ID in the schedule's own service
	Email string
	Name  string
}

// Source is one schedule. It is safe for concurrent use.
type Source interface {
	// OnCall returns who is on call at a time. The result may be empty.
	OnCall(ctx context.Context, at time.Time) ([]Entry, error)
}

// Schedules holds schedules by name. It is safe for concurrent use.
type Schedules struct{ sources map[string]*source }

// New returns an empty set of schedules.
func New() *Schedules { return &Schedules{sources: map[string]*source{}} }

// Add adds a schedule. It must be called before the first call of OnCall.
func (s *Schedules) Add(name, kind string, from Source) {
	s.sources[name] = &source{kind: kind, from: from}
}

// OnCall returns the people on call at a time, with the data of the schedule.
// It returns CodeUnavailable if the schedule cannot be read.
func (s *Schedules) OnCall(ctx context.Context, schedule string, at time.Time) ([]bridge.Named, error) {
	source, ok := s.sources[schedule]
	if !ok {
		return nil, bridge.Errorf(bridge.CodeInvalid, "unknown schedule %q", schedule)
	}
	entries, err := source.at(ctx, at)
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeUnavailable, err, "schedule %s", schedule)
	}
	out := make([]bridge.Named, len(entries))
	for n, e := range entries {
		out[n] = bridge.Named{Kind: source.kind, ID: e.ID, Email: e.Email, Name: e.Name}
	}
	return out, nil
}

// maxAnswer limits the response of a service, in bytes.
const maxAnswer = 4 << 20

// call makes a request and decodes its JSON response.
func call(ctx context.Context, client *http.Client, method, address string, header http.Header, body io.Reader, out any) error {
	raw, err := fetch(ctx, client, method, address, header, body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return bridge.Errorf(bridge.CodeUnavailable, "the response is not JSON")
	}
	return nil
}

// fetch makes a request. Its errors never contain the URL, because the URL may
// be a secret.
func fetch(ctx context.Context, client *http.Client, method, address string, header http.Header, body io.Reader) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, bridge.Errorf(bridge.CodeInvalid, "invalid URL")
	}
	for k, v := range header {
		req.Header[k] = v
	}
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		if ue, ok := err.(*url.Error); ok { //nolint:errorlint // Do returns exactly that
			err = ue.Err
		}
		return nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, err
	case len(raw) > maxAnswer:
		return nil, bridge.Errorf(bridge.CodeUnavailable, "the response is larger than %d bytes", maxAnswer)
	case resp.StatusCode != http.StatusOK:
		return nil, bridge.Errorf(bridge.CodeUnavailable, "HTTP %d", resp.StatusCode)
	}
	return raw, nil
}
