package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// assistantText returns the frame of an assistant's text that contains widgets.
func assistantText(t testing.TB, id, session string, widgets ...string) string {
	t.Helper()
	text := "Here is what I need.\n\n"
	for _, w := range widgets {
		text += "```widget\n" + w + "\n```\n\nand\n\n"
	}
	raw, err := json.Marshal(map[string]string{"type": "assistant_message", "id": id, "sessionId": session, "content": text})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// posting is the method of each platform that posts a card.
var posting = map[string]string{"slack": "chat.postMessage", "discord": "POST /channels/{channel}/messages", "telegram": "sendMessage"}

// TestWidgetOrder checks that the blocks of one text appear in their order on
// every platform, each time, even if the platform is slow with the first.
func TestWidgetOrder(t *testing.T) {
	t.Parallel()
	c := seedRig(t, rig.Services...)
	agent := dialSocket(t, c.URL, rig.TestAgentToken)
	for round := range 6 {
		session := fmt.Sprintf("order-%d", round)
		var widgets []string
		for n := range 4 {
			widgets = append(widgets, fmt.Sprintf(`{"widgetId":"%s-%d","type":"confirmation","message":"Block %d of %s?"}`, session, n, n, session))
		}
		for service, method := range posting {
			c.Sandbox.AddFault(sandbox.Fault{Service: service, Method: method, Kind: "delay", Delay: 300 * time.Millisecond, Count: 1})
		}
		agent.send(assistantText(t, session, session, widgets...))
		last := map[string]float64{}
		for n := range 4 {
			a := pendingWith(c, fmt.Sprintf("Block %d of %s?", n, session))
			for k, d := range a.Interaction.Destinations {
				at, err := strconv.ParseFloat(a.Messages[k].Message, 64)
				if err != nil || at <= last[d.Platform] {
					t.Errorf("round %d on %s: block %d is message %s, %v; the block before is %v", round, d.Platform, n, a.Messages[k].Message, err, last[d.Platform])
				}
				last[d.Platform] = at
			}
		}
		if _, err := c.Agent.CancelSession(c.Ctx, session, "shown"); err != nil {
			t.Fatal(err)
		}
	}
}

// mistakes is a form with three fields that are easy to get wrong.
const mistakes = `{"widgetId":"m1","type":"form","message":"Who comes?","schema":{"type":"object","title":"Guest list","description":"For the gate","required":["name","age"],` +
	`"properties":{"name":{"type":"string","title":"Full name","description":"As in the passport","minLength":3},"age":{"type":"integer","minimum":18},"mail":{"type":"string","format":"email"},` +
	`"seat":{"type":["integer","null"],"enum":[1,2,null]},"home":{"type":"object","title":"Home","properties":{"city":{"type":"string"}}},"tags":{"type":"array","items":{"type":"string"}}}}}`

// TestEveryMistakeNamed checks that all mistakes in a form are named, each at
// its field, by the chats, a front end, the API and the command line, that
// everyone reads the titles and descriptions of the schema, and that the answer
// has its types.
func TestEveryMistakeNamed(t *testing.T) {
	t.Parallel()
	c := seedRig(t, rig.Services...)
	agent := dialSocket(t, c.URL, rig.TestAgentToken)
	front := dialSocket(t, c.URL, rig.AnaToken)
	front.send(`{"type":"hello","sessionId":"s","frames":"widget","interaction":{"supported":true,"enabled":true}}`)
	agent.send(assistantText(t, "m", "s", mistakes))
	a := pendingWith(c, "Who comes?")
	front.next(`"widgetId":"m1"`)
	named := func(where, text string, words ...string) {
		t.Helper()
		for _, w := range words {
			if !strings.Contains(text, w) {
				t.Errorf("%s does not name %q: %s", where, w, text)
			}
		}
	}
	for _, service := range rig.Services {
		named("the card on "+service, a.Text(service), "Guest list", "For the gate")
	}
	short, young, wrong := "Enter at least 3 characters", "Enter a whole number, at least 18", "Enter an email address"
	front.send(`{"type":"widget:submit","payload":{"widgetId":"m1","value":{"name":"A","age":17,"mail":"x"}}}`)
	named("the front end", front.next(`"error"`, `"invalid"`), "value.name: "+short, "value.age: "+young, "value.mail: "+wrong,
		`{"field":"value.age","message":"`+young)
	_, err := c.Person.Respond(c.Ctx, a.Interaction.ID, bridge.Reply{Answers: map[string]bridge.Answer{"value": bridge.JSONAnswer(`{"name":"A","age":17,"mail":"x"}`)}})
	named("the API and the command line", fmt.Sprint(err), "answers.value.name: "+short, "answers.value.age: "+young, "answers.value.mail: "+wrong)
	reaction := c.Fill("ana", a.On("slack"), "Answer", []string{"A"}, []string{"17"}, []string{"x"})
	if len(reaction.Errors) != 3 {
		t.Errorf("slack names %v, want 3 mistakes", reaction.Errors)
	}
	front.send(`{"type":"widget:submit","payload":{"widgetId":"m1","value":{"name":"Ana","age":30,"seat":2,"home":{"city":"Rome"},"tags":["a","b"]}}}`)
	agent.next(`"user_message"`, `"submittedValue":{"name":"Ana","age":30,"seat":2,"home":{"city":"Rome"},"tags":["a","b"]}`)
}
