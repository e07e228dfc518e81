package daemon_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// TestPromptOutlivesDaemon checks that a person answers a prompt on Telegram after the
// daemon that posted it was killed, within a form whose earlier answers stay.
func TestPromptOutlivesDaemon(t *testing.T) {
	t.Parallel()
	c := rig.NewCrash(t, "telegram")
	c.ConnectedOn("telegram")
	rec, err := c.Agent.Open(t.Context(), bridge.Request{Ask: bridge.Ask{Prompt: "New service", Questions: []bridge.Question{
		{ID: "where", Text: "Where?", Widget: bridge.WidgetRadio, Options: samples.Choices("eu", "us")},
		{ID: "name", Text: "Name?", Widget: bridge.WidgetText},
	}}}, "")
	if err != nil {
		t.Fatal(err)
	}
	c.Eventually("the card is posted", func() bool { return len(c.Cards("telegram")) == 1 })
	at := c.Cards("telegram")[0]
	says := func(words ...string) {
		t.Helper()
		c.Eventually("the card says "+words[0], func() bool {
			for _, w := range words {
				if !strings.Contains(sandbox.Texts(c.Sandbox.Message(at)), w) {
					return false
				}
			}
			return true
		})
	}
	c.Press("ana", at, "Us")
	says("◉ Us")
	c.Press("ana", at, render.LabelNext)
	says("2/2", "Answered so far", "Where?: Us")
	c.Press("ana", at, render.LabelAnswer)
	prompt := func() string {
		for _, ch := range c.Sandbox.Chats("telegram") {
			for _, m := range ch.Messages {
				if markup, _ := m["reply_markup"].(map[string]any); markup["force_reply"] == true {
					return strconv.FormatInt(int64(m["message_id"].(float64)), 10)
				}
			}
		}
		return ""
	}
	c.Eventually("the prompt is posted", func() bool { return prompt() != "" })
	c.Restart()
	reply := sandbox.Action{Service: "telegram", As: "ana", Do: "reply", Channel: at.Channel, Message: prompt(), Text: "billing"}
	if _, err := c.Sandbox.Act(t.Context(), reply); err != nil {
		t.Fatal(err)
	}
	says("Check and submit", "billing")
	c.Press("ana", at, render.LabelSubmit)
	var got bridge.Record
	c.Eventually("it is answered", func() bool {
		got, err = c.Agent.Get(t.Context(), rec.Interaction.ID)
		return err == nil && got.State == bridge.StateAnswered
	})
	if a := got.Response.Answers; a["name"].Text != "billing" || a["where"].Text != "us" {
		t.Errorf("the answers are %v", fmt.Sprint(a))
	}
}
