package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/rig"
)

// TestToolInteraction checks the tool interaction protocol: two front ends and
// the chats, a reprompt, and a deferred request with a late answer.
func TestToolInteraction(t *testing.T) {
	t.Parallel()
	c := seedRig(t, "slack", "telegram")
	agent := dialSocket(t, c.URL, rig.TestAgentToken)
	one, two := dialSocket(t, c.URL, rig.AnaToken), dialSocket(t, c.URL, rig.BoToken)
	one.send(`{"type":"hello","sessionId":"s3","interaction":{"supported":true,"enabled":true}}`)
	two.send(`{"type":"hello","sessionId":"s3","interaction":{"supported":true,"enabled":false}}`)
	c.Eventually("both are counted", func() bool {
		a, err := c.Agent.Availability(c.Ctx, "", "s3")
		return err == nil && a.Clients == 2 && a.Enabled == 1 && a.Available
	})

	// One front end answers, and the other learns of it.
	agent.send(`{"type":"interaction_request","id":"r1","sessionId":"s3","toolCallId":"call_1","toolName":"ask_user","turnId":"t1","responseId":"resp1","interactionType":"input","inputSchema":{"type":"form","fields":[{"id":"answer","type":"text","label":"What is your preferred language?","required":true}]},"timeoutMs":60000}`)
	a := pendingWith(c, "preferred language")
	id := string(a.Interaction.ID)
	for _, s := range []*socket{one, two} {
		f := s.next(`"interaction_request"`, id)
		for _, part := range []string{`"sessionId":"s3"`, `"turnId":"t1"`, `"responseId":"resp1"`, `"toolCallId":"call_1"`, `"toolName":"ask_user"`, `"interactionType":"input"`,
			`"prompt":"What is your preferred language?"`, `"inputSchema":{"type":"form","fields":[{"id":"answer","type":"text","label":"What is your preferred language?","required":true}]}`, `"timeoutMs":60000`} {
			if !strings.Contains(f, part) {
				t.Errorf("the request lacks %s: %s", part, f)
			}
		}
	}
	two.send(`{"type":"tool_interaction_response","sessionId":"s3","callId":"call_1","interactionId":"` + id + `","action":"submit","input":{"answer":"Go"}}`)
	two.next(`"error"`, "interactive mode is disabled")
	two.send(`{"type":"set_interaction_mode","enabled":true}`)
	two.send(`{"type":"tool_interaction_response","sessionId":"s3","callId":"call_1","interactionId":"` + id + `","action":"submit","input":{"answer":"TypeScript"}}`)
	for _, s := range []*socket{agent, one, two} {
		f := s.next(`"interaction_response"`, id)
		if !strings.Contains(f, `"action":"submit","input":{"answer":"TypeScript"}`) {
			t.Errorf("the response: %s", f)
		}
	}
	one.send(`{"type":"tool_interaction_response","sessionId":"s3","callId":"call_1","interactionId":"` + id + `","action":"submit","input":{"answer":"Rust"}}`)
	one.next(`"error"`, "lready decided by bo")
	a.Closed("TypeScript", "bo", "has received this")

	// The agent rejects the answer, the same card asks again, and a person
	// answers.
	agent.send(`{"type":"interaction_request","id":"r2","sessionId":"s3","toolCallId":"call_2","interactionType":"input","inputSchema":{"type":"form","fields":[{"id":"email","type":"text","label":"Enter your email","required":true}]}}`)
	b := pendingWith(c, "Enter your email")
	c.Typed("ana", b.On("slack"), "Answer", "nowhere")
	agent.next(`"interaction_response"`, `"input":{"email":"nowhere"}`)
	agent.send(`{"type":"interaction_reprompt","id":"r3","interactionId":"` + string(b.Interaction.ID) + `","request":{"type":"input","error":"Invalid email format","prompt":"Please enter a valid email:","inputSchema":{"type":"form","fields":[{"id":"email","type":"text","label":"Enter your email","required":true}]}}}`)
	again := one.next(`"interaction_request"`, `"error":"Invalid email format"`)
	if strings.Contains(again, string(b.Interaction.ID)) || !strings.Contains(again, `"initialValues":{"email":"nowhere"}`) {
		t.Errorf("the reprompt is %s", again)
	}
	next := pendingWith(c, "valid email")
	c.Eventually("the card asks again", func() bool {
		return strings.Contains(b.Text("slack"), "Invalid email format") && len(b.Controls("slack")) > 0
	})
	c.Eventually("on telegram too", func() bool { return strings.Contains(b.Text("telegram"), "Invalid email format") })
	c.Typed("bo", next.On("telegram"), "Answer", "bo@example.com")
	agent.next(`"interaction_response"`, `"input":{"email":"bo@example.com"}`)
	agent.send(`{"type":"interaction_complete","interactionId":"` + string(next.Interaction.ID) + `","result":"mail stored"}`)
	next.Closed("example.com", "mail stored")

	// A late answer arrives as a message to the session.
	agent.send(`{"type":"interaction_request","id":"r4","sessionId":"s3","toolCallId":"call_4","interactionType":"approval","toolName":"deploy","prompt":"Delete 3 files?","approvalScopes":["once","session","always"]}`)
	d := pendingWith(c, "Delete 3 files")
	agent.send(`{"type":"interaction_pending","interactionId":"` + string(d.Interaction.ID) + `","message":"notified"}`)
	agent.next(`"interaction_pending"`, `"queued":true`)
	c.Press("ana", d.On("telegram"), "Allow for this session")
	later := dialSocket(t, c.URL, rig.TestAgentToken) // the agent's next turn
	later.send(`{"type":"hello","sessionId":"s3"}`)
	f := later.next(`"user_message"`, string(d.Interaction.ID))
	var m struct{ MessageID, Content string }
	if err := json.Unmarshal([]byte(f), &m); err != nil || !strings.Contains(m.Content, "approved for this session") {
		t.Errorf("%s, %v", f, err)
	}
	later.send(`{"type":"message_ack","sessionId":"s3","through":"` + m.MessageID + `"}`)
	d.Closed("has received this")
	if items, err := c.Agent.Messages(c.Ctx, "s3"); err != nil || len(items) != 0 {
		t.Errorf("remaining messages: %v, %v", items, err)
	}

	// A front end that connects later sees all requests, in order, with their
	// outcome.
	replay := dialSocket(t, c.URL, rig.AnaToken)
	replay.send(`{"type":"hello","sessionId":"s3","after":"0"}`)
	var kinds []string
	for len(kinds) < 8 {
		f := replay.next(`"interaction_`)
		kinds = append(kinds, strings.TrimPrefix(strings.Split(f, `"`)[3], "interaction_"))
	}
	if d := cmp.Diff([]string{"request", "response", "request", "response", "request", "response", "request", "response"}, kinds); d != "" {
		t.Error(d)
	}
	// A person's socket cannot send requests, and an agent's cannot answer
	// them.
	one.send(`{"type":"interaction_request","interactionType":"approval"}`)
	one.next(`"error"`, `unknown frame`)
	agent.send(`{"type":"tool_interaction_response","interactionId":"` + id + `"}`)
	agent.next(`"error"`, `unknown frame`)
}

// TestToolContext checks a tool in another process that uses the client:
// several rounds, a failure of the tool, a cancelled run, and no one to ask.
func TestToolContext(t *testing.T) {
	t.Parallel()
	c := seedRig(t, "slack")
	tool := bridge.ToolContext{Asker: c.Agent, Session: "run-1", ToolCall: "call-1", ToolName: "collect"}
	type result struct {
		value any
		err   error
	}
	start := func(r bridge.Request, h bridge.Handlers) <-chan result {
		ch := make(chan result, 1)
		go func() {
			v, err := tool.RequestInteraction(t.Context(), r, h)
			ch <- result{v, err}
		}()
		return ch
	}
	rounds := 0
	done := start(bridge.Request{Ask: bridge.Ask{
		Prompt: "Which version?", Questions: []bridge.Question{{ID: "v", Widget: bridge.WidgetText}},
	}}, bridge.Handlers{
		OnResponse: func(_ context.Context, r bridge.UserResponse) (bridge.Outcome, error) {
			if rounds++; rounds == 1 {
				return bridge.Reprompt{Request: bridge.Request{Ask: bridge.Ask{
					Error: "no such version: " + r.Input["v"].Text,
				}}}, nil
			}
			return bridge.Complete{Result: r.Input["v"].Text, Shown: "installed"}, nil
		},
	})
	a := pendingWith(c, "Which version?")
	c.Typed("ana", a.On("slack"), "Answer", "v0")
	c.Eventually("it asks again", func() bool {
		return strings.Contains(a.Text("slack"), "no such version: v0") && len(a.Controls("slack")) > 0
	})
	c.Typed("ana", a.On("slack"), "Answer", "v1")
	if r := <-done; r.value != "v1" || r.err != nil {
		t.Errorf("%+v", r)
	}
	a.Closed("v1", "installed", "round 2", "tool collect")

	done = start(bridge.Request{Ask: bridge.Ask{
		Prompt: "Store it?", Approval: &bridge.Approval{Tool: "store"},
	}}, bridge.Handlers{
		OnResponse: func(context.Context, bridge.UserResponse) (bridge.Outcome, error) {
			return nil, errors.New("the disk is full")
		},
	})
	b := pendingWith(c, "Store it?")
	c.Press("ana", b.On("slack"), "Allow once")
	if r := <-done; r.err == nil || !strings.Contains(r.err.Error(), "disk is full") {
		t.Errorf("%+v", r)
	}
	b.Closed("could not use this", "the disk is full")

	cancelled := make(chan bool, 1)
	never := func(context.Context, bridge.UserResponse) (bridge.Outcome, error) { return bridge.Complete{}, nil }
	done = start(bridge.Request{Ask: bridge.Ask{
		Prompt: "Still needed?",
	}}, bridge.Handlers{OnResponse: never, OnCancel: func() { cancelled <- true }})
	d := pendingWith(c, "Still needed?")
	if _, err := c.Agent.CancelSession(t.Context(), "run-1", "the run was aborted"); err != nil {
		t.Fatal(err)
	}
	r := <-done
	if ended, ok := errors.AsType[*bridge.EndedError](r.err); !ok || ended.Record.State != bridge.StateCancelled || !<-cancelled {
		t.Errorf("%+v", r)
	}
	d.Closed("Withdrawn", "the run was aborted")

	if err := c.Person.SetReadOnly(t.Context(), "slack", d.On("slack").Channel, true); err != nil {
		t.Fatal(err)
	}
	if ok, err := tool.Available(t.Context()); ok || err != nil {
		t.Errorf("available: %v, %v", ok, err)
	}
	if _, err := tool.RequestInteraction(t.Context(), bridge.Request{Ask: bridge.Ask{
		Prompt: "Anybody?",
	}}, bridge.Handlers{OnResponse: never}); !errors.Is(err, bridge.ErrInteractionUnavailable) {
		t.Errorf("with no one to ask: %v", err)
	}
	// An enabled front end can answer.
	front := dialSocket(t, c.URL, rig.AnaToken)
	front.send(`{"type":"hello","sessionId":"run-1","after":"now","interaction":{"supported":true,"enabled":true}}`)
	c.Eventually("it is counted", func() bool { ok, err := tool.Available(t.Context()); return ok && err == nil })
	done = start(bridge.Request{Ask: bridge.Ask{
		Prompt: "Anybody now?", Questions: []bridge.Question{{ID: "q", Widget: bridge.WidgetConfirm}},
	}}, bridge.Handlers{
		OnResponse: func(_ context.Context, r bridge.UserResponse) (bridge.Outcome, error) {
			return bridge.Complete{Result: r.Input["q"].Text}, nil
		},
	})
	f := front.next(`"interaction_request"`, "Anybody now?")
	id := strings.Split(strings.Split(f, `"interactionId":"`)[1], `"`)[0]
	front.send(`{"type":"tool_interaction_response","interactionId":"` + id + `","action":"submit","input":{"q":"yes"}}`)
	if r := <-done; r.value != "yes" || r.err != nil {
		t.Errorf("%+v", r)
	}
}
