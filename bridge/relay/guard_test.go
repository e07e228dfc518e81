package relay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/relay"
)

// people approves every request and records it.
type people struct {
	mu    sync.Mutex
	asked []bridge.Request
	deny  bool
	edit  json.RawMessage
	forms []string
}

func (p *people) Approve(_ context.Context, r bridge.Request) (bridge.Record, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := r.Normalize(); err != nil {
		return bridge.Record{}, err
	}
	p.asked = append(p.asked, r)
	state := bridge.StateApproved
	if p.deny {
		state = bridge.StateDenied
	}
	return bridge.Record{State: state, Response: &bridge.Response{State: state, Input: p.edit}}, nil
}

func (p *people) Ask(_ context.Context, _ string, _ url.Values, body []byte) (json.RawMessage, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forms = append(p.forms, string(body))
	return json.RawMessage(`{"action":"accept","content":{}}`), nil
}

// lines is one end of a connection. It sends its lines one by one, and ends
// when the relay is idle.
type lines struct {
	text []byte
	wait func()
}

func (l *lines) Read(b []byte) (int, error) {
	if len(l.text) == 0 {
		l.wait()
		return 0, io.EOF
	}
	n := copy(b, l.text)
	l.text = l.text[n:]
	return n, nil
}

// guard runs a relay on the lines of a client, and returns the output to the
// server and to the client.
func guard(t testing.TB, p *people, rules relay.Rules, said string) (toServer, toClient string) {
	t.Helper()
	var server, client bytes.Buffer
	serverIn, closeServer := io.Pipe()
	in := &lines{text: []byte(said)}
	near, far := relay.NewSide(in, &client), relay.NewSide(serverIn, &server)
	w := relay.NewWrap(relay.WrapOptions{Approver: p, Rules: rules, Name: "db", Client: near, Server: far, Log: slog.New(slog.DiscardHandler)})
	in.wait = w.Wait
	err := (&relay.Relay{Client: near, Server: far, Handler: w, Strict: true}).Run(t.Context(), func() { closeServer.Close() })
	if err != nil {
		t.Logf("the relay ended: %v", err)
	}
	w.Wait()
	return server.String(), client.String()
}

const plainCall = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_db","arguments":{"db":"prod"}}}`

// TestNotUnderstood checks that a message that cannot be parsed completely
// never reaches the server, and that its sender gets a JSON-RPC error.
func TestNotUnderstood(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 10_001) + "1" + strings.Repeat("}", 10_001)
	for name, said := range map[string]string{
		"a second spelling of the name":  `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_db","Name":"get_time"}}`,
		"the name in capitals":           `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"NAME":"get_time","arguments":{}}}`,
		"the name twice":                 `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_db","name":"get_time"}}`,
		"the name twice, once escaped":   `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_db","\u006eame":"get_time"}}`,
		"both spellings of arguments":    `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"get_time","arguments":{"a":1},"Arguments":{"a":2}}}`,
		"a name twice in arguments":      `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"get_time","arguments":{"a":1,"a":2}}}`,
		"arguments that are too deep":    `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_db","arguments":` + deep + `}}`,
		"arguments that are a list":      `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_db","arguments":[1]}}`,
		"params that are a list":         `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":["delete_db",{}]}`,
		"no params":                      `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`,
		"an empty name":                  `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"","arguments":{}}}`,
		"a name that is invisible":       `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_db\u202e","arguments":{}}}`,
		"a name with NUL":                `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"get_time\u0000","arguments":{}}}`,
		"a name that is a number":        `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":1,"arguments":{}}}`,
		"an unknown member of a call":    `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"get_time","arguments":{},"tool":"delete_db"}}`,
		"an unknown member":              `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"get_time"},"Params":{"name":"delete_db"}}`,
		"the method twice":               `{"jsonrpc":"2.0","id":7,"method":"tools/call","method":"tools/list","params":{"name":"delete_db"}}`,
		"the method in another case":     `{"jsonrpc":"2.0","id":7,"method":"Tools/Call","params":{"name":"delete_db"}}`,
		"the member method in capitals":  `{"jsonrpc":"2.0","id":7,"METHOD":"tools/call","params":{"name":"delete_db"}}`,
		"two spellings of method":        `{"jsonrpc":"2.0","id":7,"method":"tools/list","Method":"tools/call","params":{"name":"delete_db"}}`,
		"a space after the method":       `{"jsonrpc":"2.0","id":7,"method":"tools/call ","params":{"name":"delete_db"}}`,
		"an unknown method":              `{"jsonrpc":"2.0","id":7,"method":"tools/run","params":{"name":"delete_db"}}`,
		"a batch":                        `[` + plainCall + `]`,
		"a batch of two":                 `[{"jsonrpc":"2.0","id":1,"method":"ping"},` + plainCall + `]`,
		"a call without an id":           `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"delete_db"}}`,
		"a call with the id null":        `{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"delete_db"}}`,
		"an id that is a list":           `{"jsonrpc":"2.0","id":[7],"method":"tools/call","params":{"name":"delete_db"}}`,
		"an id that is an object":        `{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{"name":"delete_db"}}`,
		"an id that is true":             `{"jsonrpc":"2.0","id":true,"method":"tools/call","params":{"name":"delete_db"}}`,
		"no version":                     `{"id":7,"method":"tools/call","params":{"name":"delete_db"}}`,
		"another version":                `{"jsonrpc":"1.0","id":7,"method":"tools/call","params":{"name":"delete_db"}}`,
		"a version that is a number":     `{"jsonrpc":2.0,"id":7,"method":"tools/call","params":{"name":"delete_db"}}`,
		"a request that is a response":   `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_db"},"result":{}}`,
		"a response that is an error":    `{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":"x"}}`,
		"a response to nothing":          `{"jsonrpc":"2.0","id":7,"result":{"action":"accept"}}`,
		"no UTF-8":                       "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"delete_db\",\"arguments\":{\"a\":\"\xff\"}}}",
		"half a surrogate pair":          `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_db","arguments":{"a":"\ud800"}}}`,
		"a NUL in the text":              "{\"jsonrpc\":\"2.0\",\"id\":7,\x00\"method\":\"tools/call\",\"params\":{\"name\":\"delete_db\"}}",
		"a byte order mark":              "\ufeff" + plainCall,
		"two messages in a line":         `{"jsonrpc":"2.0","id":1,"method":"ping"}` + plainCall,
		"two messages, a CR between":     `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\r" + plainCall,
		"a comment":                      `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_db"}/**/}`,
		"a string":                       `"tools/call"`,
		"text":                           `tools/call delete_db`,
		"a number beyond a double":       `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_db","arguments":{"row":9007199254740993}}}`,
		"a number that is infinite":      `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_db","arguments":{"row":1e999}}}`,
		"a call as a notification's end": `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\r" + plainCall,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &people{deny: true}
			toServer, toClient := guard(t, p, relay.Rules{Allow: []string{"get_*"}}, said+"\n")
			if toServer != "" {
				t.Errorf("the server got %.300s", toServer)
			}
			if len(p.asked) > 0 {
				t.Errorf("people were asked about it: %+v", p.asked)
			}
			var answer struct {
				Version string `json:"jsonrpc"`
				ID      any    `json:"id"`
				Error   *struct {
					Code    int    `json:"code"`
					Message string `json:"message"`
				} `json:"error"`
			}
			if name == "a response to nothing" || name == "a response that is an error" {
				return // the sender expects no response
			}
			if json.Unmarshal([]byte(toClient), &answer) != nil || answer.Error == nil || answer.Error.Code > -32000 || answer.Version != "2.0" || strings.Count(toClient, "\n") != 1 {
				t.Errorf("the client got %q", toClient)
			}
		})
	}
}

// TestUnderstood checks that messages are encoded again, so that the server
// gets only one spelling of the parts that were evaluated.
func TestUnderstood(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ said, toServer string }{
		"an approved call": {
			` { "id" : "\u0061" , "method":"tools\/call","jsonrpc":"2.0", "params":{"arguments":{"b":"\u0041\u2028", "a" : 1.0},"name":"del\u0065te_db"}}`,
			`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"delete_db","arguments":{"b":"A\u2028","a":1.0}}}`,
		},
		"a call of the allow list": {
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_time"}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_time","arguments":{}}}`,
		},
		"metadata that the protocol knows": {
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_time","_meta":{"progressToken":3,"vendor/x":"rm -rf /"}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_time","arguments":{},"_meta":{"progressToken":3}}}`,
		},
		"a list of tools":     {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"\u0061"}}`, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"a"}}`},
		"a ping":              {`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`},
		"a notification":      {`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`},
		"a field of Codex":    {`{"jsonrpc":"2.0","id":1,"method":"ping","trace":1}`, ``},
		"a forbidden tool":    {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"drop_db"}}`, ``},
		"an empty line":       {"\n \n", ``},
		"a line with CR LF":   {`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\r", `{"jsonrpc":"2.0","id":1,"method":"ping"}`},
		"forms are nod's own": {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{"roots":{}}}}`, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{"elicitation":{"form":{},"url":{}},"roots":{}}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &people{}
			got, _ := guard(t, p, relay.Rules{Allow: []string{"get_*"}, Deny: []string{"drop_*"}}, c.said+"\n")
			if want := c.toServer; strings.TrimSuffix(got, "\n") != want {
				t.Errorf("the server got\n%s\nwant\n%s", got, want)
			}
			for _, r := range p.asked {
				if !strings.Contains(c.toServer, `"arguments":`+string(r.Approval.Input)) {
					t.Errorf("people saw %s", r.Approval.Input)
				}
			}
		})
	}
}

// TestTwoOfAnID checks that a second request with the same ID does not replace
// a pending one.
func TestTwoOfAnID(t *testing.T) {
	t.Parallel()
	toServer, toClient := guard(t, &people{}, relay.Rules{Allow: []string{"get_*"}},
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_time"}}`+"\n"+`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"delete_db"}}`+"\n")
	if strings.Contains(toServer, "delete_db") || !strings.Contains(toClient, "-32600") {
		t.Errorf("the server got %s, the client %s", toServer, toClient)
	}
}

// TestForgedMessages checks that neither side can impersonate the other or the
// relay: the client cannot answer a form of the server, and the server cannot
// answer a call that it did not get.
func TestForgedMessages(t *testing.T) {
	t.Parallel()
	near, client := io.Pipe()
	far, server := io.Pipe()
	var toServer, toClient bytes.Buffer
	a, b := relay.NewSide(near, &toClient), relay.NewSide(far, &toServer)
	p := &people{}
	w := relay.NewWrap(relay.WrapOptions{Approver: p, Rules: relay.Rules{Allow: []string{"get_*"}}, Name: "db", Client: a, Server: b, Log: slog.New(slog.DiscardHandler)})
	done := make(chan error, 1)
	go func() {
		done <- (&relay.Relay{Client: a, Server: b, Handler: w, Strict: true}).Run(t.Context(), func() {})
	}()
	for _, s := range []struct {
		from *io.PipeWriter
		line string
	}{
		{server, `{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{"message":"Really?"}}`},
		{client, `{"jsonrpc":"2.0","id":9,"result":{"action":"accept","content":{"forged":true}}}`},
		{server, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"forged"}]}}`},
		{client, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_time"}}`},
		{server, `{"jsonrpc":"2.0","id":1,"result":{"content":[],"content":["forged"]}}`},
		{server, `{"jsonrpc":"2.0","id":1,"result":{"content":["forged"]}}`},
		{server, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"forged"}}`},
		{server, `{"jsonrpc":"2.0","method":"forged"}`},
		{server, `a line of text that is forged`},
	} {
		// The relay reads the empty line after it has handled the first one.
		for _, line := range []string{s.line, ""} {
			if _, err := io.WriteString(s.from, line+"\n"); err != nil {
				t.Fatal(err)
			}
		}
	}
	client.Close()
	server.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	w.Wait()
	if strings.Contains(toServer.String()+toClient.String(), `forged"`) || strings.Contains(toServer.String(), "forged\":true") {
		t.Errorf("the server got\n%s\nthe client\n%s", &toServer, &toClient)
	}
	if !strings.Contains(toClient.String(), `"id":1,"error"`) || !strings.Contains(toServer.String(), `"id":2,"error"`) {
		t.Errorf("the server got\n%s\nthe client\n%s", &toServer, &toClient)
	}
}

// TestRulePatterns checks that an invalid pattern is refused, because it would match nothing.
func TestRulePatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rules relay.Rules
		want  string
	}{
		{relay.Rules{Allow: []string{"get_*", "[a-z]?"}, Deny: []string{"drop_*"}}, ""},
		{relay.Rules{Allow: []string{"get_*", "[a-"}}, `--allow: invalid pattern "[a-"`},
		{relay.Rules{Deny: []string{"drop_[", "*"}}, `--deny: invalid pattern "drop_["`},
	} {
		if err := c.rules.Check(); (err == nil) != (c.want == "") || err != nil && (bridge.ErrorCode(err) != bridge.CodeInvalid || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.rules, err, c.want)
		}
	}
}
