package relay

import (
	"encoding/json"
	"io"
	"log/slog"
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

// TestFolders checks where the calls of a session run that do not say it.
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
