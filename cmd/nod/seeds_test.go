package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	askbroker "github.com/nodbridge/nod/bridge/question"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// socket is the client side of the daemon's WebSocket, in the role of a program
// of another system.
type socket struct {
	t    testing.TB
	conn *websocket.Conn
	in   chan string
	kept []string // received frames that no test has read yet
}

func dialSocket(t testing.TB, url, token string) *socket {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
	defer cancel()
	//nolint:bodyclose // the library closes the body
	conn, _, err := websocket.Dial(ctx, strings.Replace(url, "http", "ws", 1)+"/v1/ws", &websocket.DialOptions{Subprotocols: []string{"nod", "bearer." + token}})
	if err != nil {
		t.Fatal(err)
	}
	s := &socket{t: t, conn: conn, in: make(chan string, 100)}
	t.Cleanup(func() { conn.CloseNow() })
	go func() {
		defer close(s.in)
		for {
			_, b, err := conn.Read(context.WithoutCancel(t.Context()))
			if err != nil {
				return
			}
			s.in <- string(b)
		}
	}()
	return s
}

func (s *socket) send(frame string) {
	s.t.Helper()
	if err := s.conn.Write(s.t.Context(), websocket.MessageText, []byte(frame)); err != nil {
		s.t.Fatal(err)
	}
}

// next returns the next frame that contains all of words.
func (s *socket) next(words ...string) string {
	s.t.Helper()
	fits := func(f string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(f, w) })
	}
	for n, f := range s.kept {
		if fits(f) {
			s.kept = slices.Delete(s.kept, n, n+1)
			return f
		}
	}
	deadline := time.After(await.Limit)
	for {
		select {
		case f, ok := <-s.in:
			if !ok {
				s.t.Fatalf("the connection ended; kept %q", s.kept)
			}
			if fits(f) {
				return f
			}
			s.kept = append(s.kept, f)
		case <-deadline:
			s.t.Fatalf("no frame with %q; received %q", words, s.kept)
		}
	}
}

func (s *socket) want(frame string) {
	s.t.Helper()
	if got := s.next(frame[:min(20, len(frame))]); got != frame {
		s.t.Errorf("got  %s\nwant %s", got, frame)
	}
}

// seedRig starts the real binary with a Redis server and the sandbox.
func seedRig(t *testing.T, on ...string) *rig.Crash {
	t.Helper()
	c := rig.NewCrash(t, on...)
	for _, s := range on {
		c.ConnectedOn(s)
	}
	return c
}

// pendingWith waits for a posted request whose prompt or questions contain
// text.
func pendingWith(c *rig.Crash, text string) rig.Asked {
	c.T.Helper()
	var found bridge.Record
	c.Eventually("a request about "+text, func() bool {
		page, err := c.Agent.List(c.Ctx, bridge.ListFilter{State: bridge.StatePending})
		if err != nil {
			return false
		}
		for _, r := range page.Items {
			raw, _ := json.Marshal(r.Interaction.Questions)
			if len(r.Messages) == len(r.Interaction.Destinations) && (strings.Contains(r.Interaction.Prompt, text) || strings.Contains(string(raw), text)) {
				found = r
				return true
			}
		}
		return false
	})
	return rig.Asked{Record: found, R: c.Rig}
}

// TestAskWidgetFrames checks that people in chat, and another front end, can
// answer requests of an agent that uses ask_widget frames.
func TestAskWidgetFrames(t *testing.T) {
	t.Parallel()
	c := seedRig(t, "slack")
	agent := dialSocket(t, c.URL, rig.TestAgentToken)
	front := dialSocket(t, c.URL, rig.AnaToken)
	front.send(`{"type":"hello","sessionId":"chat-1","frames":"ask","interaction":{"supported":true,"enabled":true}}`)
	agent.send(`{"type":"ask_request","id":"3f6c0a52-3b1c-4a44-9a55-000000000001","sessionId":"chat-1","payload":{"prompt":"Which option do you prefer?","widgets":[{"type":"buttons","label":"Choose one:","options":["Option A","Option B","Option C"]}]}}`)
	a := pendingWith(c, "Which option")
	request := `{"type":"ask_request","id":"3f6c0a52-3b1c-4a44-9a55-000000000001","payload":{"prompt":"Which option do you prefer?","widgets":[{"type":"buttons","label":"Choose one:","options":["Option A","Option B","Option C"]}]},"interactionId":"` + string(a.Interaction.ID) + `"`
	block := `"contentBlock":{"type":"ask","askRequestId":"3f6c0a52-3b1c-4a44-9a55-000000000001","askPrompt":"Which option do you prefer?","askWidgets":[{"type":"buttons","label":"Choose one:","options":["Option A","Option B","Option C"]}]`
	front.want(request + "," + block + "}}")
	c.Press("ana", a.On("slack"), "Option B")
	agent.want(`{"type":"ask_response","id":"3f6c0a52-3b1c-4a44-9a55-000000000001","payload":{"request_id":"3f6c0a52-3b1c-4a44-9a55-000000000001","value":"Option B"}}`)
	front.next(`"ask_response"`, `"value":"Option B"`, block+`,"askResponse":"Option B"}`)
	a.Closed("Option B", "was told")
	reloaded := dialSocket(t, c.URL, rig.AnaToken)
	reloaded.send(`{"type":"hello","sessionId":"chat-1","frames":"ask"}`)
	reloaded.next(request + "," + block + `,"askResponse":"Option B"}`)

	agent.send(`{"type":"ask_request","id":"a2","sessionId":"chat-1","payload":{"prompt":"Should I proceed with the deployment?"}}`)
	b := pendingWith(c, "Should I proceed")
	front.next(`"ask_request"`, `"type":"confirm","options":["Yes","No"]`)
	front.send(`{"type":"ask_response","id":"x","payload":{"request_id":"a2","value":"Maybe"}}`)
	front.next(`"error"`, `"message":"value: \"Maybe\" is not one of the options"`)
	front.send(`{"type":"ask_response","id":"x","payload":{"request_id":"a0","value":"Yes"}}`)
	front.next(`"error"`, `request_id: unknown request \"a0\"`)
	front.send(`{"type":"ask_response","id":"x","payload":{"request_id":"a2","value":"Yes"}}`)
	agent.want(`{"type":"ask_response","id":"a2","payload":{"request_id":"a2","value":"Yes"}}`)
	front.send(fmt.Sprintf(`{"type":"ask_response","id":"x","payload":{"request_id":"%s","value":"No"}}`, b.Interaction.ID))
	front.next(`"error"`, "ou already answered this")
	b.Closed("Yes", "ana")

	agent.send(`{"type":"ask_request","id":"a3","payload":{"prompt":"Which?","widgets":[{"type":"checkbox","options":["api","web","cron"]}]}}`)
	d := pendingWith(c, "Which?")
	c.Choose("bo", d.On("slack"), bridge.WidgetCheckbox, "api", "cron")
	agent.want(`{"type":"ask_response","id":"a3","payload":{"request_id":"a3","value":"api,cron"}}`)

	agent.send(`{"type":"approval_request","id":"p1","sessionId":"chat-1","payload":{"tool":"bash","input":{"command":"git push origin main"}}}`)
	p := pendingWith(c, "bash")
	front.next(`{"type":"approval_request","id":"p1"`, `"payload":{"tool":"bash","input":{"command":"git push origin main"}}`)
	if !strings.Contains(p.Text("slack"), "git push origin main") {
		t.Errorf("the command is not shown: %s", p.Text("slack"))
	}
	c.Decide("ana", p.On("slack"), "Always approve")
	agent.want(`{"type":"approval_response","id":"p1","payload":{"request_id":"p1","approved":true,"always":true}}`)
	agent.send(`{"type":"approval_request","id":"p2","payload":{"tool":"bash","input":{"command":"rm -rf /"}}}`)
	c.Press("bo", pendingWith(c, "bash").On("slack"), "Deny")
	agent.want(`{"type":"approval_response","id":"p2","payload":{"request_id":"p2","approved":false}}`)
	// The agent itself remembers permanent approvals. If it asks, people are
	// asked.
	agent.send(`{"type":"approval_request","id":"p3","payload":{"tool":"bash","input":{"command":"git push origin main"}}}`)
	c.Approve("ana", pendingWith(c, "bash").On("slack"))
	agent.want(`{"type":"approval_response","id":"p3","payload":{"request_id":"p3","approved":true}}`)
	if all, err := c.Agent.Grants(c.Ctx, ""); err != nil || len(all.Items) > 0 {
		t.Errorf("nod stores the grants %v, %v of an agent that remembers", all, err)
	}
	agent.send(`{"type":"approval_request","id":"p4","sessionId":"chat-1","payload":{"tool":"mcp__github__create_issue","input":{"title":"x"}}}`)
	named := pendingWith(c, "mcp__github__create_issue")
	front.next(`"approval_request"`, `"tool":"mcp__github__create_issue"`)
	if text := named.Text("slack"); !strings.Contains(text, "github › create_issue") || strings.Contains(text, "says") {
		t.Errorf("the tool is shown in %s", text)
	}
	front.send(`{"type":"approval_response","payload":{"request_id":"p4","approved":true,"always":true}}`)
	agent.want(`{"type":"approval_response","id":"p4","payload":{"request_id":"p4","approved":true,"always":true}}`)
	c.Revoke("slack")
	agent.send(`{"type":"ask_request","id":"n1","payload":{"prompt":"Anybody?"}}`)
	agent.next(`"n1"`, `"code":"unavailable","message":"Interactive prompts require the web UI: `)

	agent.send(`{"type":"ask_request","id":"e1","payload":{"prompt":" "}}`)
	agent.next(`"e1"`, `'prompt' (or 'text') is required for ask action`)
	agent.send(`{"type":"ask_request","id":"e2","payload":{"prompt":"x","widgets":[{"type":"slider"}]}}`)
	agent.next(`"e2"`, `unknown type \"slider\"`)
	agent.send(`nonsense`)
	agent.next(`"error"`, `invalid`)
}

// TestWidgetBlocks checks that people can answer all six widgets in the text of
// an assistant, and that each answer returns as a user message.
func TestWidgetBlocks(t *testing.T) {
	t.Parallel()
	c := seedRig(t, "slack", "discord", "telegram")
	agent := dialSocket(t, c.URL, rig.TestAgentToken)
	front := dialSocket(t, c.URL, rig.AnaToken)
	front.send(`{"type":"hello","sessionId":"run-7","frames":"widget","interaction":{"supported":true,"enabled":true}}`)
	agent.send(assistantText(t, "m1", "run-7",
		`{"widgetId":"w1","type":"form","message":"Fill in the form","submitted":false,"schema":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":18}}}}`,
		`{"widgetId":"w2","type":"selection","message":"Select some","submitted":false,"options":[{"value":"a","label":"Apple"},{"value":"b","label":"Banana","description":"yellow"}],"multi":true}`,
		`{"widgetId":"w3","type":"confirmation","message":"Really confirm?","submitted":false}`,
		`{"widgetId":"w4","type":"plan_review","message":"Review the plan","submitted":false,"planContent":"# Plan\n\n1. one\n2. two"}`,
		`{"widgetId":"w5","type":"feedback","message":"Give feedback","submitted":false,"items":[{"id":"i1","content":"first"},{"id":"i2","content":"second"}]}`,
		`{"widgetId":"w6","type":"action_selection","message":"What next?","submitted":false,"actions":[{"id":"retry","label":"Try again"},{"id":"stop","label":"Give up","description":"never again"}]}`,
	))
	submitted := func(widget, value string) {
		t.Helper()
		f := agent.next(`"user_message"`, `\"widgetId\":\"`+widget+`\"`)
		var m struct {
			Content string
			Widget  struct {
				Submitted      bool
				SubmittedValue json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(f), &m); err != nil {
			t.Fatal(err)
		}
		if want := "WIDGET_SUBMIT\n{\"widgetId\":\"" + widget + "\",\"value\":" + value + "}"; m.Content != want || !m.Widget.Submitted || string(m.Widget.SubmittedValue) != value {
			t.Errorf("%s: %q, %s; want %q", widget, m.Content, f, want)
		}
	}
	form := pendingWith(c, "Fill in")
	refused := c.Fill("ana", form.On("slack"), "Answer", []string{"Ana"}, []string{"17"})
	if len(refused.Errors) == 0 {
		t.Fatal("a number below the minimum passed")
	}
	c.Refill("ana", "slack", refused.Modal, []string{"Ana"}, []string{"30"})
	submitted("w1", `{"name":"Ana","age":30}`)
	c.Choose("bo", pendingWith(c, "Select some").On("telegram"), bridge.WidgetCheckbox, "Banana")
	submitted("w2", `["b"]`)
	c.Press("ana", pendingWith(c, "Really").On("discord"), "Confirm")
	submitted("w3", `{"confirmed":true}`)
	c.Typed("ana", pendingWith(c, "Review the plan").On("telegram"), "Request changes", "also do three")
	submitted("w4", `{"decision":"request_changes","feedback":"also do three"}`)
	c.Fill("bo", pendingWith(c, "Give feedback").On("discord"), "Answer", []string{"good"}, []string{"bad"})
	submitted("w5", `{"i1":"good","i2":"bad"}`)
	front.next(`"widget:request"`, `"widgetId":"w6"`, `"submitted":false`)
	front.send(`{"type":"widget:submit","payload":{"widgetId":"w6","value":"stop"}}`)
	submitted("w6", `"stop"`)
	front.next(`"widgetId":"w6"`, `"submitted":true`, `"submittedValue":"stop"`)

	agent.send(`{"type":"widget:request","payload":{"widgetId":"w7","type":"selection","message":"Only one","submitted":false,"options":[{"value":"a","label":"A"},{"value":"b","label":"B"}]}}`)
	c.Choose("ana", pendingWith(c, "Only one").On("slack"), bridge.WidgetRadio, "B")
	agent.want(`{"type":"widget:submit","payload":{"widgetId":"w7","value":["b"]}}`)
	agent.send(`{"type":"assistant_message","id":"m2","content":"` + "```widget" + `\n{\"widgetId\":\"w\",\"type\":\"slider\",\"message\":\"?\"}\n` + "```" + `"}`)
	agent.next(`"m2"`, `Unknown widget type`)
}

// TestAskUserQuestion checks four questions through can_use_tool, including a
// multi-select question and an answer by Other. All other tools pass
// immediately.
func TestAskUserQuestion(t *testing.T) {
	t.Parallel()
	c := seedRig(t, "slack", "discord")
	agent := dialSocket(t, c.URL, rig.TestAgentToken)
	agent.send(`{"type":"can_use_tool","id":"c0","tool_name":"Read","input":{"file_path":"/etc/hosts"}}`)
	agent.want(`{"type":"can_use_tool_result","id":"c0","result":{"behavior":"allow","updated_input":{"file_path":"/etc/hosts"}}}`)
	questions := `[{"question":"How should I format the output?","header":"Format","options":[{"label":"Summary","description":"Brief overview"},{"label":"Detailed","description":"Full explanation"}],"multiSelect":false},` +
		`{"question":"Which sections should I include?","header":"Sections","options":[{"label":"Introduction","description":"Opening context"},{"label":"Body, long","description":"The middle"},{"label":"Conclusion","description":"Final summary"}],"multiSelect":true},` +
		`{"question":"Which tone?","header":"Tone","options":[{"label":"Formal"},{"label":"Casual"}],"multiSelect":false},` +
		`{"question":"Ship it?","header":"Ship","options":[{"label":"Yes"},{"label":"No"}],"multiSelect":false}]`
	agent.send(`{"type":"can_use_tool","id":"c1","conversation_id":"conv-1","tool_name":"AskUserQuestion","tool_use_id":"toolu_1","input":{"questions":` + questions + `}}`)
	a := pendingWith(c, "Which tone?")
	for _, service := range []string{"slack", "discord"} { // the dialog, which has the options, is not open
		if !strings.Contains(a.Text(service), "Format, Sections, Tone, Ship") {
			t.Errorf("the card on %s does not name the questions: %s", service, a.Text(service))
		}
	}
	// One question of a conversation is pending at a time, without being asked for.
	agent.send(`{"type":"can_use_tool","id":"c9","conversation_id":"conv-1","tool_name":"AskUserQuestion","tool_use_id":"toolu_9","input":{"questions":[{"question":"And?","options":[{"label":"a"}]}]}}`)
	agent.next(`"c9"`, "another call of AskUserQuestion is pending in this conversation")
	c.Fill("ana", a.On("slack"), "Answer",
		[]string{"Summary"}, nil, []string{"Introduction", "Body, long"}, nil, nil, []string{"like a pirate"}, []string{"Yes"})
	agent.want(`{"type":"can_use_tool_result","id":"c1","result":{"behavior":"allow","updated_input":{"questions":` + questions +
		`,"answers":{"How should I format the output?":"Summary","Which sections should I include?":"Introduction, Body, long","Which tone?":"like a pirate","Ship it?":"Yes"}}}}`)
	a.Closed("Summary", "like a pirate", "ana", "Detailed", "Casual")

	// A front end can also answer by conversation and tool call.
	front := dialSocket(t, c.URL, rig.BoToken)
	front.send(`{"type":"hello","sessionId":"conv-1","frames":"question","interaction":{"supported":true,"enabled":true}}`)
	called := `{"type":"tool_status","conversation_id":"conv-1","tool_call_id":"toolu_1","tool_name":"AskUserQuestion",`
	front.want(called + `"status":"calling","arguments":{"questions":` + questions + `}}`)
	front.want(called + `"status":"completed","arguments":{"questions":` + questions + `},"result":{"answers":` +
		`{"How should I format the output?":"Summary","Ship it?":"Yes","Which sections should I include?":"Introduction, Body, long","Which tone?":"like a pirate"}}}`)
	agent.send(`{"type":"can_use_tool","id":"c2","conversation_id":"conv-1","tool_name":"AskUserQuestion","tool_use_id":"toolu_2","input":{"questions":[{"question":"Which framework?","header":"Framework","options":[{"label":"React"},{"label":"Vue"}],"multiSelect":false}]}}`)
	pendingWith(c, "Which framework?")
	front.send(`{"type":"ask_user_response","conversation_id":"conv-1","tool_call_id":"toolu_2","answers":{"Which framework?":"Vue","Extra?":"x"}}`)
	front.next(`"error"`, `unknown question \"Extra?\"`)
	front.send(`{"type":"ask_user_response","conversation_id":"conv-1","tool_call_id":"nonsense","answers":{"Which framework?":"Vue"}}`)
	front.next(`"error"`, `is pending in the conversation`)
	front.send(`{"type":"ask_user_response","conversation_id":"conv-1","tool_call_id":"toolu_2","answers":{"Which framework?":"Vue"}}`)
	agent.want(`{"type":"can_use_tool_result","id":"c2","result":{"behavior":"allow","updated_input":{"questions":[{"question":"Which framework?","header":"Framework","options":[{"label":"React"},{"label":"Vue"}],"multiSelect":false}],"answers":{"Which framework?":"Vue"}}}}`)

	// A timeout is reported in the words of the document. It is not a denial.
	agent.send(`{"type":"can_use_tool","id":"c4","timeout":1,"tool_name":"AskUserQuestion","tool_use_id":"toolu_4","input":{"questions":[{"question":"Anybody?","options":[{"label":"Yes"}],"multiSelect":false}]}}`)
	agent.want(`{"type":"can_use_tool_result","id":"c4","result":{"behavior":"deny","message":"User response timed out after 1 seconds. No one answered in time; no one denied it."}}`)

	// If the client disconnects, its pending question is cancelled immediately.
	leaving := dialSocket(t, c.URL, rig.TestAgentToken)
	leaving.send(`{"type":"can_use_tool","id":"c3","tool_name":"AskUserQuestion","tool_use_id":"toolu_3","input":{"questions":[{"question":"Still there?","options":[{"label":"Yes"}],"multiSelect":false}]}}`)
	b := pendingWith(c, "Still there?")
	leaving.conn.CloseNow()
	b.Closed("agent disconnected")
}

// TestQuestionBroker checks two blocked goroutines: one gets its answer from
// chat, and the other from this process, which answers twice.
func TestQuestionBroker(t *testing.T) {
	t.Parallel()
	c := seedRig(t, "slack", "discord")
	b := askbroker.NewBroker(c.Agent)
	requests := make(chan askbroker.Request, 2)
	askbroker.SetOnRequest(b, func(req askbroker.Request) { requests <- req })
	type result struct {
		askbroker.Response
		err error
	}
	results := map[string]chan result{"Which color?": make(chan result, 1), "Which shape?": make(chan result, 1)}
	for text, ch := range results {
		go func() {
			r, err := b.Request(t.Context(), askbroker.Request{Questions: []askbroker.Question{{
				Question: text, Header: "Pick", Options: []askbroker.Option{{Label: "First", Preview: "[1]"}, {Label: "Second", Description: "the other"}},
			}}})
			ch <- result{r, err}
		}()
	}
	ids := map[string]string{}
	for range 2 {
		req := <-requests
		ids[req.Questions[0].Question] = req.ID
	}
	c.Choose("ana", pendingWith(c, "color").On("discord"), bridge.WidgetRadio, "First")
	got := <-results["Which color?"]
	if d := cmp.Diff(askbroker.Response{Answers: map[string]string{"Which color?": "First"}, Annotations: map[string]askbroker.Annotation{"Which color?": {Preview: "[1]"}}}, got.Response); got.err != nil || d != "" {
		t.Errorf("%v %s", got.err, d)
	}
	select {
	case r := <-results["Which shape?"]:
		t.Fatalf("the other was answered too: %+v", r)
	default:
	}
	shape := pendingWith(c, "shape")
	for n := range 2 {
		if err := b.Respond(ids["Which shape?"], askbroker.Response{Answers: map[string]string{"Which shape?": fmt.Sprint("round ", n)}}); err != nil {
			t.Errorf("answer %d: %v", n, err)
		}
	}
	got = <-results["Which shape?"]
	if got.err != nil || got.Answers["Which shape?"] != "round 0" || got.Annotations == nil {
		t.Errorf("the response is %+v, want round 0", got)
	}
	if err := b.Respond(ids["Which shape?"], askbroker.Response{}); err != nil {
		t.Errorf("a third answer: %v", err)
	}
	if err := b.Respond("nonsense", askbroker.Response{}); bridge.ErrorCode(err) != bridge.CodeNotFound {
		t.Errorf("an unknown id: %v", err)
	}
	shape.Closed("Answered in the agent's process")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := b.Request(ctx, askbroker.Request{Questions: []askbroker.Question{{Question: "?", Options: []askbroker.Option{{Label: "a"}}}}}); err == nil || r.Annotations == nil {
		t.Errorf("with an ended context: %+v, %v", r, err)
	}
}
