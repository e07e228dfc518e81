package daemon_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/render"
)

// wire records the data that nod sends to a platform.
type wire struct {
	mu   sync.Mutex
	sent []string
}

// tap puts a wire between nod and the API at a URL, and returns its URL there.
func (w *wire) tap(t *testing.T, api string) string {
	t.Helper()
	to, err := url.Parse(api)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // nod ends
		}
		w.mu.Lock()
		w.sent = append(w.sent, r.URL.String()+" "+string(body))
		w.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(rw, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// with returns the requests with a text, and the number of all.
func (w *wire) with(text string) (found []string, all int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.sent {
		if plain, err := url.QueryUnescape(s); err == nil {
			s += plain
		}
		if at := strings.Index(strings.ToLower(s), text); at >= 0 {
			found = append(found, s[:min(at, 120)]+" … "+s[max(0, at-100):min(len(s), at+100)])
		}
	}
	return found, len(w.sent)
}

// TestPrivateWire checks on each platform that nod sends no text of an agent for
// a private route unless a person who may answer opens it: not on cards, in
// notifications, reminders, lists, notes and messages of sessions.
func TestPrivateWire(t *testing.T) {
	t.Parallel()
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			var w wire
			r := rig.New(t, rig.Options{Config: func(c *config.Config) {
				rig.Only(s)(c)
				c.Sandbox = w.tap(t, c.Sandbox)
				route := c.Routes[bridge.DefaultRoute]
				route.Payload, route.Responders, route.Sessions, route.Remind = "private", []string{"ana"}, true, "2m"
				c.Routes[bridge.DefaultRoute] = route
			}})
			secretive(r, s)
			found, all := w.with(hidden)
			for _, f := range found {
				t.Errorf("nod sent %q", f)
			}
			if all < 10 {
				t.Errorf("nod made %d calls", all)
			}
		})
	}
}

// secretive lets an agent use a private route in all ways, with the hidden text
// wherever it can write.
func secretive(r *rig.Rig, s string) {
	r.T.Helper()
	m := reported{Rig: r, service: s, session: hidden + "-session"}
	m.report(bridge.SessionReport{
		State: bridge.SessionWaiting, Title: "The " + hidden, Step: "feed " + hidden, Waits: hidden, Last: "I saw a " + hidden,
		Folder: "/zoo/" + hidden, Branch: hidden, Host: hidden,
	}, "is waiting")
	at := func(req bridge.Request) rig.Asked {
		req.Session, req.Error = m.session, "The "+hidden+" is hungry"
		return r.Ask(req)
	}
	first := at(private{}.approval("feed"))
	r.Told("bo", s, r.Press("bo", first.On(s), render.LabelReview), "may not answer")
	for _, words := range []string{"pending", "mine", "sessions", "grants", "show last", "show " + string(first.Interaction.ID)} {
		r.Command("bo", s, first.On(s).Channel, "/nod "+words)
	}
	r.Command("ana", s, first.On(s).Channel, "/nod pending")
	tool := private{}.approval("stroke")
	tool.Approval.Tool = "mcp__zoo__" + hidden
	second := at(tool)
	question := at(bridge.Request{Ask: bridge.Ask{Prompt: "About the " + hidden, Questions: []bridge.Question{
		{ID: "q", Header: hidden, Text: "Feed the " + hidden + "?", Widget: bridge.WidgetButtons, Options: samples.Choices(hidden, "nothing")},
	}}})
	at(bridge.Request{Ask: bridge.Ask{Kind: bridge.KindNotice, Prompt: "The " + hidden + " sleeps"}})
	for _, a := range []rig.Asked{first, second, question} {
		r.Due(life.JobStep, a.Interaction.ID, 0)
	}
	r.Eventually("a reminder is sent", func() bool { return messages(r, s, "⏰") > 0 }) // one for all that are due together
	deny := bridge.Reply{Decision: bridge.DecideDeny, Reason: "no " + hidden}
	for _, do := range []func() error{
		func() error {
			_, err := r.Person.Respond(r.Ctx, first.Interaction.ID, bridge.Reply{Decision: bridge.DecideOnce})
			return err
		},
		func() error { _, err := r.Person.Respond(r.Ctx, second.Interaction.ID, deny); return err },
		func() error {
			_, err := r.Person.Respond(r.Ctx, question.Interaction.ID, bridge.Reply{Answers: map[string]bridge.Answer{"q": bridge.TextAnswer(hidden)}})
			return err
		},
		func() error {
			_, err := r.Agent.Complete(r.Ctx, first.Interaction.ID, bridge.Completion{Result: "the " + hidden + " is fed", Error: hidden})
			return err
		},
	} {
		if err := do(); err != nil {
			r.T.Fatal(err)
		}
	}
	for _, a := range []rig.Asked{first, second, question} {
		a.Closed()
	}
}

// approval returns a request for an approval with the hidden text everywhere.
func (private) approval(word string) bridge.Request {
	req := samples.Approval(bridge.ScopeOnce, bridge.ScopeSession)
	req.Prompt, req.ToolName = "Feed the "+hidden+"?", hidden
	req.Approval.Where = "/zoo/" + hidden
	req.Approval.Input = []byte(`{"command":"` + word + ` --animal ` + hidden + `"}`)
	return req
}
