package daemon_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/cmd/nod/rig"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestSteer checks on each platform that a reply to a card reaches the agent
// once if its author may answer, and that the author reads what became of it.
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
				for _, c := range r.Channels(service) {
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
			time.Sleep(50 * time.Millisecond)
			if shows("Delivered to") {
				t.Error("delivered before the agent has acknowledged it")
			}
			if err := r.Agent.Acknowledge(r.Ctx, session, all[0].ID); err != nil {
				t.Fatal(err)
			}
			r.Eventually("ana reads that it was delivered", func() bool { return shows("Delivered to") && !shows("Waiting, not") })
			if more := take(); len(more) != 0 {
				t.Errorf("the agent gets %+v again", more)
			}
			reply("ana", "too late")
			hook := `{"hook_event_name":"SessionEnd","session_id":"` + session + `","cwd":"/","reason":"other"}`
			r.Eventually("ana reads that it was not delivered", func() bool {
				r.PostTo("/v1/hooks/claude", http.Header{"Authorization": {"Bearer " + rig.TestAgentToken}}, hook)
				return shows("Not delivered: the session has ended")
			})
		})
	}
}

// TestSteerTampered checks that an agent does not get a message that someone has
// changed in Redis.
func TestSteerTampered(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	r.Ask(bridge.Request{Ask: bridge.Ask{Prompt: "May I?", Session: "s", Approval: &bridge.Approval{Tool: "Bash"}}})
	ana := client.New(r.Daemons[0].URL, rig.AnaToken, nil)
	for _, text := range []string{"first", "second"} {
		if _, err := ana.Steer(r.Ctx, "", "s", text); err != nil {
			t.Fatal(err)
		}
	}
	keys, err := r.Client.Keys(r.Ctx, "*:m:*").Result()
	if err != nil || len(keys) != 2 {
		t.Fatal(keys, err)
	}
	for _, key := range keys {
		stored := r.Client.HGet(r.Ctx, key, "d").Val()
		if err := r.Client.HSet(r.Ctx, key, "d", strings.Replace(stored, `"first"`, `"rm -rf /"`, 1)).Err(); err != nil {
			t.Fatal(err)
		}
	}
	all, err := r.Agent.TakeMessages(r.Ctx, "s", client.Taking{Reader: "r"})
	if err != nil || len(all) != 1 || all[0].Steering.Text != "second" {
		t.Errorf("the agent gets %+v, %v", all, err)
	}
}
