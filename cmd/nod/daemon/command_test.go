package daemon_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// commanded sends a command to nod and returns a function that returns all
// private replies to the person so far.
func commanded(r *rig.Rig, who, service, channel, words string) func() string {
	r.T.Helper()
	r.Command(who, service, channel, words)
	if service != "telegram" {
		return func() string { return strings.Join(r.Sandbox.Person(who).Notes(service), "\n") }
	}
	for _, m := range sandbox.SampleMembers() {
		if m.Key == who {
			return func() string { return rig.Chat(r, strconv.FormatInt(m.Telegram, 10)) }
		}
	}
	return nil
}

// TestCommands checks the commands for pending requests, a single request and
// accounts in each chat, and that only the sender sees the reply.
func TestCommands(t *testing.T) {
	t.Parallel()
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{})
			req := samples.Approval()
			req.Prompt = "Deploy *v2* to <production>?"
			a := r.Ask(req)
			at, id := a.On(s).Channel, string(a.Interaction.ID)
			before := rig.Chat(r, at)
			says := func(who, words string, want ...string) {
				t.Helper()
				said := commanded(r, who, s, at, words)
				defer func() {
					if t.Failed() {
						t.Log(said())
					}
				}()
				r.Eventually(words+" is answered", func() bool {
					for _, w := range want {
						if !strings.Contains(strings.NewReplacer("&lt;", "<", "&gt;", ">", `\`, "").Replace(said()), w) {
							return false
						}
					}
					return true
				})
			}
			says("ana", "/nod pending", "Run make deploy? (tester", "left)", "Open")
			says("bo", "/nod mine", "Run make deploy? (tester")
			says("mal", "/nod mine", "no pending requests")
			says("mal", "/nod pending", "Only responders of this channel")
			says("ana", "/nod show "+id, "To run: bash", "tester says: Deploy *v2*", "Responders: ana, bo, cy", "Destination: slack:"+sandbox.SlackChannel)
			says("mal", "/nod show "+id, "Request not found")
			says("ana", "/nod who", "You are ana (account "+s+":", "This channel is "+s+":"+at, "You can answer requests here")
			says("mal", "/nod who", "You are mal", "cannot answer requests here")
			says("cy", "/nod help", "revoke ID", "pending: list pending requests")
			if s == "telegram" {
				after := strings.TrimPrefix(rig.Chat(r, at), before)
				if strings.Contains(after, "left") || strings.Contains(after, "You are ana") {
					t.Errorf("the group sees %q", after)
				}
			}
			r.Press("bo", a.On(s), "Deny")
			a.End()
			says("ana", "/nod show "+id, "Closed: denied, by bo on "+s)
			says("ana", "/nod mine", "no pending requests")
		})
	}
}

// TestSlackHome checks that the Home tab of the Slack app lists the pending
// requests of the person who opens it, in both modes.
func TestSlackHome(t *testing.T) {
	t.Parallel()
	for name, http := range map[string]bool{"socket": false, "http": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{HTTPMode: http, Config: rig.Only("slack")})
			home := func(who string) string {
				t.Helper()
				said, err := r.Sandbox.Person(who).Home(r.Ctx)
				if err != nil {
					t.Fatal(err)
				}
				return said
			}
			if said := home("ana"); !strings.Contains(said, "No pending requests") {
				t.Errorf("ana reads %q", said)
			}
			req := samples.Approval()
			req.Prompt = "Deploy <!channel> v2?"
			a := r.Ask(req)
			for range 30 {
				r.Ask(bridge.Request{Ask: bridge.Ask{Kind: bridge.KindApproval, Prompt: strings.Repeat("long ", 500)}})
			}
			if said := home("bo"); !strings.Contains(said, "More than 20 pending requests") || !strings.Contains(said, "long long") || !strings.Contains(said, "tester") {
				t.Errorf("bo reads %q", said)
			}
			if said := home("mal"); !strings.Contains(said, "No pending requests") || strings.Contains(said, "Deploy") {
				t.Errorf("mal reads %q", said)
			}
			r.Press("bo", a.On("slack"), "Deny")
		})
	}
}
