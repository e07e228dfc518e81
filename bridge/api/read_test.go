package api_test

import (
	"bytes"
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/api"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/rooms"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// newOffice starts a server with two routes: one for ana and one for bo. Aud is
// an auditor, and owner owns the agent.
func newOffice(t testing.TB) *httptest.Server {
	t.Helper()
	b := stored.InMemory(t, nil, nil)
	key, err := bridge.NewKeyring(bytes.Repeat([]byte("k"), bridge.MinKey))
	if err != nil {
		t.Fatal(err)
	}
	route := func(who string) bridge.Route {
		return bridge.Route{Destinations: []bridge.Destination{{Platform: "chat", Channel: "C"}},
			Responders: []bridge.Responder{{Person: who, Platform: "api", User: who}}}
	}
	agent := bridge.Agent{Name: "ci", Owners: []string{"owner"}}
	e := rooms.New(rooms.Options{Options: engine.Options{Store: b, DB: b.DB, Keys: key, Platforms: []bridge.Platform{silent{}},
		Routes: map[string]bridge.Route{"default": route("ana"), "other": route("bo")}}})
	tokens := map[string]api.Principal{hashOf("agent"): {Agent: &agent}, hashOf("aud"): {Person: "aud", Auditor: true}}
	for _, who := range []string{"ana", "bo", "owner"} {
		tokens[hashOf(who)] = api.Principal{Person: who}
	}
	s := httptest.NewServer(api.New(api.Options{Engine: e, Reader: b, Ready: b.Ready, Tokens: tokens}))
	t.Cleanup(s.Close)
	return s
}

// TestPeopleReadTheirOwn checks that a person who is on no route of a request
// cannot find, read, follow, answer or cancel it.
func TestPeopleReadTheirOwn(t *testing.T) {
	t.Parallel()
	s := newOffice(t)
	agent := client.New(s.URL, "agent", nil)
	rec, err := agent.Open(t.Context(), bridge.Request{Ask: bridge.Ask{
		Prompt: "Delete everything?", Session: "s",
		Approval: &bridge.Approval{Tool: "sh"},
	}}, "")
	if err != nil {
		t.Fatal(err)
	}
	id := rec.Interaction.ID
	for who, reads := range map[string]bool{"ana": true, "bo": false, "owner": true, "aud": true} {
		c := client.New(s.URL, who, nil)
		if _, err := c.Get(t.Context(), id); (err == nil) != reads || err != nil &&
			bridge.ErrorCode(err) != bridge.CodeNotFound {
			t.Errorf("%s can read it: %v", who, err)
		}
		for _, f := range []bridge.ListFilter{{}, {State: bridge.StatePending}, {Session: "s"}, {Text: "everything"}} {
			if page, err := c.List(t.Context(), f); err != nil || len(page.Items) > 0 != reads {
				t.Errorf("%s lists %d with %+v, %v", who, len(page.Items), f, err)
			}
		}
		events := 0
		if err := c.History(t.Context(), "0", "",
			func(bridge.Event) error { events++; return nil }); err != nil || events > 0 != reads {
			t.Errorf("%s follows %d events, %v", who, events, err)
		}
	}
	if _, err := agent.Open(t.Context(), bridge.Request{Ask: bridge.Ask{Prompt: "Later?", Session: "s", Route: "other"}}, ""); err != nil {
		t.Fatal(err)
	}
	for who, reads := range map[string]bool{"ana": true, "bo": false, "owner": true, "aud": true} { // bo is shown the later one first
		if frame := firstFrame(t, s.URL, who); strings.Contains(frame, "everything") != reads {
			t.Errorf("%s is shown %q", who, frame)
		}
	}
	bo := client.New(s.URL, "bo", nil)
	if _, err := bo.Cancel(t.Context(), id, "no"); bridge.ErrorCode(err) != bridge.CodeNotFound {
		t.Errorf("bo can cancel it: %v", err)
	}
	if _, err := bo.Respond(t.Context(), id,
		bridge.Reply{Decision: bridge.DecideDeny}); bridge.ErrorCode(err) != bridge.CodeNotFound {
		t.Errorf("bo can answer it: %v", err)
	}
	if _, err := client.New(s.URL, "aud", nil).Cancel(t.Context(), id, "no"); err == nil {
		t.Error("an auditor can cancel it")
	}
	if got, err := agent.Get(t.Context(), id); err != nil || got.State != bridge.StatePending {
		t.Fatal(got.State, err)
	}
	got, err := client.New(s.URL, "ana", nil).Cancel(t.Context(), id, "not today")
	if err != nil || got.State != bridge.StateCancelled || got.Response.WithdrawnBy == nil ||
		got.Response.WithdrawnBy.Person != "ana" {
		t.Errorf("ana cannot cancel it: %+v, %v", got.Response, err)
	}
}

// firstFrame returns the first frame about a request that a front end receives
// in a session.
func firstFrame(t testing.TB, url, who string) string {
	t.Helper()
	c := dial(t, url, who)
	if err := c.Write(t.Context(), websocket.MessageText, []byte(`{"type":"hello","sessionId":"s"}`)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
	defer cancel()
	_, b, err := c.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
