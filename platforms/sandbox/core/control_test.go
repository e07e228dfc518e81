package core_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// TestPerson checks how a member finds controls and fills modals.
func TestPerson(t *testing.T) {
	t.Parallel()
	s, ctx := &service{}, t.Context()
	at := core.Place{Service: "chat", Channel: "c", Message: "1"}
	if _, err := core.Press(ctx, s, "ana", at, "Approve"); err != nil || s.did.Do != "press" ||
		s.did.Control != "yes" || s.did.As != "ana" {
		t.Errorf("clicked %+v: %v", s.did, err)
	}
	if _, err := core.Press(ctx, s, "ana", at, "Deny"); err == nil {
		t.Error("clicked nothing")
	}
	at.Message = "2"
	if _, err := core.Press(ctx, s, "ana", at, "Approve"); err == nil {
		t.Error("clicked in no message")
	}
	if _, err := core.Fill(ctx, s, "ana", "v", [][]string{{"text"},
		{"Label y"}}); err != nil || s.did.Values["note"][0] != "text" || s.did.Values["one"][0] != "y" {
		t.Errorf("filled %+v: %v", s.did, err)
	}
	for word, fields := range map[string][][]string{
		"has 3 inputs, not 4": {nil, nil, nil, nil}, "no option": {nil, {"z"}}, "": {nil, nil, {"Label g"}},
	} {
		if _, err := core.Fill(ctx, s, "ana", "v", fields); (word == "") != (err == nil) || err != nil &&
			!strings.Contains(err.Error(), word) {
			t.Errorf("filled: %v, want %q", err, word)
		}
	}
	if _, err := core.Fill(ctx, s, "ana", "w", nil); err == nil || !strings.Contains(err.Error(), "no modal") {
		t.Errorf("filled: %v", err)
	}
}

// service is a small emulator; its methods that are not here are not called.
type service struct {
	core.Service
	did core.Action
}

func (s *service) Name() string { return "chat" }

func (s *service) Act(_ context.Context, a core.Action) (core.Reaction, error) {
	s.did = a
	return core.Reaction{OK: true}, nil
}

func (s *service) Message(_, id string) raw.Object {
	if id == "1" {
		return raw.Object{}
	}
	return nil
}

func (s *service) Controls(raw.Object) []core.Control {
	return []core.Control{{ID: "no", Label: "Approve", Kind: "select"}, {ID: "yes", Label: "Approve once", Kind: "button"}}
}

func (s *service) Inputs(view string) ([]core.Input, bool) {
	x, y := raw.Object{"label": "Label x", "value": "x"}, raw.Object{"label": "Label y", "value": "y"}
	g := raw.Object{"text": raw.Object{"text": "Label g"}, "value": "g"}
	return []core.Input{
		{ID: "note", Element: raw.Object{}},
		{ID: "one", Element: raw.Object{"options": []any{x, y}}},
		{ID: "group", Element: raw.Object{"option_groups": []any{raw.Object{"options": []any{g}}}}},
	}, view == "v"
}

// TestControl checks the control API.
func TestControl(t *testing.T) {
	t.Parallel()
	hub := core.NewHub(true)
	s := &service{}
	control := core.Controlled{
		Hub: hub, State: func() any { hub.Lock(); defer hub.Unlock(); return raw.Object{"revision": hub.Revision()} },
		Act: func(ctx context.Context, a core.Action) (core.Reaction, error) {
			if a.Do == "dance" {
				return core.Reaction{}, errors.New("cannot")
			}
			return s.Act(ctx, a)
		},
		Disconnect: func(service string, _ int) error {
			if service == "chat" {
				return nil
			}
			return errors.New("unknown")
		},
	}
	server := httptest.NewServer(control.Handler())
	defer server.Close()
	call := func(method, path, body string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		answer, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(answer)
	}
	for _, x := range []struct {
		method, path, body string
		status             int
		word               string
	}{
		{"GET", "/control/state", "", 200, `"revision":0`},
		{"POST", "/control/act", `{"do":"press"}`, 200, `"ok":true`},
		{"POST", "/control/act", `{"do":"dance"}`, 422, "cannot"},
		{"POST", "/control/act", `{"dance":1}`, 400, "unknown field"},
		{"POST", "/control/faults", `{"service":"chat","kind":"drop"}`, 200, `"ok":true`},
		{"POST", "/control/faults", `{`, 400, "error"},
		{"POST", "/control/disconnect", `{"service":"chat"}`, 200, `"ok":true`},
		{"POST", "/control/disconnect", `{"service":"other"}`, 422, "unknown"},
		{"POST", "/control/disconnect", `{`, 400, "error"},
	} {
		if status, answer := call(x.method, x.path, x.body); status != x.status || !strings.Contains(answer, x.word) {
			t.Errorf("%s %s: %d %s", x.path, x.body, status, answer)
		}
	}
	if hub.Fault("chat", "", "drop") == nil {
		t.Error("the fault was not added")
	}
	if call("DELETE", "/control/faults", ""); hub.Fault("chat", "", "drop") != nil {
		t.Error("the fault was not removed")
	}
}

// TestStream checks that the state is sent at each change, until the hub
// closes.
func TestStream(t *testing.T) {
	t.Parallel()
	hub := core.NewHub(true)
	control := core.Controlled{Hub: hub, State: func() any { hub.Lock(); defer hub.Unlock(); return hub.Revision() }}
	server := httptest.NewServer(control.Handler())
	defer server.Close()
	resp, err := http.Get(server.URL + "/control/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	first := make([]byte, len("data: 0\n\n"))
	if _, err := io.ReadFull(resp.Body, first); err != nil || string(first) != "data: 0\n\n" {
		t.Fatalf("first %q %v", first, err)
	}
	hub.Lock()
	hub.Touch()
	hub.Unlock()
	if _, err := io.ReadFull(resp.Body, first); err != nil || string(first) != "data: 1\n\n" {
		t.Fatalf("second %q %v", first, err)
	}
	hub.Close()
	if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
		t.Errorf("then %q %v", rest, err)
	}
}
