package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// commanded gives nod a command and returns all that the person was told so
// far, alone.
func (r *rig) commanded(who, service, channel, words string) func() string {
	r.t.Helper()
	r.eventually(words+" is known on "+service, func() bool { // Discord learns it after the start
		reaction, err := r.sandbox.Person(who).Command(r.ctx, service, channel, words)
		return err == nil && reaction.Warning == ""
	})
	if service != "telegram" {
		return func() string { return strings.Join(r.sandbox.Person(who).Notes(service), "\n") }
	}
	for _, m := range sandbox.SampleMembers() {
		if m.Key == who {
			return func() string { return chat(r, strconv.FormatInt(m.Telegram, 10)) }
		}
	}
	return nil
}

// What waits, one request, and who somebody is: told in each chat, and only to
// who asked.
func TestCommands(t *testing.T) {
	t.Parallel()
	for _, s := range services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{})
			req := approval()
			req.Prompt = "Deploy *v2* to <production>?"
			a := r.ask(req)
			at, id := a.on(s).Channel, string(a.Interaction.ID)
			before := chat(r, at)
			says := func(who, words string, want ...string) {
				t.Helper()
				said := r.commanded(who, s, at, words)
				defer func() {
					if t.Failed() {
						t.Log(said())
					}
				}()
				r.eventually(words+" is answered", func() bool {
					for _, w := range want {
						if !strings.Contains(strings.NewReplacer("&lt;", "<", "&gt;", ">", `\`, "").Replace(said()), w) {
							return false
						}
					}
					return true
				})
			}
			says("ana", "/nod pending", id, "tester: Deploy *v2* to <production>?", "left")
			says("bo", "/nod mine", id)
			says("mal", "/nod mine", "Nothing waits for you")
			says("mal", "/nod pending", "Only those who may answer")
			says("ana", "/nod show "+id, "tester asks: Deploy *v2*", "To run: bash", "Asked: ana, bo, cy", "Shown in slack:"+sandbox.SlackChannel)
			says("mal", "/nod show "+id, "no such request for you")
			says("ana", "/nod who", "You are ana, by the account "+s+":", "This place is "+s+":"+at, "You may answer here")
			says("mal", "/nod who", "You are mal", "may not answer here")
			says("cy", "/nod help", "revoke ID", "pending: what waits")
			if s == "telegram" {
				after := strings.TrimPrefix(chat(r, at), before)
				if strings.Contains(after, "left") || strings.Contains(after, "You are ana") {
					t.Errorf("the group reads %q", after)
				}
			}
			r.press("bo", a.on(s), "Deny")
			a.end()
			says("ana", "/nod show "+id, "It is over: denied, by bo on "+s)
			says("ana", "/nod mine", "Nothing waits for you")
		})
	}
}

// The Home tab of Slack's app lists what waits for who opens it, in both modes.
func TestSlackHome(t *testing.T) {
	t.Parallel()
	for name, http := range map[string]bool{"socket": false, "http": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{httpMode: http, config: only("slack")})
			home := func(who string) string {
				t.Helper()
				said, err := r.sandbox.Person(who).Home(r.ctx)
				if err != nil {
					t.Fatal(err)
				}
				return said
			}
			if said := home("ana"); !strings.Contains(said, "Nothing waits for you") {
				t.Errorf("ana reads %q", said)
			}
			req := approval()
			req.Prompt = "Deploy <!channel> v2?"
			a := r.ask(req)
			for range 30 {
				r.ask(bridge.Request{Ask: bridge.Ask{Kind: bridge.KindApproval, Prompt: strings.Repeat("long ", 500)}})
			}
			if said := home("bo"); !strings.Contains(said, "20 and more waiting for you") || !strings.Contains(said, "long long") || !strings.Contains(said, "tester · ") {
				t.Errorf("bo reads %q", said)
			}
			if said := home("mal"); !strings.Contains(said, "Nothing waits for you") || strings.Contains(said, "Deploy") {
				t.Errorf("mal reads %q", said)
			}
			r.press("bo", a.on("slack"), "Deny")
		})
	}
}
