package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// messages sends messages with the message of a session, whose agent may not send
// notices.
type messages struct {
	*world
	agent   bridge.Agent
	session string
	view    bridge.View
}

func newMessages(t *testing.T, private bool, hide bridge.Redactor) *messages {
	t.Helper()
	s := newSetup()
	route := s.routes["default"]
	route.Sessions, route.Attention.Private = true, private
	s.routes["default"], s.hide = route, hide
	m := &messages{world: newWorld(t, s), agent: bridge.Agent{Name: "ci", Kinds: []bridge.Kind{bridge.KindAsk}}, session: "s1"}
	status := m.report(bridge.SessionReport{State: bridge.SessionWorking, Title: "Fix the login"})
	m.eventually("the message is posted", func() bool {
		var ok bool
		m.view, ok = m.chat.card("C1", status.Message)
		return ok && len(m.get(status.Message).Messages) > 0
	})
	return m
}

func (m *messages) report(r bridge.SessionReport) bridge.SessionStatus {
	m.t.Helper()
	status, err := m.engine.Sessions.Report(m.t.Context(), m.agent, m.session, r)
	if err != nil {
		m.t.Fatal(err)
	}
	return status
}

// on returns a click on the message of the session.
func (m *messages) on(who string, a bridge.Action) bridge.Click {
	id := m.view.Record.Interaction.ID
	return bridge.Click{
		Token: m.view.Token(a, 0, bridge.OptionMessage), Actor: bridge.Actor{Platform: "chat", User: "U-" + who, Name: who},
		Ref: m.get(id).Messages[0],
	}
}

// opens returns the verdict on a click that opens the dialog. It has no kind if
// the dialog opens.
func (m *messages) opens(who string) bridge.Verdict {
	m.t.Helper()
	f, v, err := m.engine.Form(m.t.Context(), m.on(who, bridge.ActionInput))
	if err != nil || (v.Kind == "") != (f.Control.Option == bridge.OptionMessage) {
		m.t.Fatal(f.Control, v, err)
	}
	return v
}

func (m *messages) submits(who, nonce, text string) bridge.Verdict {
	m.t.Helper()
	c := m.on(who, bridge.ActionSubmit)
	c.Typed, c.Nonce = text, nonce
	v, err := m.engine.Click(m.t.Context(), c)
	if err != nil {
		m.t.Fatal(err)
	}
	return v
}

// waiting returns the messages that wait for the agent.
func (m *messages) waiting() []bridge.Steering {
	m.t.Helper()
	all, err := m.engine.Sessions.Take(m.t.Context(), bridge.Taking{Agent: m.agent.Name, Session: m.session})
	if err != nil {
		m.t.Fatal(err)
	}
	return texts(all)
}

// TestSessionMessages checks who may send messages with the message of a session,
// that each submission counts once, and when it is refused.
func TestSessionMessages(t *testing.T) {
	t.Parallel()
	m := newMessages(t, false, nil)
	m.said(m.opens("eve"), bridge.VerdictForbidden, "Only people who may answer")
	m.said(m.submits("eve", "0", "run rm -rf /"), bridge.VerdictForbidden, "Only people who may answer")
	if got := m.waiting(); len(got) > 0 {
		t.Fatalf("the agent gets %+v", got)
	}
	if v := m.opens("ana"); v.Kind != "" {
		t.Errorf("ana is told %+v", v)
	}
	for _, nonce := range []string{"1", "1", "2"} { // the platform delivers the first twice
		m.said(m.submits("ana", nonce, "use port 808"+nonce), bridge.VerdictNoted, "")
	}
	got := m.waiting()
	if len(got) != 2 || got[0].Text != "use port 8081" || got[1].Text != "use port 8082" || got[0].By.Person != "ana" {
		t.Fatalf("the agent gets %+v", got)
	}
	if s := got[0].Notice(); !strings.HasPrefix(s, "ana wrote: 'use port 8081'\nWaiting, not delivered yet.") {
		t.Errorf("the chat reads %q", s)
	}
	for _, text := range []string{" \n", strings.Repeat("x", bridge.MaxSteering+1)} {
		v := m.submits("ana", "3", text)
		m.said(v, bridge.VerdictInvalid, "Not delivered: text: ")
		if v.Problems[bridge.TypedProblem] != v.Note {
			t.Errorf("the problems are %v", v.Problems)
		}
	}
	m.report(bridge.SessionReport{State: bridge.SessionFinished})
	m.said(m.opens("ana"), bridge.VerdictInvalid, "has finished")
	m.said(m.submits("ana", "4", "again"), bridge.VerdictInvalid, "has finished")
	if _, err := m.engine.Sessions.Steer(t.Context(), bridge.Steering{Agent: "ci", Session: m.session, By: person("ana"), Text: "x"}); bridge.ErrorCode(err) != bridge.CodeConflict {
		t.Errorf("in another way: %v", err)
	}
	m.report(bridge.SessionReport{State: bridge.SessionWorking})
	if _, err := m.engine.Sessions.Stop(t.Context(), person("bo"), "ci", m.session); err != nil {
		t.Fatal(err)
	}
	m.said(m.opens("ana"), bridge.VerdictInvalid, "stopped by bo")
	m.said(m.submits("ana", "5", "go on"), bridge.VerdictInvalid, "stopped by bo")
}

// TestForgedSessionMessages checks that a control of another card, or one that is
// used elsewhere, sends no message.
func TestForgedSessionMessages(t *testing.T) {
	t.Parallel()
	m := newMessages(t, false, nil)
	other := shell("make")
	other.Session = m.session
	rec := m.open(agentCI, other)
	for _, a := range []bridge.Action{bridge.ActionInput, bridge.ActionSubmit} {
		c := m.on("ana", a)
		c.Token = m.keys.Sign(bridge.Control{Interaction: rec.Interaction.ID, Action: a, Option: bridge.OptionMessage})
		elsewhere := m.on("ana", a)
		elsewhere.Ref.Channel = "C2"
		for _, c := range []bridge.Click{c, elsewhere} {
			c.Typed = "run rm -rf /"
			var v bridge.Verdict
			var err error
			if a == bridge.ActionInput {
				_, v, err = m.engine.Form(t.Context(), c)
			} else {
				v, err = m.engine.Click(t.Context(), c)
			}
			if err != nil || v.Kind != bridge.VerdictUnknown {
				t.Errorf("%d: %+v, %v", a, v, err)
			}
		}
	}
	if got := m.waiting(); len(got) > 0 {
		t.Errorf("the agent gets %+v", got)
	}
	m.state(rec.Interaction.ID, bridge.StatePending)
}

// NoteSteering implements bridge.SteeringNoter.
func (p *board) NoteSteering(
	_ context.Context, to bridge.MessageRef, _ *bridge.MessageRef, text string,
) (bridge.MessageRef, error) {
	defer p.bell.Ring()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes = append(p.notes, text)
	return to, nil
}

// noted waits for the note with a text, and returns all notes.
func (m *messages) noted(text string) string {
	m.t.Helper()
	var all string
	m.eventually("a note has "+text, func() bool {
		m.chat.mu.Lock()
		defer m.chat.mu.Unlock()
		all = strings.Join(m.chat.notes, "\n")
		return strings.Contains(all, text)
	})
	return all
}

// noPasswords redacts one password.
type noPasswords struct{}

func (noPasswords) Redact(s string) string { return strings.ReplaceAll(s, "hunter2", "[hidden]") }
func (noPasswords) Secret(string) bool     { return false }

// TestNotesRedacted checks that notes about a message do not show a credential
// that the agent gets.
func TestNotesRedacted(t *testing.T) {
	t.Parallel()
	m := newMessages(t, false, noPasswords{})
	m.said(m.submits("ana", "1", "log in with hunter2"), bridge.VerdictNoted, "")
	if got := m.waiting(); len(got) != 1 || got[0].Text != "log in with hunter2" {
		t.Fatalf("the agent gets %+v", got)
	}
	if got := m.noted("ana wrote: 'log in with "); strings.Contains(got, "hunter2") {
		t.Errorf("the chat reads %q", got)
	}
}

// TestPrivateSessionMessages checks that notes about a message of a private
// session do not repeat it.
func TestPrivateSessionMessages(t *testing.T) {
	t.Parallel()
	m := newMessages(t, true, nil)
	m.said(m.submits("ana", "1", "SECRET"), bridge.VerdictNoted, "")
	got := m.waiting()
	if len(got) != 1 || got[0].Text != "SECRET" {
		t.Fatalf("the agent gets %+v", got)
	}
	if s := got[0].Notice(); strings.Contains(s, "SECRET") || !strings.HasPrefix(s, "ana wrote to the agent. Waiting") {
		t.Errorf("the chat reads %q", s)
	}
}
