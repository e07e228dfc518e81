package api_test

import (
	"context"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// peer is one end of a WebSocket.
type peer struct {
	t *testing.T
	*websocket.Conn
}

func (p peer) say(frame string) {
	p.t.Helper()
	if err := p.Write(p.t.Context(), websocket.MessageText, []byte(frame)); err != nil {
		p.t.Fatal(err)
	}
}

// hear reads frames until one contains all words, and returns it.
func (p peer) hear(words ...string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), await.Limit)
	defer cancel()
	for {
		_, b, err := p.Read(ctx)
		if err != nil {
			p.t.Fatalf("no frame with %q: %v", words, err)
		}
		all := true
		for _, w := range words {
			all = all && strings.Contains(string(b), w)
		}
		if all {
			return string(b)
		}
	}
}

// field returns a field of a frame as text.
func field(frame, name string) string {
	_, rest, _ := strings.Cut(frame, `"`+name+`":"`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// TestSocketFormats checks that a request in each format is shown to a person
// in the front end's format, that the response returns in the agent's format,
// and that the front end sees it too.
func TestSocketFormats(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for name, x := range map[string]struct {
		frames  string   // format of the front end
		asks    string   // frame that the agent sends
		shown   []string // text that the front end receives
		id      string   // field that holds the ID of the request
		answers string   // frame that the person sends; @ stands for the ID
		hears   []string // text that the agent receives
		ends    []string // text that the front end receives at the end
	}{
		"ask": {"ask", `{"type":"ask_request","id":"1","payload":{"prompt":"Which?","widgets":[{"type":"buttons","options":["a","b"]}]}}`,
			[]string{`"ask_request"`, "Which?"}, "id", `{"type":"ask_response","id":"x","payload":{"request_id":"@","value":"b"}}`,
			[]string{`"ask_response"`, `"request_id":"1"`, `"value":"b"`}, []string{`"ask_response"`, `"value":"b"`}},
		"approval": {"ask", `{"type":"approval_request","id":"2","payload":{"tool":"bash","input":{"command":"ls"}}}`,
			[]string{`"approval_request"`, "ls"}, "id", `{"type":"approval_response","id":"x","payload":{"request_id":"@","decision":"approve"}}`,
			[]string{`"approval_response"`, `"request_id":"2"`}, []string{`"approval_response"`}},
		"widget": {"widget", `{"type":"widget:request","payload":{"widgetId":"w","type":"confirmation","message":"Go on?"}}`,
			[]string{`"widget:request"`, "Go on?"}, "widgetId", `{"type":"widget:submit","payload":{"widgetId":"@","value":{"confirmed":true}}}`,
			[]string{`"widget:submit"`, `"widgetId":"w"`, "true"}, []string{`"widget:request"`, "true"}},
		"interaction": {"interaction", `{"type":"interaction_request","id":"4","interactionType":"approval","toolName":"deploy"}`,
			[]string{`"deploy"`, "interactionId"}, "interactionId", `{"type":"tool_interaction_response","interactionId":"@","action":"approve"}`,
			[]string{`"approve"`}, []string{"approve"}},
		"questions": {"", `{"type":"can_use_tool","id":"5","tool_name":"AskUserQuestion","tool_use_id":"t5","input":{"questions":[{"question":"Which?","header":"h","options":[{"label":"a"},{"label":"b"}]}]}}`,
			[]string{"Which?", "interactionId"}, "", `{"type":"ask_user_response","conversation_id":"questions","tool_call_id":"t5","answers":{"Which?":"b"}}`,
			[]string{`"can_use_tool_result"`, `"id":"5"`, `"answers":{"Which?":"b"}`}, []string{`"b"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent, front := peer{t, dial(t, s.URL, "agent")}, peer{t, dial(t, s.URL, "ana")}
			front.say(`{"type":"hello","sessionId":"` + name + `","frames":"` + x.frames + `","interaction":{"supported":true,"enabled":true}}`)
			agent.say(strings.Replace(x.asks, "{", `{"sessionId":"`+name+`",`, 1))
			id := field(front.hear(x.shown...), x.id)
			front.say(strings.Replace(x.answers, "@", id, 1))
			agent.hear(x.hears...)
			front.hear(x.ends...)
		})
	}
}

// TestSocketLifecycle checks a request that the agent defers: the late answer
// becomes a message of the session, which the agent acknowledges before it asks
// a follow-up.
func TestSocketLifecycle(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	agent, front := peer{t, dial(t, s.URL, "agent")}, peer{t, dial(t, s.URL, "ana")}
	agent.say(`{"type":"hello","sessionId":"late"}`)
	front.say(`{"type":"set_interaction_mode","enabled":true}`)
	front.hear("must be hello")
	front.say(`{"type":"hello","sessionId":"late"}`)
	front.say(`{"type":"set_interaction_mode","enabled":true}`)
	agent.say(`{"type":"interaction_request","id":"1","sessionId":"late","interactionType":"approval","toolName":"deploy"}`)
	id := field(front.hear(`"deploy"`), "interactionId")
	agent.say(`{"type":"interaction_pending","id":"2","interactionId":"` + id + `"}`)
	agent.hear(`"interaction_pending"`, id)
	front.say(`{"type":"tool_interaction_response","sessionId":"other","interactionId":"` + id + `","action":"approve"}`)
	front.hear("error", "another session")
	front.say(`{"type":"tool_interaction_response","sessionId":"late","interactionId":"` + id + `","action":"deny","reason":"not today"}`)
	message := agent.hear(`"user_message"`, id)
	agent.say(`{"type":"message_ack","sessionId":"late","through":"` + field(message, "messageId") + `"}`)
	agent.say(`{"type":"interaction_complete","interactionId":"` + id + `","result":"stopped"}`)
	agent.say(`{"type":"interaction_reprompt","id":"3","interactionId":"` + id + `","request":{"interactionType":"approval","prompt":"Once more?"}}`)
	next := field(front.hear(`"interaction_request"`, "Once more?"), "interactionId")
	front.say(`{"type":"tool_interaction_response","interactionId":"` + next + `","action":"approve"}`)
	agent.hear(next, `"approve"`)
}

// TestSocketErrorIDs checks that an error names the frame that it belongs to,
// even if the format of the frame has no id.
func TestSocketErrorIDs(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	agent, front := peer{t, dial(t, s.URL, "agent")}, peer{t, dial(t, s.URL, "ana")}
	front.say(`{"type":"hello","sessionId":"ids","frames":"widget","interaction":{"supported":true,"enabled":true}}`)
	for frame, id := range map[string]string{
		`{"type":"widget:submit","payload":{"widgetId":"w0","value":1}}`:                                "w0",
		`{"type":"ask_response","payload":{"request_id":"a0","value":"x"}}`:                             "a0",
		`{"type":"ask_response","id":"own","payload":{"request_id":"a0","value":"x"}}`:                  "own",
		`{"type":"ask_user_response","conversation_id":"ids","tool_call_id":"t0","answers":{}}`:         "t0",
		`{"type":"tool_interaction_response","callId":"c0","interactionId":"i0","action":"approve"}`:    "i0",
		`{"type":"ask_user_response","conversation_id":"ids","tool_call_id":"t1","answers":{"a":true}}`: "t1",
	} {
		front.say(frame)
		front.hear(`"error"`, `"id":"`+id+`"`)
	}
	agent.say(`{"type":"widget:request","payload":{"widgetId":"w1","type":"slider","message":"?"}}`)
	agent.hear(`"error"`, `"id":"w1"`, "Unknown widget type")
	agent.say(`{"type":"can_use_tool","tool_use_id":"t2","tool_name":"AskUserQuestion","input":{}}`)
	agent.hear(`"error"`, `"id":"t2"`, "questions: required")
	agent.say(`{"type":"interaction_request","toolCallId":"c1","interactionType":"input"}`)
	agent.hear(`"error"`, `"id":"c1"`, "inputSchema")
}

// TestSocketPlan checks that a front end for plain fields is shown the plan that
// it can approve.
func TestSocketPlan(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	agent, front := peer{t, dial(t, s.URL, "agent")}, peer{t, dial(t, s.URL, "ana")}
	front.say(`{"type":"hello","sessionId":"plan","interaction":{"supported":true,"enabled":true}}`)
	agent.say(`{"type":"widget:request","sessionId":"plan","payload":{"widgetId":"w","type":"plan_review","message":"Plan?","planContent":"1. drop the table"}}`)
	front.hear(`"interaction_request"`, `"description":"1. drop the table"`)
}

// TestSocketNames checks that errors of frames name the fields of the frame.
func TestSocketNames(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	agent, front := peer{t, dial(t, s.URL, "agent")}, peer{t, dial(t, s.URL, "ana")}
	front.say(`{"type":"hello","sessionId":"names","interaction":{"supported":true,"enabled":true}}`)
	agent.say(`{"type":"interaction_request","id":"1","sessionId":"names","interactionType":"approval","toolName":"deploy"}`)
	id := field(front.hear(`"deploy"`), "interactionId")
	front.say(`{"type":"tool_interaction_response","interactionId":"` + id + `","action":"approve","approvalScope":"always"}`)
	front.hear(`approvalScope: \"always\" is not offered`, "use one of once, session")
	front.say(`{"type":"ask_user_response","tool_call_id":"t","answers":{}}`)
	front.hear(`conversation_id: required`)
	front.say(`{"type":"hello","sessionId":"names","frames":"widget","interaction":{"supported":true,"enabled":true}}`)
	agent.say(`{"type":"widget:request","sessionId":"names","payload":{"widgetId":"f","type":"feedback","message":"?","items":[{"id":"a","content":"A"}]}}`)
	front.hear(`"widgetId":"f"`)
	front.say(`{"type":"widget:submit","payload":{"widgetId":"f","value":{"b":"x","c":"y"}}}`)
	front.hear(`"message":"value.b: unknown; value.c: unknown"`)
	front.say(`{"type":"widget:submit","payload":{"widgetId":"f","value":{"a":"x"}}}`)
	agent.hear(`"widget:submit"`)
	front.say(`{"type":"widget:submit","payload":{"widgetId":"f","value":{"a":"y"}}}`)
	front.hear(`"conflict"`, "You already answered this")
}
