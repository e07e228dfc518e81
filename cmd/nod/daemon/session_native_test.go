package daemon_test

import (
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// native returns the status and the title that Slack shows of the session.
func (m *reported) native() (status, title string) {
	at := m.asked.On("slack")
	for _, s := range m.Sandbox.State().Slack.Sessions {
		if s.Channel == at.Channel && s.Thread == at.Message {
			return s.Status, s.Title
		}
	}
	return "", ""
}

func (m *reported) nativeIs(want string) {
	m.T.Helper()
	m.Eventually("Slack shows the session as "+want, func() bool { status, _ := m.native(); return status == want })
}

// stopNatively clicks Slack's own stop button.
func (m *reported) stopNatively(who string) {
	m.T.Helper()
	at := m.asked.On("slack")
	act := sandbox.Action{Service: "slack", As: who, Do: "stop", Channel: at.Channel, Message: at.Message}
	if reaction, err := m.Sandbox.Act(m.Ctx, act); err != nil || reaction.Warning != "" {
		m.T.Fatal(reaction, err)
	}
}

// TestSlackShowsSession checks that Slack's own display of a session follows it,
// and that its stop button stops the session for people who may read its requests.
func TestSlackShowsSession(t *testing.T) {
	t.Parallel()
	m := &reported{Rig: rig.New(t, rig.Options{Config: withSessions("slack")}), service: "slack", session: "s1"}
	m.report(bridge.SessionReport{State: bridge.SessionWorking}, "is working")
	m.nativeIs("processing")
	m.report(bridge.SessionReport{Prompt: "Fix: the login"}, "Fix: the login")
	m.Eventually("Slack shows the title", func() bool { _, title := m.native(); return title == "Fix: the login" })
	req := samples.Approval()
	req.Session = m.session
	a := m.Ask(req)
	m.nativeIs("suspended") // "Needs attention"
	m.Press("ana", a.On("slack"), "Deny")
	a.End()
	m.nativeIs("processing")
	m.stopNatively("mal")
	m.Eventually("mal is told", func() bool { return m.said("You may not stop this session") })
	if rec, err := m.Agent.Open(m.Ctx, req, ""); err != nil || rec.State != bridge.StatePending {
		t.Fatalf("after the refusal, a request is %s, %v", rec.State, err)
	}
	m.nativeIs("suspended")
	m.report(bridge.SessionReport{Step: "Bash"})
	for _, rec := range m.pending() {
		if _, err := m.Daemons[0].Engine().Cancel(m.Ctx, rec.Interaction.ID, "test"); err != nil {
			t.Fatal(err)
		}
	}
	m.nativeIs("processing")
	m.stopNatively("ana")
	m.shows("⏹️ tester was stopped by ana")
	m.nativeIs("active")
	if rec, err := m.Agent.Open(m.Ctx, req, ""); err != nil || rec.State != bridge.StateDenied {
		t.Errorf("a request of the stopped session is %s, %v", rec.State, err)
	}
	m.Press("ana", m.asked.On("slack"), "Resume")
	m.report(bridge.SessionReport{State: bridge.SessionFinished}, "has finished")
	m.nativeIs("closed")
}

func (m *reported) pending() []bridge.Record {
	m.T.Helper()
	all, _, err := m.Daemons[0].Engine().Pending(m.Ctx, 0, func(r bridge.Record) (bool, error) {
		return r.Interaction.Session == m.session, nil
	})
	if err != nil {
		m.T.Fatal(err)
	}
	return all.Items
}

// TestSlackWithoutSessions checks that a workspace in which the app is not an agent
// has the message of the session, and nothing else.
func TestSlackWithoutSessions(t *testing.T) {
	t.Parallel()
	for _, f := range []sandbox.Fault{
		{Kind: "no_agent"}, {Kind: "error", Method: "agents.sessions.setStatus", Status: 500},
	} {
		t.Run(f.Kind, func(t *testing.T) {
			t.Parallel()
			m := &reported{Rig: rig.New(t, rig.Options{Config: withSessions("slack")}), service: "slack", session: "s1"}
			f.Service = "slack"
			m.Sandbox.AddFault(f)
			m.report(bridge.SessionReport{State: bridge.SessionWorking, Prompt: "Fix the login"}, "is working")
			m.report(bridge.SessionReport{State: bridge.SessionWaiting, Waits: "your next message"}, "is waiting")
			if status, _ := m.native(); status != "" {
				t.Errorf("Slack shows %q", status)
			}
			if h := m.Daemons[0].Engine().Health()["slack"]; h.State != bridge.HealthUp {
				t.Errorf("the workspace is %+v", h)
			}
		})
	}
}
