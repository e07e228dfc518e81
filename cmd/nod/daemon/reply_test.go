package daemon_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestReplyInThread checks that a reply in the thread of a card on Slack
// answers its text question, if it is clear which one and the person may
// answer.
func TestReplyInThread(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	question := func(prompt string) rig.Asked {
		return r.Ask(bridge.Request{Ask: bridge.Ask{
			Prompt: prompt, Session: "s-thread", Questions: []bridge.Question{{ID: "q", Text: prompt, Widget: bridge.WidgetText}},
		}})
	}
	reply := func(who string, to rig.Asked, text string) {
		t.Helper()
		at := to.On("slack")
		if _, err := r.Sandbox.Act(r.Ctx, sandbox.Action{
			Service: "slack", As: who, Do: "reply", Channel: at.Channel, Message: at.Message, Text: text,
		}); err != nil {
			t.Fatal(err)
		}
	}
	first := question("Which release?")
	reply("mal", first, "mine")
	first.Pending("slack")
	second := question("Which region?")
	reply("ana", second, "eu")
	r.Eventually("ana is asked which", func() bool {
		return strings.Contains(strings.Join(r.Sandbox.Person("ana").Notes("slack"), ""), "2 questions in this thread")
	})
	first.Pending("slack")
	second.Pending("slack")
	r.Fill("ana", second.On("slack"), "Answer", []string{"eu"})
	second.End()
	reply("ana", first, "v1.2 <&> more")
	rec := first.End()
	if rec.Response.Answers["q"].Text != "v1.2 <&> more" || rec.Response.Actor.Person != "ana" {
		t.Errorf("the answer is %+v", rec.Response)
	}
	if notes := strings.Join(r.Sandbox.Person("mal").Notes("slack"), ""); !strings.Contains(notes, "Nothing was sent") {
		t.Errorf("mal is told %q", notes)
	}
}

// TestReplyToCard checks that a reply to a card on Discord answers its text
// question, if nod can read it and the person may answer.
func TestReplyToCard(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("discord")})
	a := r.Ask(bridge.Request{Ask: bridge.Ask{
		Prompt: "Release", Questions: []bridge.Question{{ID: "q", Text: "Which release?", Widget: bridge.WidgetText}},
	}})
	at := a.On("discord")
	reply := func(who, text string, mention string) {
		t.Helper()
		if _, err := r.Sandbox.Act(r.Ctx, sandbox.Action{
			Service: "discord", As: who, Do: "reply", Channel: at.Channel, Message: at.Message, Text: text,
			Values: map[string][]string{"mention": {mention}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	told := func(word string) bool {
		for _, c := range r.Sandbox.Chats("discord") {
			for _, m := range c.Messages {
				if strings.Contains(sandbox.Texts(m), word) {
					return c.ID != at.Channel
				}
			}
		}
		return false
	}
	reply("mal", "mine", "on")
	reply("ana", "v1", "off")
	r.Eventually("ana is told how", func() bool { return told("reads only text") && told("must mention the bot") })
	a.Pending("discord")
	reply("ana", "v1.2 <&> *more*", "on")
	rec := a.End()
	if rec.Response.Answers["q"].Text != "v1.2 <&> *more*" || rec.Response.Actor.Person != "ana" {
		t.Errorf("the answer is %+v", rec.Response)
	}
}
