package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/nodbridge/nod/platforms/platformtest/await"
)

func dial(t testing.TB, url, token string) *websocket.Conn {
	t.Helper()
	//nolint:bodyclose // the library says that it never needs to be
	c, _, err := websocket.Dial(t.Context(), strings.Replace(url, "http", "ws", 1)+"/v1/ws", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + token}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.CloseNow() })
	return c
}

// until reads frames until one contains text.
func until(t testing.TB, c *websocket.Conn, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
	defer cancel()
	for {
		_, b, err := c.Read(ctx)
		if err != nil {
			t.Fatalf("no frame with %q: %v", text, err)
		}
		if strings.Contains(string(b), text) {
			return
		}
	}
}

// TestSocketIsClosedToStrangers checks that a socket requires a token, and
// refuses other origins.
func TestSocketIsClosedToStrangers(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, o := range []*websocket.DialOptions{
		{}, {HTTPHeader: http.Header{"Authorization": {"Bearer nonsense"}}}, {Subprotocols: []string{"nod", "bearer.nonsense"}},
		{HTTPHeader: http.Header{"Authorization": {"Bearer agent"}, "Origin": {"https://evil.example"}}},
	} {
		//nolint:bodyclose // as above
		if c, resp, err := websocket.Dial(t.Context(), s.URL+"/v1/ws", o); err == nil {
			c.CloseNow()
			t.Errorf("%+v was accepted", o)
		} else if resp == nil || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
			t.Errorf("%+v: %v", o, err)
		}
	}
	//nolint:bodyclose // as above
	c, _, err := websocket.Dial(t.Context(), s.URL+"/v1/ws", &websocket.DialOptions{Subprotocols: []string{"nod", "bearer.agent"}})
	if err != nil || c.Subprotocol() != "nod" {
		t.Fatalf("a token among the subprotocols: %v", err)
	}
	c.CloseNow()
}

// TestSocketBearsBadFrames checks that an invalid frame gets an error and
// leaves the socket open.
func TestSocketBearsBadFrames(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, token := range []string{"agent", "ana"} {
		c := dial(t, s.URL, token)
		if err := c.Write(t.Context(), websocket.MessageBinary, []byte{1, 2, 3}); err != nil {
			t.Fatal(err)
		}
		until(t, c, "must be text")
		for frame, want := range map[string]string{
			`{"type":"nonsense","id":"7"}`: `"id":"7"`,
			`[]`:                           "invalid",
			`{"type":"set_interaction_mode","enabled":1}`:  "invalid",
			`{"type":"ask_response","payload":{}}`:         "error",
			`{"type":"message_ack","through":"nonsense"}`:  "error",
			`{"type":"interaction_complete"}`:              "error",
			`{"type":"hello","sessionId":"s","after":"x"}`: "",
		} {
			if err := c.Write(t.Context(), websocket.MessageText, []byte(frame)); err != nil {
				t.Fatal(err)
			}
			if want != "" {
				until(t, c, want)
			}
		}
		big := dial(t, s.URL, token)
		if err := big.Write(t.Context(), websocket.MessageText, []byte(`{"type":"`+strings.Repeat("x", 2<<20)+`"}`)); err == nil {
			if _, _, err := big.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
				t.Errorf("a frame that is too big: %v", err)
			}
		}
	}
}

// TestSocketKeepsAgentsApart checks that an agent can continue only its own
// requests.
func TestSocketKeepsAgentsApart(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	mine, other := dial(t, s.URL, "agent"), dial(t, s.URL, "other")
	say := func(c *websocket.Conn, text string) {
		if err := c.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	say(mine, `{"type":"interaction_request","id":"1","sessionId":"s","interactionType":"approval","toolName":"t"}`)
	front := dial(t, s.URL, "ana")
	say(front, `{"type":"hello","sessionId":"s"}`)
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
	defer cancel()
	_, b, err := front.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	id := strings.Split(strings.Split(string(b), `"interactionId":"`)[1], `"`)[0]
	for _, what := range []string{`"interaction_complete"`, `"interaction_pending"`, `"interaction_reprompt","request":{"type":"approval"}`} {
		say(other, `{"type":`+what+`,"interactionId":"`+id+`"}`)
		until(t, other, "interaction "+id+" not found")
	}
}

// TestSocketHasALimit checks the limit of pending requests of a socket.
func TestSocketHasALimit(t *testing.T) {
	t.Parallel()
	c := dial(t, newServer(t).URL, "agent")
	for n := range 65 {
		frame := fmt.Sprintf(`{"type":"ask_request","id":"%d","payload":{"prompt":"?"}}`, n)
		if err := c.Write(t.Context(), websocket.MessageText, []byte(frame)); err != nil {
			t.Fatal(err)
		}
	}
	until(t, c, `"id":"64","error":{"code":"rate_limited"`)
}

// FuzzFrame checks that the connection survives any frame and that the next
// frame gets a response.
func FuzzFrame(f *testing.F) {
	for _, seed := range []string{
		`{"type":"ask_request","id":"1","payload":{"prompt":"?","widgets":[{"type":"buttons","options":["a"]}]}}`,
		`{"type":"approval_request","id":"2","payload":{"tool":"bash","input":{"command":"ls"}}}`,
		`{"type":"widget:request","payload":{"widgetId":"w","type":"confirmation","message":"?"}}`,
		"{\"type\":\"assistant_message\",\"content\":\"```widget\\n{\\\"widgetId\\\":\\\"w\\\"}\\n```\"}",
		`{"type":"can_use_tool","tool_name":"AskUserQuestion","input":{"questions":[{"question":"?","options":[{"label":"a"}]}]}}`,
		`{"type":"interaction_request","interactionType":"input","inputSchema":{"type":"form","fields":[{"id":"a","type":"text","label":"A"}]}}`,
		`{"type":"hello","sessionId":"s","interaction":{"supported":true,"enabled":true},"frames":"ask"}`,
		`{"type":"tool_interaction_response","interactionId":"0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03","action":"submit","input":{"a":1}}`,
		`{"type":"ask_user_response","conversation_id":"s","tool_call_id":"x","answers":{"?":"a"}}`,
	} {
		f.Add(true, seed)
		f.Add(false, seed)
	}
	url := newServer(f).URL
	f.Fuzz(func(t *testing.T, agent bool, frame string) {
		token := "ana"
		if agent {
			token = "agent"
		}
		c := dial(t, url, token)
		for _, text := range []string{frame, `{"type":"end of the test","id":"end of the test"}`} {
			if err := c.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		until(t, c, `"id":"end of the test"`)
	})
}
