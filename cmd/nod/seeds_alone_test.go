package main

import (
	"fmt"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// TestQuestionWithoutClient checks that an agent is freed when the only front
// end of its conversation leaves or disables its answers, and no chat takes
// them.
func TestQuestionWithoutClient(t *testing.T) {
	t.Parallel()
	c := seedRig(t, "slack")
	c.Revoke("slack")
	agent, front := dialSocket(t, c.URL, rig.TestAgentToken), dialSocket(t, c.URL, rig.AnaToken)
	question := `{"type":"can_use_tool","id":"%s","conversation_id":"conv-2","tool_name":"AskUserQuestion",` +
		`"tool_use_id":"%[1]s","input":{"questions":[{"question":"Ready?","options":[{"label":"Yes"}]}]}}`
	freed := `{"type":"can_use_tool_result","id":"%s","result":{"behavior":"deny","message":` +
		`"The request was cancelled before anyone answered: the client disconnected while the request was pending, and no chat accepts answers"}}`
	for n, leave := range []func(){
		func() { front.send(`{"type":"set_interaction_mode","enabled":false}`) },
		func() { front.conn.CloseNow() },
	} {
		id := fmt.Sprint("toolu_", n)
		front.send(`{"type":"hello","sessionId":"conv-2","frames":"question","interaction":{"supported":true,"enabled":true}}`)
		c.Eventually("the front end is counted", func() bool {
			a, err := c.Agent.Availability(c.Ctx, "", "conv-2")
			return err == nil && a.Available
		})
		agent.send(fmt.Sprintf(question, id))
		front.next(`"tool_status"`, `"calling"`, id)
		leave()
		agent.want(fmt.Sprintf(freed, id))
	}
}

// TestNoOneInTime checks that agents and front ends read that no one answered in
// time, and which of several widgets that is about.
func TestNoOneInTime(t *testing.T) {
	t.Parallel()
	c := seedRig(t, "slack")
	agent, front := dialSocket(t, c.URL, rig.TestAgentToken), dialSocket(t, c.URL, rig.AnaToken)
	front.send(`{"type":"hello","sessionId":"slow","frames":"widget","interaction":{"supported":true,"enabled":true}}`)
	const why = "No one answered in time. No person has denied it"
	agent.send(`{"type":"widget:request","sessionId":"slow","timeout":1,"payload":{"widgetId":"w1","type":"confirmation","message":"?"}}`)
	agent.send(`{"type":"assistant_message","id":"m1","sessionId":"slow","timeout":1,"content":"` +
		"```widget" + `\n{\"widgetId\":\"w2\",\"type\":\"confirmation\",\"message\":\"?\"}\n` + "```" + `"}`)
	agent.send(`{"type":"ask_request","id":"a1","timeout":1,"payload":{"prompt":"?"}}`)
	agent.next(`"error"`, `"id":"w1"`, why)
	agent.next(`"error"`, `"id":"m1","widgetId":"w2"`, why)
	agent.next(`"error"`, `"id":"a1"`, why)
	front.next(`"error"`, `"id":"w1"`, why)
	front.next(`"error"`, `"id":"w2"`, why)
}
