package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// tooling is an agent with two front ends of one session.
type tooling struct {
	*rig.Crash
	agent, one, two *socket
}

// TestToolInteraction checks the tool interaction protocol: two front ends and
// the chats, a reprompt, and a deferred request with a late answer.
func TestToolInteraction(t *testing.T) {
	t.Parallel()
	c := seedRig(t, "slack", "telegram")
	x := tooling{c, dialSocket(t, c.URL, rig.TestAgentToken), dialSocket(t, c.URL, rig.AnaToken), dialSocket(t, c.URL, rig.BoToken)}
	x.one.send(`{"type":"hello","sessionId":"s3","interaction":{"supported":true,"enabled":true}}`)
	x.two.send(`{"type":"hello","sessionId":"s3","interaction":{"supported":true,"enabled":false}}`)
	c.Eventually("both are counted", func() bool {
		a, err := c.Agent.Availability(c.Ctx, "", "s3")
		return err == nil && a.Clients == 2 && a.Enabled == 1 && a.Available
	})
	first := x.answers()
	x.asksAgain()
	x.answersLate()
	x.replays()
	// A person's socket cannot send requests, and an agent's cannot answer
	// them.
	x.one.send(`{"type":"interaction_request","interactionType":"approval"}`)
	x.one.next(`"error"`, `unknown frame`)
	x.agent.send(`{"type":"tool_interaction_response","interactionId":"` + first + `"}`)
	x.agent.next(`"error"`, `unknown frame`)
}

// answers answers a request at one front end. The other front end learns of the
// answer. It returns the ID of the request.
func (x tooling) answers() string {
	x.agent.send(`{"type":"interaction_request","id":"r1","sessionId":"s3","toolCallId":"call_1","toolName":"ask_user","turnId":"t1","responseId":"resp1","interactionType":"input","inputSchema":{"type":"form","fields":[{"id":"answer","type":"text","label":"What is your preferred language?","required":true}]},"timeoutMs":60000}`)
	a := pendingWith(x.Crash, "preferred language")
	id := string(a.Interaction.ID)
	for _, s := range []*socket{x.one, x.two} {
		f := s.next(`"interaction_request"`, id)
		for _, part := range []string{`"sessionId":"s3"`, `"turnId":"t1"`, `"responseId":"resp1"`, `"toolCallId":"call_1"`, `"toolName":"ask_user"`, `"interactionType":"input"`,
			`"prompt":"What is your preferred language?"`, `"inputSchema":{"type":"form","fields":[{"id":"answer","type":"text","label":"What is your preferred language?","required":true}]}`, `"timeoutMs":60000`} {
			if !strings.Contains(f, part) {
				x.T.Errorf("the request lacks %s: %s", part, f)
			}
		}
	}
	x.two.send(`{"type":"tool_interaction_response","sessionId":"s3","callId":"call_1","interactionId":"` + id + `","action":"submit","input":{"answer":"Go"}}`)
	x.two.next(`"error"`, "interactive mode is disabled")
	x.two.send(`{"type":"set_interaction_mode","enabled":true}`)
	x.two.send(`{"type":"tool_interaction_response","sessionId":"s3","callId":"call_1","interactionId":"` + id + `","action":"submit","input":{"answer":"TypeScript"}}`)
	var first string
	for _, s := range []*socket{x.agent, x.one, x.two} {
		f := s.next(`"interaction_response"`, id)
		if !strings.Contains(f, `"action":"submit","input":{"answer":"TypeScript"}`) {
			x.T.Errorf("the response is %s, want TypeScript", f)
		}
		if first == "" {
			first = f
		}
		if f != first { // with its timestamp
			x.T.Errorf("one party received %s, another %s", first, f)
		}
	}
	x.one.send(`{"type":"tool_interaction_response","sessionId":"s3","callId":"call_1","interactionId":"` + id + `","action":"submit","input":{"answer":"Rust"}}`)
	x.one.next(`"error"`, "bo already answered this")
	a.Closed("TypeScript", "bo", "was told")
	return id
}

// asksAgain rejects an answer. The same card asks again, and a person answers.
func (x tooling) asksAgain() {
	x.agent.send(`{"type":"interaction_request","id":"r2","sessionId":"s3","toolCallId":"call_2","interactionType":"input","inputSchema":{"type":"form","fields":[{"id":"email","type":"text","label":"Enter your email","required":true}]}}`)
	b := pendingWith(x.Crash, "Enter your email")
	x.Typed("ana", b.On("slack"), "Answer", "nowhere")
	x.agent.next(`"interaction_response"`, `"input":{"email":"nowhere"}`)
	x.agent.send(`{"type":"interaction_reprompt","id":"r3","interactionId":"` + string(b.Interaction.ID) + `","request":{"type":"input","error":"Invalid email format","prompt":"Please enter a valid email:","inputSchema":{"type":"form","fields":[{"id":"email","type":"text","label":"Enter your email","required":true}]}}}`)
	again := x.one.next(`"interaction_request"`, `"error":"Invalid email format"`)
	if strings.Contains(again, string(b.Interaction.ID)) || !strings.Contains(again, `"initialValues":{"email":"nowhere"}`) {
		x.T.Errorf("the follow-up is %s, want a new ID and the initial value nowhere", again)
	}
	next := pendingWith(x.Crash, "valid email")
	x.Eventually("the card asks again", func() bool {
		return strings.Contains(b.Text("slack"), "Invalid email format") && len(b.Controls("slack")) > 0
	})
	x.Eventually("on telegram too", func() bool { return strings.Contains(b.Text("telegram"), "Invalid email format") })
	x.Typed("bo", next.On("telegram"), "Answer", "bo@example.com")
	x.agent.next(`"interaction_response"`, `"input":{"email":"bo@example.com"}`)
	x.agent.send(`{"type":"interaction_complete","interactionId":"` + string(next.Interaction.ID) + `","result":"mail stored"}`)
	next.Closed("example.com", "mail stored")
}

// answersLate defers a request. Its late answer arrives as a message to the
// session.
func (x tooling) answersLate() {
	x.agent.send(`{"type":"interaction_request","id":"r4","sessionId":"s3","toolCallId":"call_4","interactionType":"approval","toolName":"deploy","prompt":"Delete 3 files?","approvalScopes":["once","session","always"]}`)
	d := pendingWith(x.Crash, "Delete 3 files")
	x.agent.send(`{"type":"interaction_pending","interactionId":"` + string(d.Interaction.ID) + `","message":"notified"}`)
	x.agent.next(`"interaction_pending"`, `"queued":true`)
	x.Decide("ana", d.On("telegram"), "Approve for this session")
	later := dialSocket(x.T, x.URL, rig.TestAgentToken) // the agent's next turn
	later.send(`{"type":"hello","sessionId":"s3"}`)
	f := later.next(`"user_message"`, string(d.Interaction.ID))
	var m struct{ MessageID, Content string }
	if err := json.Unmarshal([]byte(f), &m); err != nil || !strings.Contains(m.Content, "approved for this session") {
		x.T.Errorf("the message is %s, %v; want an approval for the session", f, err)
	}
	later.send(`{"type":"message_ack","sessionId":"s3","through":"` + m.MessageID + `"}`)
	d.Closed("was told")
	if items, err := x.Agent.Messages(x.Ctx, "s3"); err != nil || len(items) != 0 {
		x.T.Errorf("remaining messages: %v, %v; want none", items, err)
	}
}

// replays connects a front end that sees all requests so far, in order, with
// their outcome.
func (x tooling) replays() {
	replay := dialSocket(x.T, x.URL, rig.AnaToken)
	replay.send(`{"type":"hello","sessionId":"s3","after":"0"}`)
	var kinds []string
	for len(kinds) < 8 {
		f := replay.next(`"interaction_`)
		kinds = append(kinds, strings.TrimPrefix(strings.Split(f, `"`)[3], "interaction_"))
	}
	if d := cmp.Diff([]string{"request", "response", "request", "response", "request", "response", "request", "response"}, kinds); d != "" {
		x.T.Errorf("frames (-want +got): %s", d)
	}
}

// toolRun is a run of a tool in another process.
type toolRun struct {
	*rig.Crash
	tool bridge.ToolContext
}

// toolResult is the result of one interaction of a tool.
type toolResult struct {
	value any
	err   error
}

func (x toolRun) start(r bridge.Request, h bridge.Handlers) <-chan toolResult {
	ch := make(chan toolResult, 1)
	go func() {
		v, err := x.tool.RequestInteraction(x.Ctx, r, h)
		ch <- toolResult{v, err}
	}()
	return ch
}

// never is a handler of requests that no one answers.
func never(context.Context, bridge.UserResponse) (bridge.Outcome, error) {
	return bridge.Complete{}, nil
}

// TestToolContext checks a tool in another process that uses the client:
// several rounds, a failure of the tool, a cancelled run, and no one to ask.
func TestToolContext(t *testing.T) {
	t.Parallel()
	c := seedRig(t, "slack")
	x := toolRun{c, bridge.ToolContext{Asker: c.Agent, Session: "run-1", ToolCall: "call-1", ToolName: "collect"}}
	x.asksTwice()
	x.fails()
	x.aborted()
	x.unavailable()
	x.frontEnd()
}

// asksTwice rejects the first answer and completes with the second one.
func (x toolRun) asksTwice() {
	rounds := 0
	done := x.start(bridge.Request{Ask: bridge.Ask{
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
	a := pendingWith(x.Crash, "Which version?")
	x.Typed("ana", a.On("slack"), "Answer", "v0")
	x.Eventually("it asks again", func() bool {
		return strings.Contains(a.Text("slack"), "no such version: v0") && len(a.Controls("slack")) > 0
	})
	x.Typed("ana", a.On("slack"), "Answer", "v1")
	if r := <-done; r.value != "v1" || r.err != nil {
		x.T.Errorf("the tool gets %+v, want v1", r)
	}
	a.Closed("v1", "installed", "round 2", "tool collect")
}

// fails cannot use the answer.
func (x toolRun) fails() {
	done := x.start(bridge.Request{Ask: bridge.Ask{
		Prompt: "Store it?", Approval: &bridge.Approval{Tool: "store"},
	}}, bridge.Handlers{
		OnResponse: func(context.Context, bridge.UserResponse) (bridge.Outcome, error) {
			return nil, errors.New("the disk is full")
		},
	})
	b := pendingWith(x.Crash, "Store it?")
	x.Approve("ana", b.On("slack"))
	if r := <-done; r.err == nil || !strings.Contains(r.err.Error(), "disk is full") {
		x.T.Errorf("the tool gets %+v, want the error of the handler", r)
	}
	b.Closed("could not use this", "the disk is full")
}

// aborted cancels the run.
func (x toolRun) aborted() {
	cancelled := make(chan bool, 1)
	done := x.start(bridge.Request{Ask: bridge.Ask{
		Prompt: "Still needed?",
	}}, bridge.Handlers{OnResponse: never, OnCancel: func() { cancelled <- true }})
	d := pendingWith(x.Crash, "Still needed?")
	if _, err := x.Agent.CancelSession(x.Ctx, "run-1", "the run was aborted"); err != nil {
		x.T.Fatal(err)
	}
	r := <-done
	if ended, ok := errors.AsType[*bridge.EndedError](r.err); !ok || ended.Record.State != bridge.StateCancelled || !<-cancelled {
		x.T.Errorf("the tool gets %+v, want the end of a cancelled request", r)
	}
	d.Closed("Cancelled by", "the run was aborted")
}

// unavailable disconnects the only platform, so that there is no one to ask.
func (x toolRun) unavailable() {
	x.Revoke("slack")
	if ok, err := x.tool.Available(x.Ctx); ok || err != nil {
		x.T.Errorf("available: %v, %v; want false", ok, err)
	}
	if _, err := x.tool.RequestInteraction(x.Ctx, bridge.Request{Ask: bridge.Ask{
		Prompt: "Anybody?",
	}}, bridge.Handlers{OnResponse: never}); !errors.Is(err, bridge.ErrInteractionUnavailable) {
		x.T.Errorf("with no one to ask: %v, want %v", err, bridge.ErrInteractionUnavailable)
	}
}

// frontEnd answers at an enabled front end, although no channel can.
func (x toolRun) frontEnd() {
	front := dialSocket(x.T, x.URL, rig.AnaToken)
	front.send(`{"type":"hello","sessionId":"run-1","after":"now","interaction":{"supported":true,"enabled":true}}`)
	x.Eventually("it is counted", func() bool { ok, err := x.tool.Available(x.Ctx); return ok && err == nil })
	done := x.start(bridge.Request{Ask: bridge.Ask{
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
		x.T.Errorf("the tool gets %+v, want yes", r)
	}
}
