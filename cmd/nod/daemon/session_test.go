package daemon_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// withSessions posts a message for each session of the default route.
func withSessions(service string) func(*config.Config) {
	return func(c *config.Config) {
		rig.Only(service)(c)
		route := c.Routes[bridge.DefaultRoute]
		route.Sessions = true
		c.Routes[bridge.DefaultRoute] = route
	}
}

// reported is the message of a session that the agent of a rig reports.
type reported struct {
	*rig.Rig
	service, session string
	asked            rig.Asked
}

// report reports the session, and waits until its message has all of the words.
func (m *reported) report(r bridge.SessionReport, words ...string) {
	m.T.Helper()
	got, err := m.Agent.Report(m.Ctx, m.session, r)
	if err != nil {
		m.T.Fatal(err)
	}
	if m.asked.Interaction.ID == "" {
		m.Eventually("the message of the session is posted", func() bool {
			rec, err := m.Daemons[0].Engine().Get(m.Ctx, got.Status.Message)
			m.asked = rig.Asked{Record: rec, R: m.Rig}
			return err == nil && len(rec.Messages) > 0
		})
	}
	if id := m.asked.Interaction.ID; got.Status.Message != id {
		m.T.Fatalf("the message is %s; it was %s", got.Status.Message, id)
	}
	m.shows(words...)
}

// shows checks that the message has words, or links to an address with them.
func (m *reported) shows(words ...string) {
	m.T.Helper()
	defer func() {
		if m.T.Failed() {
			m.T.Logf("the message shows %q", m.asked.Text(m.service))
		}
	}()
	m.Eventually("the message shows "+strings.Join(words, ", "), func() bool {
		text := m.asked.Text(m.service) + fmt.Sprint(m.Sandbox.Message(m.asked.On(m.service)))
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
	})
}

// linked returns the part of a card's URL that names its message.
func (m *reported) linked(a rig.Asked) string {
	at := "/" + a.On(m.service).Message
	if m.service == "slack" {
		at = "/p" + strings.ReplaceAll(at[1:], ".", "")
	}
	return at
}

// replaced stops the first daemon and starts another.
func (m *reported) replaced() {
	m.T.Helper()
	m.Daemons[0].Stop()
	m.Daemons = m.Daemons[1:]
	m.Agent = client.New(m.Start(rig.Listen(m.T)).URL, rig.TestAgentToken, nil)
	m.Connected()
}

func (m *reported) labels() string {
	var out []string
	for _, c := range m.asked.Controls(m.service) {
		out = append(out, c.Label)
	}
	return strings.Join(out, " ")
}

// TestSessionMessage checks the message of a session: it follows the reports and
// the requests of its agent, stops and resumes the session, and survives a
// restart of the daemon.
func TestSessionMessage(t *testing.T) {
	t.Parallel()
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			m := &reported{Rig: rig.New(t, rig.Options{Daemons: 2, Config: withSessions(s)}), service: s, session: "s1"}
			m.report(bridge.SessionReport{
				State: bridge.SessionWorking, Prompt: "Fix the login", Host: "laptop", Folder: "/shop", Branch: "main",
			}, "▶️ tester is working", "Fix the login", "laptop · /shop · branch main")
			if got := m.labels(); got != "Message tester… Stop tester now" {
				t.Errorf("the controls are %q", got)
			}
			if page, err := m.Agent.List(m.Ctx, bridge.ListFilter{Session: m.session}); err != nil || len(page.Items) > 0 {
				t.Errorf("the requests of the session: %v, %v", page.Items, err)
			}
			req := samples.Approval()
			req.Session = m.session
			a := m.Ask(req)
			m.shows("⏸️ tester is waiting for an answer", "Waits for", m.linked(a))
			m.Approve("ana", a.On(s))
			a.End()
			m.shows("▶️ tester is working", "1 approved")
			m.Press("ana", m.Ask(req).On(s), "Deny")
			m.shows("1 approved, 1 denied")
			m.report(bridge.SessionReport{State: bridge.SessionWaiting, Waits: "your next message", Last: "All tests pass."},
				"⏸️ tester is waiting", "your next message", "All tests pass.")

			at := m.asked.On(s)
			b := m.Ask(req)
			if text := b.Text(s); !strings.Contains(text, "tester on laptop") || !strings.Contains(text, "session “Fix the login”") {
				t.Errorf("the card shows %q", text)
			}
			reaction := m.Press("mal", at, "Stop")
			m.Told("mal", s, reaction, "may not stop")
			m.Press("ana", at, "Stop")
			m.shows("⏹️ tester was stopped by ana")
			if got := b.End(); got.State != bridge.StateCancelled || !got.Response.Stop {
				t.Errorf("the pending request is %s", got.State)
			}
			if rec, err := m.Agent.Open(m.Ctx, req, ""); err != nil || rec.State != bridge.StateDenied {
				t.Errorf("a request of the stopped session is %s, %v", rec.State, err)
			}

			m.replaced()
			reaction = m.Press("mal", at, "Resume")
			m.Told("mal", s, reaction, "can resume it")
			m.Press("ana", at, "Resume")
			m.shows("⏸️ tester is waiting")
			m.Ask(bridge.Request{Ask: bridge.Ask{Kind: bridge.KindNotice, Session: m.session, Prompt: "Release 2 is live."}})
			m.report(bridge.SessionReport{State: bridge.SessionFinished, Step: "Bash: make test"},
				"🏁 tester has finished", "Fix the login", "Bash: make test", "Release 2 is live.")
			if got := m.labels(); got != "" {
				t.Errorf("the controls of a finished session are %q", got)
			}
		})
	}
}

// TestSessionMessageSilent checks that a route without sessions gets no message,
// and that the session is listed and can be stopped anyway.
func TestSessionMessageSilent(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	got, err := r.Agent.Report(r.Ctx, "quiet", bridge.SessionReport{State: bridge.SessionWorking, Title: "Quiet work"})
	if err != nil || got.Status.Message != "" {
		t.Fatalf("%+v, %v", got.Status, err)
	}
	all, err := r.Person.Sessions(r.Ctx)
	if err != nil || len(all.Items) != 1 || all.Items[0].Status == nil || all.Items[0].Status.Title != "Quiet work" {
		t.Fatalf("%+v, %v", all, err)
	}
	if stops, err := r.Person.StopSession(r.Ctx, "", "quiet"); err != nil || len(stops) != 1 {
		t.Errorf("%+v, %v", stops, err)
	}
	got, err = r.Agent.Report(r.Ctx, "quiet", bridge.SessionReport{Step: "Bash"})
	if err != nil || got.Stopped == nil {
		t.Errorf("after the stop: %+v, %v", got, err)
	}
	if _, err := r.Agent.Report(r.Ctx, "new", bridge.SessionReport{State: "resting"}); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("an unknown state: %v", err)
	}
	for _, c := range r.Sandbox.Chats("slack") {
		for _, msg := range c.Messages {
			if strings.Contains(sandbox.Texts(msg), "Quiet work") {
				t.Error("a message was posted")
			}
		}
	}
}

// said reports whether a person or a channel reads a text.
func (m *reported) said(word string) bool {
	for _, who := range []string{"ana", "mal"} {
		if strings.Contains(strings.Join(m.Sandbox.Person(who).Notes(m.service), "\n"), word) {
			return true
		}
	}
	for _, c := range m.Sandbox.Chats(m.service) {
		for _, msg := range c.Messages {
			if strings.Contains(sandbox.Texts(msg), word) {
				return true
			}
		}
	}
	return false
}

// take returns the messages that the agent takes.
func (m *reported) take() []bridge.Message {
	m.T.Helper()
	all, err := m.Agent.TakeMessages(m.Ctx, m.session, client.Taking{Reader: "r"})
	if err != nil {
		m.T.Fatal(err)
	}
	return all
}

// TestSessionMessageSteers checks the control of a session's message that sends
// the agent a message: only people who may answer can use it, each message
// arrives once and in order over a restart of the daemon, and the chat reads the outcome
// of it.
func TestSessionMessageSteers(t *testing.T) {
	t.Parallel()
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			m := &reported{Rig: rig.New(t, rig.Options{Daemons: 2, Config: withSessions(s)}), service: s, session: "s1"}
			m.report(bridge.SessionReport{State: bridge.SessionWorking, Prompt: "Fix the login"}, "is working")
			at := m.asked.On(s)
			m.Told("mal", s, m.Press("mal", at, "Message tester"), "Only people who may answer")
			m.Elsewhere().Typed("ana", at, "Message tester", "use port 8080")
			m.Eventually("ana reads that the first waits", func() bool { return m.said("Waiting, not delivered yet") })
			m.report(bridge.SessionReport{Step: "Bash: make test"})
			m.Eventually("the step is due, or shown already", func() bool {
				return m.MakeDue(life.JobEdit, m.asked.Interaction.ID, 0) || strings.Contains(m.asked.Text(s), "Bash: make test")
			})
			m.shows("Bash: make test")
			m.Elsewhere().Typed("ana", at, "Message tester", "then stop the server")
			if s != "telegram" { // there, her message is in the chat
				m.Eventually("the chat reads the second", func() bool { return m.said("ana wrote: 'then stop the server'") })
			}
			sent := []string{"use port 8080", "then stop the server"}
			for n := range 8 { // nothing separates these messages
				sent = append(sent, fmt.Sprint("reply ", n))
				if _, err := m.Sandbox.Act(m.Ctx, sandbox.Action{
					Service: s, As: "ana", Do: "reply", Channel: at.Channel, Message: at.Message, Text: sent[len(sent)-1],
				}); err != nil {
					t.Fatal(err)
				}
			}
			m.Eventually("nod has them all", func() bool {
				waiting, err := m.Client.Keys(m.Ctx, rig.DocumentKey("message", "*")).Result()
				return err == nil && len(waiting) == len(sent)
			})
			m.replaced()
			var all []bridge.Message
			m.Eventually("the agent gets all", func() bool { all = m.take(); return len(all) >= len(sent) })
			for n, want := range sent {
				if got := all[n].Steering; got.Text != want || got.By.Person != "ana" || len(all) != len(sent) {
					t.Fatalf("message %d of %d is %+v", n, len(all), got)
				}
			}
			if m.said("Delivered to") {
				t.Error("delivered before the agent has acknowledged it")
			}
			if err := m.Agent.Acknowledge(m.Ctx, m.session, all[len(all)-1].ID); err != nil {
				t.Fatal(err)
			}
			m.Eventually("the chat reads that all were delivered", func() bool {
				return m.said("Delivered to") && !m.said("Waiting, not")
			})
			if more := m.take(); len(more) != 0 {
				t.Errorf("the agent gets %+v again", more)
			}
		})
	}
}
