package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// toolStory is the story of an agent's tools and two clients of its session.
type toolStory struct {
	*story
	agent, one, two *party
}

// TestStoryToolInteraction tells the story of the document about tool
// interactions: the happy path with two clients, the reprompt loop, the late
// response, the replay, and the tool without any client.
func TestStoryToolInteraction(t *testing.T) {
	t.Parallel()
	x := toolStory{story: newStory(t, "tool_interaction")}
	x.agent = x.joins("agent", rig.TestAgentToken, `{"type":"hello","sessionId":"s1"}`)
	x.one = x.joins("client A", rig.AnaToken, `{"type":"hello","sessionId":"s1","interaction":{"supported":true,"enabled":true}}`)
	x.two = x.joins("client B", rig.BoToken, `{"type":"hello","sessionId":"s1","interaction":{"supported":true,"enabled":false}}`)
	a := x.asks()
	x.reprompts(a)
	x.answersLate()
	x.unavailable(x.replays())
	x.ends()
}

// both waits for a frame at both clients.
func (x toolStory) both(words ...string) {
	x.T.Helper()
	x.one.sees(words...)
	x.two.sees(words...)
}

// asks tells the happy path, with a restart of the daemon in the middle.
func (x toolStory) asks() rig.Asked {
	x.step("A tool asks for input: every client and every chat shows it")
	request := `{"type":"interaction_request","id":"r1","sessionId":"s1","turnId":"t1","responseId":"p1","toolCallId":"call_1","toolName":"collect_email",` +
		`"interactionType":"input","prompt":"How can the team reach you?",` +
		`"inputSchema":{"type":"form","fields":[{"id":"email","type":"text","label":"Enter your email","required":true}]},"timeoutMs":600000}`
	x.agent.says(request)
	a := pendingWith(x.Crash, "reach you")
	x.both(`"interaction_request"`)
	x.shows(a, false, "reach you")

	x.step("The daemon is killed. The clients load the history, and the agent asks with the same ID")
	x.restarts()
	x.both(`"interaction_request"`)
	x.agent.says(request)

	x.step("A disabled client cannot respond. The first response wins, and every client learns it")
	answer := `{"type":"tool_interaction_response","sessionId":"s1","callId":"call_1","interactionId":"%s","action":"submit","input":{"email":"%s"}}`
	x.two.says(fmt.Sprintf(answer, a.Interaction.ID, "bo@example.com"))
	x.two.sees(`"error"`)
	x.one.says(fmt.Sprintf(answer, a.Interaction.ID, "nowhere"))
	x.agent.sees(`"interaction_response"`)
	x.both(`"interaction_response"`)
	x.two.says(`{"type":"set_interaction_mode","enabled":true}`)
	x.two.says(fmt.Sprintf(answer, a.Interaction.ID, "bo@example.com"))
	x.two.sees(`"error"`)
	x.shows(a, true, "nowhere", "was told")
	return a
}

// reprompts tells the reprompt loop, which ends in a chat.
func (x toolStory) reprompts(a rig.Asked) {
	x.step("The tool asks again: a new interaction in the same place, with the error and the earlier value")
	x.agent.says(fmt.Sprintf(`{"type":"interaction_reprompt","id":"r2","interactionId":"%s","request":{"type":"input","error":"Invalid email format",`+
		`"prompt":"Please enter a valid email:","inputSchema":{"type":"form","fields":[{"id":"email","type":"text","label":"Enter your email","required":true}]}}}`, a.Interaction.ID))
	x.both(`"interaction_request"`)
	x.shows(a, false, "Invalid email format")
	next := pendingWith(x.Crash, "valid email")
	x.does("ana", "telegram", "answers ana@example.com", func() {
		x.Typed("ana", next.On("telegram"), "Answer", "ana@example.com")
	})
	x.agent.sees(`"interaction_response"`)
	x.both(`"interaction_response"`)
	x.agent.says(fmt.Sprintf(`{"type":"interaction_complete","interactionId":"%s","result":"stored"}`, next.Interaction.ID))
	x.shows(next, true, "example.com", "stored", "was told")
}

// answersLate tells the late response to a tool call that has completed.
func (x toolStory) answersLate() {
	x.step("A tool asks for approval and does not wait: the agent is told that the request is queued")
	x.agent.says(`{"type":"interaction_request","id":"r3","sessionId":"s1","turnId":"t2","responseId":"p2","toolCallId":"call_2","toolName":"delete_files",` +
		`"interactionType":"approval","prompt":"Delete 3 files?","approvalScopes":["once","session","always"]}`)
	d := pendingWith(x.Crash, "Delete 3 files")
	x.both(`"interaction_request"`)
	x.shows(d, false, "Delete 3 files")
	x.agent.says(fmt.Sprintf(`{"type":"interaction_pending","interactionId":"%s","message":"The user was notified."}`, d.Interaction.ID))
	x.agent.sees(`"interaction_pending"`)
	x.shows(d, false, "tester stopped waiting")

	x.step("The user responds later: the agent gets a message. The tool keeps the approval, and nod keeps no grant")
	x.does("bo", "discord", "clicks Approve for this session", func() { x.Decide("bo", d.On("discord"), "Approve for this session") })
	x.both(`"interaction_response"`)
	f := x.agent.sees(`"user_message"`)
	message := strings.Split(strings.Split(f, `"messageId":"`)[1], `"`)[0]
	x.shows(d, true, "session will be told")
	x.agent.says(`{"type":"message_ack","sessionId":"s1","through":"` + message + `"}`)
	x.shows(d, true, "tester was told")
	if grants, err := x.Agent.Grants(x.Ctx, ""); err != nil || len(grants.Items) > 0 {
		x.T.Errorf("nod keeps %v, %v; want no grant", grants, err)
	}
}

// replays tells what a client sees that loads the history.
func (x toolStory) replays() *party {
	x.step("A client loads the history")
	late := x.joins("client C", rig.BoToken, `{"type":"hello","sessionId":"s1"}`)
	for range 3 {
		late.sees(`"interaction_request"`)
		late.sees(`"interaction_response"`)
	}
	return late
}

// unavailable tells what a tool learns if no one can respond.
func (x toolStory) unavailable(watches *party) {
	x.step("No chat accepts answers, and the enabled clients leave: the tool cannot ask")
	x.loses()
	x.one.leaves()
	x.two.leaves()
	x.Eventually("no enabled client is counted", func() bool {
		a, err := x.Agent.Availability(x.Ctx, "", "s1")
		return err == nil && !a.Available && a.Clients == 1
	})
	x.agent.says(`{"type":"interaction_request","id":"r4","sessionId":"s1","toolCallId":"call_3","toolName":"ask_user","interactionType":"approval","prompt":"Go on?"}`)
	x.agent.sees(`"error"`, "interaction_unavailable")
	watches.sees(`"interaction_request"`)
	watches.sees(`"interaction_response"`)
}
