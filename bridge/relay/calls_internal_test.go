package relay

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"testing"
)

// TestCallDetails checks whose details a request gets: those of the call with its
// session and ID that is not over.
func TestCallDetails(t *testing.T) {
	t.Parallel()
	const (
		call   = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a","update":{"sessionUpdate":"tool_call","toolCallId":"Bash_0","rawInput":{"command":"SAFE"}}}}`
		bare   = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a","update":{"sessionUpdate":"tool_call","toolCallId":"Bash_0","title":"NEW"}}}`
		more   = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a","update":{"sessionUpdate":"tool_call_update","toolCallId":"Bash_0","title":"NEW"}}}`
		done   = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a","update":{"sessionUpdate":"tool_call_update","toolCallId":"Bash_0","status":"completed"}}}`
		prompt = `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"a"}}`
		load   = `{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"a"}}`
		reply  = `{"jsonrpc":"2.0","id":1,"result":{}}`
	)
	for name, c := range map[string]struct {
		said    []string
		session string
		has     bool
	}{
		"of the call":               {[]string{call}, "a", true},
		"with an update":            {[]string{call, more}, "a", true},
		"of another session":        {[]string{call}, "b", false},
		"of a call that is over":    {[]string{call, done}, "a", false},
		"of a call that was before": {[]string{call, bare}, "a", false},
		"of a turn that runs":       {[]string{prompt, call}, "a", true},
		"of a turn that is over":    {[]string{prompt, call, reply}, "a", false},
		"of the history":            {[]string{load, call}, "a", false},
		"after the history":         {[]string{load, call, reply, call}, "a", true},
	} {
		a := newCalls()
		for _, line := range c.said {
			var m Message
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatal(err)
			}
			a.begins(m)
			a.reported(m)
			if m.IsResponse() {
				a.ends(m)
			}
		}
		if got := strings.Contains(string(a.known(c.session, "Bash_0")), "SAFE"); got != c.has {
			t.Errorf("details %s: %t, want %t", name, got, c.has)
		}
	}
}

// TestFolders checks in which folder the calls of a session run that do not
// name one.
func TestFolders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		said []string
		want string
	}{
		"new":         {[]string{`{"id":1,"method":"session/new","params":{"cwd":"/repo"}}`, `{"id":1,"result":{"sessionId":"a"}}`}, "/repo"},
		"loaded":      {[]string{`{"id":1,"method":"session/load","params":{"sessionId":"a","cwd":"/repo"}}`, `{"id":1,"result":null}`}, "/repo"},
		"resumed":     {[]string{`{"id":"x","method":"session/resume","params":{"sessionId":"a","cwd":"/repo"}}`, `{"id":"x","result":{}}`}, "/repo"},
		"refused":     {[]string{`{"id":1,"method":"session/load","params":{"sessionId":"a","cwd":"/repo"}}`, `{"id":1,"error":{"code":1,"message":"x"}}`}, ""},
		"not yet":     {[]string{`{"id":1,"method":"session/load","params":{"sessionId":"a","cwd":"/repo"}}`}, ""},
		"another one": {[]string{`{"id":1,"method":"session/new","params":{"cwd":"/repo"}}`, `{"id":1,"result":{"sessionId":"b"}}`}, ""},
		"only asked":  {[]string{`{"id":1,"method":"session/prompt","params":{"sessionId":"a","cwd":"/repo"}}`, `{"id":1,"result":{}}`}, ""},
	} {
		calls := newCalls()
		for _, line := range c.said {
			var m Message
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatal(err)
			}
			if calls.begins(m); m.IsResponse() {
				calls.ends(m)
			}
		}
		if got := calls.folder("a"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// heard is an Asker that passes on the requests that chat gets.
type heard chan string

func (h heard) Ask(_ context.Context, _ string, _ url.Values, body []byte) (json.RawMessage, error) {
	h <- string(body)
	return nil, errors.New("no one answers")
}

// TestAgentTells checks that chat gets the details of a call that the agent has
// reported, and the folder of its session, until the turn of the call is over.
func TestAgentTells(t *testing.T) {
	t.Parallel()
	side, chat := NewSide(strings.NewReader(""), io.Discard), make(heard, 1)
	a := NewACP(Options{Asker: chat, Client: side, Server: side, Log: slog.New(slog.DiscardHandler)})
	say := func(take func(context.Context, *Message) bool, line string) {
		t.Helper()
		var m Message
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if take(t.Context(), &m) {
			t.Errorf("%s does not pass", line)
		}
	}
	asks := func(id, cwd, command string) {
		t.Helper()
		say(a.FromServer, `{"jsonrpc":"2.0","id":`+id+`,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]}}`)
		a.Wait()
		if got := <-chat; !strings.Contains(got, `"cwd":"`+cwd+`"`) || strings.Contains(got, "SAFE") != (command != "") {
			t.Errorf("chat gets %s, want the folder %s and the command %q", got, cwd, command)
		}
	}
	say(a.FromClient, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/repo"}}`)
	say(a.FromServer, `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`)
	say(a.FromClient, `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s"}}`)
	say(a.FromServer, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","rawInput":{"command":"SAFE"}}}}`)
	asks("5", "/repo", "SAFE")
	say(a.FromServer, `{"jsonrpc":"2.0","id":2,"result":{}}`)
	asks("6", "/repo", "")
}

// TestOverBeforeForm checks that a form of a call that the client has cancelled
// is not shown, so that the call is never sent again.
func TestOverBeforeForm(t *testing.T) {
	t.Parallel()
	side := NewSide(strings.NewReader(""), io.Discard)
	w := NewWrap(WrapOptions{Rules: Rules{Allow: []string{"*"}}, Client: side, Server: side, Log: slog.New(slog.DiscardHandler)})
	say := func(take func(*Message) bool, line string) bool {
		var m Message
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		return take(&m)
	}
	client := func(m *Message) bool { return w.FromClient(t.Context(), m) }
	server := func(m *Message) bool { return w.FromServer(t.Context(), m) }
	if say(client, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}}`) || say(client, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`) {
		t.Fatal("an allowed call or its cancellation does not pass")
	}
	form := `{"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}}}}`
	if !say(server, form) {
		t.Error("the client gets the answer to a call that it has cancelled")
	}
	w.Wait() // without an Approver, a form would panic
	if w.inUse(json.RawMessage("7")) {
		t.Error("the call is not over")
	}
}
