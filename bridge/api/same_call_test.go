package api_test

import (
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// TestSocketRefusesSharedNames checks that an answer that names a widget or a
// tool call reaches no agent if two agents use the name, because the person
// read only one of the requests.
func TestSocketRefusesSharedNames(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	send := func(token, method, path, body string) string {
		status, answer := s.sends(t, token, method, path, body)
		if status > 202 {
			t.Fatal(status, answer)
		}
		return answer
	}
	for token, what := range map[string]string{"agent": "Go on?", "other": "Delete prod-db?"} {
		send(token, "POST", "/v1/dialects/widget?session=s&wait=10ms", `{"widgetId":"w8","type":"confirmation","message":"`+what+`"}`)
		send(token, "POST", "/v1/dialects/ask_user_question?session=s&wait=10ms",
			`{"tool_name":"AskUserQuestion","tool_use_id":"t8","input":{"questions":[{"question":"?","header":"h","options":[{"label":"`+what+`"},{"label":"yes"}]}]}}`)
	}
	front := dial(t, s.URL, "ana")
	for _, frame := range []string{
		`{"type":"hello","sessionId":"s","interaction":{"supported":true,"enabled":true}}`, `{"type":"widget:submit","payload":{"widgetId":"w8","value":{"confirmed":true}}}`,
		`{"type":"ask_user_response","conversation_id":"s","tool_call_id":"t8","answers":{"?":"yes"}}`,
		`{"type":"ask_user_response","conversation_id":"s","tool_call_id":"","answers":{"?":"yes"}}`,
	} {
		if err := front.Write(t.Context(), websocket.MessageText, []byte(frame)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(frame, "hello") {
			until(t, front, `"error"`)
		}
	}
	pending := func(want int) {
		t.Helper()
		all := send("ana", "GET", "/v1/interactions?session=s", "")
		if n := strings.Count(all, `"state":"pending"`); n != want {
			t.Errorf("%d of %d are pending: %s", n, want, all)
		}
	}
	pending(4)
	send("agent", "POST", "/v1/sessions/s/cancel", `{"reason":"over"}`)
	if err := front.Write(t.Context(), websocket.MessageText, []byte(`{"type":"widget:submit","payload":{"widgetId":"w8","value":{"confirmed":true}}}`)); err != nil {
		t.Fatal(err)
	}
	until(t, front, `"conflict"`)
	pending(2)
}
