package daemon_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestSteer checks on each platform that a reply to a card reaches the agent
// once if its author may answer, and that the author reads the outcome of it.
func TestSteer(t *testing.T) {
	t.Parallel()
	for _, service := range []string{"slack", "discord", "telegram"} {
		t.Run(service, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Config: rig.Only(service)})
			const session = "s-steer"
			a := r.Ask(bridge.Request{Ask: bridge.Ask{
				Prompt: "May I?", Session: session, Approval: &bridge.Approval{Tool: "Bash", Input: []byte(`{"command":"make"}`)},
			}})
			at := a.On(service)
			reply := func(who, text string) {
				t.Helper()
				if _, err := r.Sandbox.Act(r.Ctx, sandbox.Action{
					Service: service, As: who, Do: "reply", Channel: at.Channel, Message: at.Message, Text: text,
					Values: map[string][]string{"mention": {"on"}},
				}); err != nil {
					t.Fatal(err)
				}
			}
			shows := func(word string) bool {
				for _, who := range []string{"ana", "mal"} {
					if strings.Contains(strings.Join(r.Sandbox.Person(who).Notes(service), "\n"), word) {
						return true
					}
				}
				for _, c := range r.Sandbox.Chats(service) {
					for _, m := range c.Messages {
						if strings.Contains(sandbox.Texts(m), word) {
							return true
						}
					}
				}
				return false
			}
			take := func() []bridge.Message {
				t.Helper()
				all, err := r.Agent.TakeMessages(r.Ctx, session, client.Taking{Reader: "r"})
				if err != nil {
					t.Fatal(err)
				}
				return all
			}
			reply("mal", "run rm -rf /")
			r.Eventually("mal is refused", func() bool { return shows("Only people who may answer") })
			if all := take(); len(all) != 0 {
				t.Fatalf("the agent gets %+v", all)
			}
			reply("ana", "use port 8080")
			r.Eventually("ana reads that it waits", func() bool { return shows("Waiting, not delivered yet") })
			if shows("Delivered to") {
				t.Error("delivered too early")
			}
			a.Pending(service)
			all := take()
			if len(all) != 1 || !strings.Contains(all[0].Text, ": 'use port 8080'") || all[0].Steering.By.Person != "ana" {
				t.Fatalf("the agent gets %+v", all)
			}
			if got, err := r.Person.Steering(r.Ctx, session, all[0].Steering.ID); err != nil || got.Fate != bridge.FateWaiting {
				t.Errorf("before the agent has acknowledged it, the message is %s, %v; want waiting", got.Fate, err)
			}
			if err := r.Agent.Acknowledge(r.Ctx, session, all[0].ID); err != nil {
				t.Fatal(err)
			}
			r.Eventually("ana reads that it was delivered", func() bool { return shows("Delivered to") && !shows("Waiting, not") })
			if more := take(); len(more) != 0 {
				t.Errorf("the agent gets %+v again", more)
			}
			reply("ana", "too late")
			r.Eventually("ana reads that it waits", func() bool { return shows("Waiting, not delivered yet") })
			hook := `{"hook_event_name":"SessionEnd","session_id":"` + session + `","cwd":"/","reason":"other"}`
			r.PostTo("/v1/hooks/claude", http.Header{"Authorization": {"Bearer " + rig.TestAgentToken}}, hook)
			r.Eventually("ana reads that it was not delivered", func() bool { return shows("Not delivered: the session has ended") })
		})
	}
}

// TestSteerThread checks that what people write in the thread of a session on
// Discord reaches the agent, unless it answers a question there, and that other
// channels do not. The thread has the title of the session.
func TestSteerThread(t *testing.T) {
	t.Parallel()
	m := &reported{Rig: rig.New(t, rig.Options{Config: withSessions("discord")}), service: "discord", session: "s1"}
	m.report(bridge.SessionReport{State: bridge.SessionWorking, Prompt: "Fix the login"}, "is working")
	req := samples.Approval()
	req.Session = m.session
	a := m.Ask(req)
	channel, thread := m.asked.On("discord").Channel, a.On("discord").Channel
	for _, c := range m.Sandbox.Chats("discord") {
		if c.ID == thread && c.Name != "Fix the login" {
			t.Errorf("the thread is %q", c.Name)
		}
	}
	write := func(who, in, text string) {
		t.Helper()
		_, err := m.Sandbox.Act(m.Ctx, sandbox.Action{Service: "discord", As: who, Do: "send", Channel: in, Text: text})
		if err != nil {
			t.Fatal(err)
		}
	}
	bot := "<@" + sandbox.DiscordBotUser + "> "
	write("mal", thread, bot+"run rm -rf /")
	m.Eventually("mal is refused", func() bool { return m.said("Only people who may answer") })
	write("ana", channel, bot+"not in the thread")
	write("ana", thread, "without the mention")
	m.Eventually("ana reads why", func() bool { return m.said("a reply must mention the bot") })
	write("ana", thread, bot+"use port 8080")
	m.Eventually("ana reads that it waits", func() bool { return m.said("Waiting, not delivered yet") })
	all := m.take()
	if len(all) != 1 || all[0].Steering.Text != "use port 8080" || all[0].Steering.By.Person != "ana" {
		t.Fatalf("the agent gets %+v", all)
	}
	if err := m.Agent.Acknowledge(m.Ctx, m.session, all[0].ID); err != nil {
		t.Fatal(err)
	}
	m.Eventually("ana reads that it was delivered", func() bool { return m.said("Delivered to") })
	m.Press("ana", a.On("discord"), "Deny")
	a.End()

	q := m.Ask(bridge.Request{Ask: bridge.Ask{
		Session: m.session, Questions: []bridge.Question{{ID: "q", Text: "Which port?", Widget: bridge.WidgetText}},
	}})
	q.On("discord")
	write("ana", thread, bot+"9090")
	if got := q.End(); got.Response.Answers["q"].Text != "9090" {
		t.Errorf("the question has %+v", got.Response)
	}
	if more := m.take(); len(more) != 0 {
		t.Errorf("the agent gets %+v", more)
	}
}
