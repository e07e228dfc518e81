package api_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/api"
	"github.com/nodbridge/nod/bridge/client"
)

// page connects a front end that can answer.
func page(t *testing.T, url, hello string) peer {
	t.Helper()
	p := peer{t, dial(t, url, "ana")}
	p.say(`{"type":"hello",` + hello + `"interaction":{"supported":true,"enabled":true}}`)
	return p
}

// TestFramesWithoutSession checks that a front end sees frames which carry no
// session, as the protocols print them, and answers them, whether it connected
// before or after them.
func TestFramesWithoutSession(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct{ frames, asks, shown, answers, hears, ends string }{
		"ask": {"ask", `{"type":"ask_request","id":"3f6c","payload":{"prompt":"Which option?","widgets":[{"type":"buttons","options":["A","B"]}]}}`,
			`"ask_request"`, `{"type":"ask_response","payload":{"request_id":"3f6c","value":"B"}}`, `"value":"B"`, `"askResponse":"B"`},
		"approval": {"ask", `{"type":"approval_request","id":"a1","payload":{"tool":"bash","input":{"command":"ls"}}}`,
			`"approval_request"`, `{"type":"approval_response","payload":{"request_id":"a1","approved":true,"always":true}}`, `"always":true`, `"approval_response"`},
		"widget": {"widget", `{"type":"widget:request","payload":{"widgetId":"w1","type":"confirmation","message":"Go on?","submitted":false}}`,
			`"widget:request"`, `{"type":"widget:submit","payload":{"widgetId":"w1","value":{"confirmed":true}}}`, `"confirmed":true`, `"submitted":true`},
		"block": {"widget", "{\"type\":\"assistant_message\",\"content\":\"Dropping it.\\n```widget\\n{\\\"widgetId\\\":\\\"w2\\\",\\\"type\\\":\\\"confirmation\\\",\\\"message\\\":\\\"Go on?\\\"}\\n```\"}",
			`"w2"`, `{"type":"widget:submit","payload":{"widgetId":"w2","value":{"confirmed":false}}}`, `WIDGET_SUBMIT`, `"submitted":true`},
		"question": {"question", `{"type":"can_use_tool","id":"c1","tool_name":"AskUserQuestion","tool_use_id":"toolu_1","input":{"questions":[{"question":"Which?","header":"Pick","options":[{"label":"a"},{"label":"b"}]}]}}`,
			`"calling"`, `{"type":"ask_user_response","conversation_id":"","tool_call_id":"toolu_1","answers":{"Which?":"b"}}`, `"answers":{"Which?":"b"}`, `"completed"`},
		"interaction": {"interaction", `{"type":"interaction_request","toolCallId":"call_1","toolName":"deploy","interactionType":"approval","prompt":"Deploy?","approvalScopes":["once","session","always"]}`,
			`"approvalScopes":["once","session","always"]`, `{"type":"tool_interaction_response","callId":"call_1","interactionId":"@","action":"approve","approvalScope":"session"}`, `"approvalScope":"session"`, `"interaction_response"`},
	} {
		for _, order := range []string{"page first", "agent first"} {
			t.Run(name+", "+order, func(t *testing.T) {
				t.Parallel()
				s := newServer(t)
				hello := `"frames":"` + x.frames + `",`
				agent := peer{t, dial(t, s.URL, "agent")}
				var front peer
				if order == "page first" {
					front = page(t, s.URL, hello)
				}
				agent.say(x.asks)
				if order == "agent first" {
					page(t, s.URL, `"frames":"interaction",`).hear(`"interaction_request"`) // the request is stored
					front = page(t, s.URL, hello)
				}
				shown := front.hear(x.shown)
				front.say(strings.Replace(x.answers, "@", field(shown, "interactionId"), 1))
				agent.hear(x.hears)
				front.hear(x.ends)
			})
		}
	}
}

// TestPageOfEverySession checks that a front end without a session sees the
// requests of every session once, and counts where no chat accepts answers.
func TestPageOfEverySession(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	agent := peer{t, dial(t, s.URL, "agent")}
	const ask = `{"type":"ask_request","id":"%","sessionId":"%","route":"unreachable","payload":{"prompt":"Go on in %?"}}`
	agent.say(strings.ReplaceAll(ask, "%", "one"))
	agent.hear(`"unavailable"`, "one")
	front := page(t, s.URL, `"frames":"ask",`)
	front.say(`{"type":"end","id":"joined"}`)
	front.hear(`"joined"`)
	for _, session := range []string{"two", "three"} {
		agent.say(strings.ReplaceAll(ask, "%", session))
		if f := front.hear(`"ask_request"`); field(f, "id") != session {
			t.Errorf("it sees %s, want the request of %s", f, session)
		}
	}
	agent.say(strings.Replace(strings.ReplaceAll(ask, "%", "none"), `"sessionId":"none",`, "", 1))
	front.hear(`"ask_request"`, "none")
	front.say(`{"type":"ask_response","payload":{"request_id":"two","value":"Yes"}}`)
	agent.hear(`"id":"two"`, `"value":"Yes"`)
}

// breaking makes the next read of the store fail after the first batch of events.
type breaking struct {
	api.Reader
	once  sync.Once
	fails *atomic.Int32
}

// Events implements api.Reader.
func (b *breaking) Events(ctx context.Context, cursor string, f bridge.EventFilter) ([]bridge.Event, string, error) {
	batch, next, err := b.Reader.Events(ctx, cursor, f)
	if len(batch) > 0 {
		b.once.Do(func() { b.fails.Store(1) })
	}
	return batch, next, err
}

// TestPageMissesNothing checks that a front end sees each request once if the store
// fails while the front end greets, and while it gets an event.
func TestPageMissesNothing(t *testing.T) {
	t.Parallel()
	b := &breaking{}
	s := newServerReading(t, func(r api.Reader) api.Reader { b.Reader = r; return b })
	b.fails = &s.fails
	agent := peer{t, dial(t, s.URL, "agent")}
	asks := func(id string) {
		agent.say(strings.ReplaceAll(`{"type":"ask_request","id":"%","sessionId":"%","payload":{"prompt":"Go on in %?"}}`, "%", id))
		agent.say(`{"type":"end","id":"after ` + id + `"}`)
		agent.hear(`"after ` + id + `"`)
	}
	asks("one")
	s.fails.Store(1)
	front := page(t, s.URL, `"frames":"ask",`)
	for _, id := range []string{"one", "two", "three"} {
		if f := front.hear(`"ask_request"`); field(f, "id") != id {
			t.Errorf("it sees %s, want the request of %s", f, id)
		}
		if id != "three" {
			asks(map[string]string{"one": "two", "two": "three"}[id])
		}
	}
}

// TestSecondHello checks that a front end that greets its session again keeps the
// requests that need it, and that it loses them when it greets another session.
func TestSecondHello(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	agent, front := peer{t, dial(t, s.URL, "agent")}, page(t, s.URL, `"sessionId":"s",`)
	front.say(`{"type":"end","id":"joined"}`)
	front.hear(`"joined"`)
	agent.say(`{"type":"can_use_tool","id":"c","conversation_id":"s","route":"unreachable","tool_name":"AskUserQuestion","tool_use_id":"u","input":{"questions":[{"question":"Which?","header":"h","options":[{"label":"a"},{"label":"b"}]}]}}`)
	id := field(front.hear("Which?"), "interactionId")
	greets := func(session string) bridge.State {
		front.say(`{"type":"hello","sessionId":"` + session + `","interaction":{"supported":true,"enabled":true}}`)
		front.say(`{"type":"end","id":"in ` + session + `"}`)
		front.hear(`"in ` + session + `"`)
		rec, err := client.New(s.URL, "agent", nil).Get(t.Context(), bridge.ID(id))
		if err != nil {
			t.Fatal(err)
		}
		return rec.State
	}
	if got := greets("s"); got != bridge.StatePending {
		t.Errorf("after a second hello, the request is %s", got)
	}
	if got := greets("other"); got != bridge.StateCancelled {
		t.Errorf("after the hello of another session, the request is %s", got)
	}
}

// TestReusedWidget checks that a widget whose ID stands for two requests is
// answered by the ID of nod, and that each answer reaches its own request.
func TestReusedWidget(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	agent, front := peer{t, dial(t, s.URL, "agent")}, page(t, s.URL, `"sessionId":"s","frames":"widget",`)
	ids := map[string]string{}
	for _, message := range []string{"Deploy staging?", "Deploy production?"} {
		agent.say(`{"type":"widget:request","sessionId":"s","payload":{"widgetId":"w","type":"confirmation","message":"` + message + `"}}`)
		ids[message] = field(front.hear(message), "interactionId")
	}
	if ids["Deploy staging?"] == ids["Deploy production?"] {
		t.Error("another question with the same widget ID is the same request")
	}
	answer := `{"type":"widget:submit","interactionId":"@","payload":{"widgetId":"w","value":{"confirmed":false}}}`
	front.say(strings.Replace(answer, `"interactionId":"@",`, "", 1))
	front.hear(`"error"`, `"id":"w"`, `widgetId: several requests have the ID`, "interactionId")
	front.say(strings.Replace(strings.Replace(answer, "@", ids["Deploy production?"], 1), `"widgetId":"w"`, `"widgetId":"v"`, 1))
	front.hear(`"error"`, `interactionId: the interaction does not have the widgetId`)
	front.say(strings.Replace(answer, "@", ids["Deploy production?"], 1))
	front.hear(ids["Deploy production?"], `"submitted":true`)
	agent.hear(`"widget:submit"`, `"confirmed":false`)
	front.say(strings.Replace(strings.Replace(answer, "@", ids["Deploy staging?"], 1), "false", "true", 1))
	agent.hear(`"widget:submit"`, `"confirmed":true`)
}

// TestRepeatedFrames checks that a repeated frame is the same request, and another
// one with the same ID is not.
func TestRepeatedFrames(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		frame, other string
		sessions     bool
	}{
		"interaction": {`{"type":"interaction_request","sessionId":"@","toolCallId":"call_1","toolName":"t","interactionType":"approval","prompt":"A?"}`,
			`{"type":"interaction_request","sessionId":"@","toolCallId":"call_1","toolName":"t","interactionType":"approval","prompt":"B?"}`, true},
		"callId": {`{"type":"interaction_request","sessionId":"@","callId":"call_1","toolName":"t","interactionType":"approval","prompt":"A?"}`,
			`{"type":"interaction_request","sessionId":"@","callId":"call_2","toolName":"t","interactionType":"approval","prompt":"A?"}`, true},
		"widget": {`{"type":"widget:request","sessionId":"@","payload":{"widgetId":"w","type":"confirmation","message":"A?"}}`,
			`{"type":"widget:request","sessionId":"@","payload":{"widgetId":"w","type":"confirmation","message":"B?"}}`, true},
		"ask": {`{"type":"ask_request","id":"1","sessionId":"@","payload":{"prompt":"A?"}}`, `{"type":"ask_request","id":"1","sessionId":"@","payload":{"prompt":"B?"}}`, true},
		"without a session": {`{"type":"interaction_request","toolCallId":"call_1","toolName":"t","interactionType":"approval","prompt":"A?"}`,
			`{"type":"interaction_request","toolCallId":"call_1","toolName":"t","interactionType":"approval","prompt":"B?"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			agent, front := peer{t, dial(t, s.URL, "agent")}, page(t, s.URL, "")
			frame, other := strings.ReplaceAll(x.frame, "@", name), strings.ReplaceAll(x.other, "@", name)
			agent.say(frame)
			first := field(front.hear(`"interaction_request"`), "interactionId")
			agent.say(frame)
			if x.sessions { // on another connection as well
				peer{t, dial(t, s.URL, "agent")}.say(frame)
			}
			agent.say(other)
			if second := field(front.hear(`"interaction_request"`), "interactionId"); second == first {
				t.Error("the request is shown again")
			}
			agent.say(`{"type":"interaction_pending","interactionId":"` + first + `"}`)
			if x.sessions {
				agent.hear(first, `"queued":true`)
				agent.hear(first, `"queued":true`)
			}
		})
	}
}

// TestLateAnswer checks that a late answer reaches the connection that asked,
// although it has not greeted the session, and no other one.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	agent, other, front := peer{t, dial(t, s.URL, "agent")}, peer{t, dial(t, s.URL, "agent")}, page(t, s.URL, `"sessionId":"s",`)
	asks := func(by peer, call string) string {
		by.say(`{"type":"interaction_request","sessionId":"s","toolCallId":"` + call + `","interactionType":"approval","toolName":"deploy"}`)
		id := field(front.hear(`"interaction_request"`, call), "interactionId")
		by.say(`{"type":"interaction_pending","interactionId":"` + id + `"}`)
		by.hear(id, `"queued":true`)
		return id
	}
	id, second := asks(agent, "one"), asks(other, "two")
	answer := `{"type":"tool_interaction_response","interactionId":"@","action":"deny","reason":"not today"}`
	front.say(strings.Replace(answer, "@", second, 1))
	other.hear(`"user_message"`, second)
	front.say(strings.Replace(answer, "@", id, 1))
	f := agent.hear(`"user_message"`)
	if !strings.Contains(f, id) || field(f, "sessionId") != "s" {
		t.Errorf("the late answer is %s", f)
	}
	agent.say(`{"type":"message_ack","sessionId":"s","through":"` + field(f, "messageId") + `"}`)
	agent.say(`{"type":"hello","sessionId":"s"}`)
	agent.say(`{"type":"interaction_complete","interactionId":"` + id + `","result":"stopped"}`)
	agent.say(`{"type":"end","id":"end"}`)
	if f := agent.hear("type"); !strings.Contains(f, `"id":"end"`) {
		t.Errorf("the agent gets %s again", f)
	}
}

// TestFirstErrors checks the errors of a front end, in the order of its mistakes,
// and that they name the fields of the protocol.
func TestFirstErrors(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	agent, front := peer{t, dial(t, s.URL, "agent")}, peer{t, dial(t, s.URL, "ana")}
	for _, x := range []struct {
		from        peer
		frame, want string
	}{
		{front, `{"type":"nonsense"}`, `type: unknown frame \"nonsense\" for a front end`},
		{front, `{"type":"ask_request","id":"1","payload":{"prompt":"?"}}`, `type: unknown frame \"ask_request\" for a front end`},
		{front, `{"type":"ask_response","payload":{"request_id":"1","value":"x"}}`, "type: the first frame must be hello"},
		{front, `{"type":"set_interaction_mode","enabled":true}`, "type: the first frame must be hello"},
		{front, `{"type":"hello","sessionId":"s","frames":"odd"}`, `frames: unknown format`},
		{front, `{"type":"hello","sessionId":"s"}`, ""},
		{front, `{"type":"nonsense"}`, `unknown frame`},
		{front, `{"type":"ask_response","payload":{"request_id":"1","value":"x"}}`, "interactive mode is disabled"},
		{front, `{"type":"set_interaction_mode","enabled":true}`, ""},
		{front, `{"type":"ask_response","payload":{"value":"x"}}`, "request_id: required"},
		{front, `{"type":"widget:submit","payload":{"value":1}}`, "widgetId: required"},
		{front, `{"type":"widget:submit","payload":{"widgetId":"w0","value":1}}`, `widgetId: no widget \"w0\" is pending`},
		{front, `{"type":"tool_interaction_response","action":"approve"}`, "interactionId: required"},
		{front, `{"type":"tool_interaction_response","interactionId":"x","action":"approve"}`, "interactionId: not an interaction ID"},
		{front, `{"type":"ask_user_response","tool_call_id":"t","answers":{}}`, "conversation_id: required"},
		{front, `{"type":"ask_user_response","conversation_id":"s","tool_call_id":"t","answers":{}}`, `tool_call_id: no question \"t\" is pending in the conversation`},
		{agent, `{"type":"nonsense"}`, `type: unknown frame \"nonsense\" for an agent`},
		{agent, `{"type":"hello"}`, "sessionId: required"},
		{agent, `{"type":"interaction_complete"}`, "interactionId: required"},
		{agent, `{"type":"interaction_pending","interactionId":"x"}`, "interactionId: not an interaction ID"},
		{agent, `{"type":"interaction_request","toolCallId":"c"}`, "interactionType: unknown type"},
		{agent, `{"type":"interaction_request","toolCallId":"c","callId":"d","interactionType":"approval"}`, "callId: "},
		{agent, `{"type":"interaction_request","toolCallId":"c","interactionType":"approval","timeoutMs":5}`, "timeoutMs: "},
		{agent, `{"type":"interaction_request","interactionType":"input","inputSchema":{"type":"form","fields":[{"id":"a b","type":"text","label":"A"}]}}`, "inputSchema.fields[0].id: "},
		{agent, `{"type":"interaction_request","sessionId":"` + strings.Repeat("s", 201) + `","interactionType":"approval"}`, "sessionId: "},
		{agent, `{"type":"ask_request","payload":{"prompt":"?"}}`, "id: required"},
		{agent, `{"type":"ask_request","id":"1","payload":{"prompt":"?","widgets":[{"type":"select"}]}}`, "widgets[0].options: required"},
		{agent, `{"type":"approval_request","id":"1","payload":{}}`, "payload.tool: required"},
		{agent, `{"type":"widget:request","payload":{"widgetId":"w","type":"selection","message":"?"}}`, "options: required"},
		{agent, `{"type":"widget:request","payload":{"widgetId":"w","type":"form","message":"?","schema":{"type":"object","properties":{"a":{"type":"string","not":{}}}}}}`, "schema.properties.a.not: not supported"},
		{agent, `{"type":"can_use_tool","tool_name":"AskUserQuestion","tool_use_id":"t","input":{"questions":[{"question":"?","options":[]}]}}`, "questions[0].options: required"},
		{agent, `{"type":"message_ack","sessionId":"s","through":"x"}`, "through: "},
	} {
		x.from.say(x.frame)
		if x.want != "" {
			if f := x.from.hear(`"error"`); !strings.Contains(f, x.want) {
				t.Errorf("%.120s: %s, want %s", x.frame, f, x.want)
			}
		}
	}
}

// TestOrigins checks which pages may connect.
func TestOrigins(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for origin, want := range map[string]int{
		"": 101, "https://app.example.com": 101, "https://APP.example.com": 101, "https://a.apps.example.com": 101, "http://" + s.Listener.Addr().String(): 101,
		"http://app.example.com": 403, "https://app.example.com:8443": 403, "https://evil.example.com": 403, "https://app.example.com.evil.com": 403, "https://apps.example.com": 403,
		"null": 403, "file://": 403, "https://": 403, "%": 403,
	} {
		header := http.Header{"Authorization": {"Bearer ana"}}
		if origin != "" {
			header.Set("Origin", origin)
		}
		//nolint:bodyclose // the library says that it never needs to be
		c, resp, err := websocket.Dial(t.Context(), s.URL+"/v1/ws", &websocket.DialOptions{HTTPHeader: header})
		if err == nil {
			c.CloseNow()
		}
		if resp == nil || resp.StatusCode != want {
			t.Errorf("a page of %q: %v, %v, want %d", origin, resp, err, want)
		}
	}
}
