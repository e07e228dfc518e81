package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/rig"
)

// bearer adds the agent's token to requests.
type bearer struct{}

func (bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+rig.TestAgentToken)
	return http.DefaultTransport.RoundTrip(r)
}

// mcpTransports returns both transports to nod's tools.
func mcpTransports(t *testing.T, r *rig.Rig, session string, args ...string) map[string]func() mcp.Transport {
	return map[string]func() mcp.Transport{
		"http": func() mcp.Transport {
			return &mcp.StreamableClientTransport{Endpoint: r.Daemons[0].URL + "/mcp?session=" + session + "http", HTTPClient: &http.Client{Transport: bearer{}}, MaxRetries: -1}
		},
		"stdio": func() mcp.Transport {
			cmd := exec.Command(rig.Binary(t), append([]string{"mcp", "--session", session + "stdio"}, args...)...)
			cmd.Env = append(cmd.Environ(), "NOD_URL="+r.Daemons[0].URL, "NOD_TOKEN="+rig.TestAgentToken)
			return &mcp.CommandTransport{Command: cmd}
		},
	}
}

func mcpConnect(t *testing.T, tr mcp.Transport, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	return mcpConnectAs(t, tr, o, "")
}

// mcpConnectAs connects with a protocol version. If empty, it uses the newest.
func mcpConnectAs(t *testing.T, tr mcp.Transport, o *mcp.ClientOptions, version string) *mcp.ClientSession {
	t.Helper()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), tr, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // some tests close it themselves
	return s
}

type mcpAnswer struct {
	Status, ID, Reason, By string
	Answer                 any
	Input                  json.RawMessage
}

func mcpCall(ctx context.Context, t *testing.T, s *mcp.ClientSession, tool string, args map[string]any, meta mcp.Meta) (mcpAnswer, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 4*rig.Patience)
	defer cancel()
	res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args, Meta: meta})
	if err != nil {
		return mcpAnswer{}, err
	}
	body := res.Content[0].(*mcp.TextContent).Text
	var a mcpAnswer
	if res.IsError {
		return a, fmt.Errorf("%s", body)
	}
	if err := json.Unmarshal([]byte(body), &a); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return a, nil
}

// TestMCP checks that a real MCP client gets answers through both transports.
func TestMCP(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack", "telegram")})
	for name, transport := range mcpTransports(t, r, "mcp-") {
		t.Run(name, func(t *testing.T) { // not parallel: a person has only one open modal
			sub := *r
			sub.T = t
			var told atomic.Int32
			s := mcpConnect(t, transport(), &mcp.ClientOptions{ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { told.Add(1) }})
			answer := func(tool string, args map[string]any, act func(a rig.Asked)) mcpAnswer {
				t.Helper()
				type end struct {
					a   mcpAnswer
					err error
				}
				done := make(chan end, 1)
				go func() {
					a, err := mcpCall(t.Context(), t, s, tool, args, mcp.Meta{"progressToken": tool})
					done <- end{a, err}
				}()
				act(sub.Card("mcp-" + name))
				e := <-done
				if e.err != nil {
					t.Fatal(e.err)
				}
				return e.a
			}
			got := answer("ask_human", map[string]any{"question": "Which region?", "options": []any{map[string]any{"value": "eu", "description": "near"}, map[string]any{"value": "us"}}}, func(a rig.Asked) { sub.Press("ana", a.On("slack"), "eu") })
			if got.Status != "answered" || got.Answer != "eu" || got.By != "ana" {
				t.Errorf("ask_human: %+v", got)
			}
			got = answer("ask_human", map[string]any{"question": "Which ones?", "multiple": true, "options": []any{map[string]any{"value": "a"}, map[string]any{"value": "b"}}}, func(a rig.Asked) {
				sub.Choose("ana", a.On("telegram"), bridge.WidgetCheckbox, "a", "b")
			})
			if fmt.Sprint(got.Answer) != "[a b]" {
				t.Errorf("ask_human: %+v", got)
			}
			got = answer("request_approval", map[string]any{"action": "Push it", "command": "git push"}, func(a rig.Asked) {
				if !strings.Contains(a.Text("slack"), "git push") {
					t.Errorf("the card does not show the command: %s", a.Text("slack"))
				}
				sub.Typed("ana", a.On("slack"), "Edit", `{"command":"git push --dry-run"}`)
			})
			if got.Status != "approved" || string(got.Input) != `{"command":"git push --dry-run"}` {
				t.Errorf("request_approval: %+v", got)
			}
			got = answer("request_approval", map[string]any{"action": "Drop it"}, func(a rig.Asked) { sub.Typed("ana", a.On("slack"), "Deny with a reason", "no") })
			if got.Status != "denied" || got.Reason != "no" {
				t.Errorf("request_approval: %+v", got)
			}
			if told.Load() < 4 {
				t.Errorf("%d progress notifications", told.Load())
			}
			shown, err := mcpCall(t.Context(), t, s, "notify", map[string]any{"message": "It is **done** on " + name}, nil)
			if err != nil || shown.Status != "shown" || !strings.Contains(rig.Chat(&sub, sub.Sandbox.State().Telegram.Chats[0].ID), "It is done on "+name) {
				t.Errorf("notify: %+v, %v", shown, err)
			}
			for _, bad := range []map[string]any{{"question": " "}, {"question": "?", "timeout": "soon"}} {
				if _, err := mcpCall(t.Context(), t, s, "ask_human", bad, nil); err == nil || !strings.Contains(err.Error(), "invalid") {
					t.Errorf("%v: %v", bad, err)
				}
			}
			if _, err := mcpCall(t.Context(), t, s, "check", map[string]any{"id": "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03"}, nil); err == nil || !strings.Contains(err.Error(), "not_found") {
				t.Errorf("check without an ID: %v", err)
			}
		})
	}
}

// TestMCPReattach checks that a client that gives up and returns finds its
// request again, even if it was answered in the meantime, and that an answer is
// delivered only once.
func TestMCPReattach(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	for name, transport := range mcpTransports(t, r, "again-") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub := *r
			sub.T = t
			args := map[string]any{"question": "Still there?", "options": []any{map[string]any{"value": "yes"}}}
			ask := func() {
				s := mcpConnect(t, transport(), nil)
				ctx, hangUp := context.WithCancel(t.Context())
				gone := make(chan struct{})
				go func() {
					defer close(gone)
					_, _ = mcpCall(ctx, t, s, "ask_human", args, nil) // cancelled by the test
				}()
				sub.Card("again-" + name)
				hangUp()
				<-gone
				_ = s.Close() // its call was cancelled
			}
			ask()
			first := sub.Card("again-" + name)
			ask()
			again := sub.Card("again-" + name)
			if again.Interaction.ID != first.Interaction.ID {
				t.Fatal("asked twice")
			}
			sub.Press("ana", again.On("telegram"), "yes")
			s := mcpConnect(t, transport(), nil)
			got, err := mcpCall(t.Context(), t, s, "ask_human", args, nil)
			if err != nil || got.Answer != "yes" || got.ID != string(first.Interaction.ID) {
				t.Errorf("answer: %+v, %v", got, err)
			}
			// The same arguments now create a new question.
			done := make(chan mcpAnswer, 1)
			go func() {
				a, err := mcpCall(t.Context(), t, s, "ask_human", args, nil)
				if err != nil {
					t.Error(err)
				}
				done <- a
			}()
			next := sub.Card("again-" + name)
			if next.Interaction.ID == first.Interaction.ID {
				t.Error("the old answer was used for the new question")
			}
			sub.Press("ana", next.On("telegram"), "yes")
			<-done
		})
	}
}

// TestMCPHold checks that a client without progress support is told to check
// later. A client of the newer protocol version first retries on its own.
func TestMCPHold(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	for version, holds := range map[string]int{"2025-11-25": 1, "2026-07-28": 3} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			sub := *r
			sub.T = t
			const hold = 300 * time.Millisecond
			session := "hold-" + version + "-"
			s := mcpConnectAs(t, mcpTransports(t, r, session, "--hold", hold.String())["stdio"](), nil, version)
			args := map[string]any{"question": "Anybody?", "options": []any{map[string]any{"value": "me"}}}
			began := time.Now()
			got, err := mcpCall(t.Context(), t, s, "ask_human", args, nil)
			if err != nil || got.Status != "pending" || got.ID == "" {
				t.Fatalf("%+v, %v", got, err)
			}
			if d := time.Since(began); d < time.Duration(holds)*hold {
				t.Errorf("the call took %s, want %d times %s", d, holds, hold)
			}
			a := sub.Card(session + "stdio")
			if string(a.Interaction.ID) != got.ID {
				t.Errorf("asked more than once: %s and %s", got.ID, a.Interaction.ID)
			}
			if got, err = mcpCall(t.Context(), t, s, "check", map[string]any{"id": got.ID}, nil); err != nil || got.Status != "pending" {
				t.Errorf("%+v, %v", got, err)
			}
			sub.Press("ana", a.On("telegram"), "me")
			id := got.ID
			sub.Eventually("the answer is there", func() bool { // a check ends with its hold
				got, err = mcpCall(t.Context(), t, s, "check", map[string]any{"id": id}, nil)
				return err != nil || got.Status != "pending"
			})
			if err != nil || got.Answer != "me" {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// TestMCPClaude checks the permission-prompt tool and the relay of dialogs.
func TestMCPClaude(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	cmd := exec.Command(rig.Binary(t), "mcp", "--claude", "--session", "channel")
	cmd.Env = append(cmd.Environ(), "NOD_URL="+r.Daemons[0].URL, "NOD_TOKEN="+rig.TestAgentToken)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	say := func(s string) { fmt.Fprintln(in, s) }
	hear := func() string {
		if !lines.Scan() {
			t.Fatal("no more output")
		}
		return lines.Text()
	}
	say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude","version":"1"}}}`)
	if got := hear(); !strings.Contains(got, `"claude/channel":{}`) || !strings.Contains(got, `"claude/channel/permission":{}`) {
		t.Errorf("no channel: %s", got)
	}
	say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	say(`{"jsonrpc":"2.0","method":"notifications/claude/channel/permission_request","params":{"request_id":"tbxkq","tool_name":"Bash","description":"Run it","input_preview":"{\"command\": \"make\"}"}}`)
	a := r.Card("channel")
	r.Press("ana", a.On("telegram"), "Deny")
	if got := hear(); got != `{"jsonrpc":"2.0","method":"notifications/claude/channel/permission","params":{"request_id":"tbxkq","behavior":"deny"}}` {
		t.Errorf("output: %s", got)
	}
	say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"permission_prompt","arguments":{"tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t9"}}}`)
	a = r.Card("channel")
	r.Approve("ana", a.On("telegram"))
	var answer struct {
		Result mcp.CallToolResult `json:"result"`
	}
	if err := json.Unmarshal([]byte(hear()), &answer); err != nil {
		t.Fatal(err)
	}
	if got := answer.Result.Content[0].(*mcp.TextContent).Text; got != `{"behavior":"allow","updatedInput":{"command":"ls"}}` {
		t.Errorf("output of the prompt tool: %s", got)
	}
}

// wrappedEnv turns this test binary into an MCP server.
const wrappedEnv = "NOD_TEST_MCP_SERVER"

// serveWrapped runs the server that nod guards in TestMCPWrap.
func serveWrapped() {
	s := mcp.NewServer(&mcp.Implementation{Name: "wrapped", Version: "1"}, nil)
	type in struct {
		Text string `json:"text"`
	}
	for _, name := range []string{"get_text", "set_text", "drop_text"} {
		mcp.AddTool(s, &mcp.Tool{Name: name}, func(_ context.Context, _ *mcp.CallToolRequest, a in) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: name + " " + a.Text}}}, nil, nil
		})
	}
	mcp.AddTool(s, &mcp.Tool{Name: "get_name"}, func(ctx context.Context, req *mcp.CallToolRequest, _ in) (*mcp.CallToolResult, any, error) {
		form := &mcp.ElicitParams{Mode: "form", Message: "Who are you?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}, "required": []string{"name"}}}
		if p := req.Session.InitializeParams(); p == nil || p.ProtocolVersion >= "2026" {
			if got := req.Params.InputResponses["who"]; got != nil && req.Params.RequestState == "opaque" {
				b, err := json.Marshal(got)
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(b)}}}, nil, err
			}
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"who": form}, RequestState: "opaque"}, nil, nil
		}
		got, err := req.Session.Elicit(ctx, form)
		if err != nil {
			return nil, nil, err
		}
		b, err := json.Marshal(got)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(b)}}}, nil, err
	})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil && !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, err)
	}
}

// TestMCPWrap checks that calls of a guarded server run by rule or after an
// approval, and that its forms are filled in in chat, in both protocol
// versions.
func TestMCPWrap(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) { // not parallel: a person has only one open modal
			sub := *r
			sub.T = t
			session := "wrap-" + version
			cmd := exec.Command(rig.Binary(t), "mcp", "--wrap", "--session", session, "--name", "texts", "--allow", "get_*", "--deny", "drop_*", "--", os.Args[0])
			cmd.Env = append(cmd.Environ(), "NOD_URL="+r.Daemons[0].URL, "NOD_TOKEN="+rig.TestAgentToken, wrappedEnv+"=1")
			client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
			s, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() }) // the exit of the child is not under test
			tool := func(name string) (string, bool) {
				t.Helper()
				ctx, cancel := context.WithTimeout(t.Context(), rig.Patience)
				defer cancel()
				res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: map[string]any{"text": "x"}})
				if err != nil {
					t.Error(err)
					return "", true
				}
				return res.Content[0].(*mcp.TextContent).Text, res.IsError
			}
			if got, bad := tool("get_text"); bad || got != "get_text x" {
				t.Errorf("an allowed tool: %s", got)
			}
			if got, bad := tool("drop_text"); !bad || !strings.Contains(got, "not allowed") {
				t.Errorf("a denied tool: %s", got)
			}
			type end struct {
				text string
				bad  bool
			}
			meanwhile := func(name string, act func(a rig.Asked)) end {
				done := make(chan end, 1)
				go func() { text, bad := tool(name); done <- end{text, bad} }()
				act(sub.Card(session))
				return <-done
			}
			if got := meanwhile("set_text", func(a rig.Asked) {
				if !strings.Contains(a.Text("slack"), "texts/set_text") {
					t.Errorf("card: %s", a.Text("slack"))
				}
				sub.Approve("ana", a.On("slack"))
			}); got.bad || got.text != "set_text x" {
				t.Errorf("an approved tool: %+v", got)
			}
			if got := meanwhile("set_text", func(a rig.Asked) { sub.Typed("ana", a.On("slack"), "Edit", `{"text":"y"}`) }); got.bad || got.text != "set_text y" {
				t.Errorf("an edited call: %+v", got)
			}
			if got := meanwhile("set_text", func(a rig.Asked) { sub.Typed("ana", a.On("slack"), "Deny with a reason", "not this one") }); !got.bad || !strings.Contains(got.text, "not this one") {
				t.Errorf("a denied call: %+v", got)
			}
			if got := meanwhile("get_name", func(a rig.Asked) { sub.Typed("ana", a.On("slack"), "Answer", "Ana") }); got.bad || !strings.Contains(got.text, `"Ana"`) || !strings.Contains(got.text, `"accept"`) {
				t.Errorf("a form: %+v", got)
			}
		})
	}
}

// TestProxy checks that the first answer counts, from the client or from chat,
// and that the prompt closes in the other place.
func TestProxy(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	const request = `{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":%q,"toolCall":{"toolCallId":"call_%d"},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}`
	const update = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"x","update":{"sessionUpdate":"tool_call","toolCallId":"call_%d","title":"Edit a.go","kind":"edit","rawInput":{"file_path":"a.go"}}}}`
	start := func(t *testing.T, args ...string) (*bufio.Scanner, io.Writer, *os.File, *bufio.Scanner) {
		t.Helper()
		// The agent consists of two pipes: one for its output and one for its
		// input.
		dir := t.TempDir()
		for _, f := range []string{"say", "hear"} {
			if out, err := exec.Command("mkfifo", dir+"/"+f).CombinedOutput(); err != nil {
				t.Fatal(string(out))
			}
		}
		cmd := exec.Command(rig.Binary(t), append(append([]string{"proxy"}, args...), "--", "sh", "-c", "cat "+dir+"/say & exec cat > "+dir+"/hear")...)
		cmd.Env = append(cmd.Environ(), "NOD_URL="+r.Daemons[0].URL, "NOD_TOKEN="+rig.TestAgentToken)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		say, err := os.OpenFile(dir+"/say", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		hear, err := os.OpenFile(dir+"/hear", os.O_RDONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = say.Close(); _ = in.Close(); _ = cmd.Wait(); _ = hear.Close() })
		return bufio.NewScanner(out), in, say, bufio.NewScanner(hear)
	}
	line := func(t *testing.T, s *bufio.Scanner) string {
		t.Helper()
		if !s.Scan() {
			t.Fatal("no more output")
		}
		return s.Text()
	}
	t.Run("chat answers first", func(t *testing.T) {
		t.Parallel()
		sub := *r
		sub.T = t
		client, toProxy, agent, agentHears := start(t, "acp")
		fmt.Fprintf(toProxy, "%s\n", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`)
		if got := line(t, agentHears); !strings.Contains(got, "initialize") {
			t.Errorf("the agent hears %s", got)
		}
		fmt.Fprintf(agent, update+"\n"+request+"\n", 1, 5, "chat", 1)
		line(t, client) // the update
		if got := line(t, client); !strings.Contains(got, "request_permission") {
			t.Errorf("the client sees %s", got)
		}
		a := sub.Card("chat")
		if !strings.Contains(a.Text("telegram"), "Edit a.go") {
			t.Errorf("card: %s", a.Text("telegram"))
		}
		sub.Approve("ana", a.On("telegram"))
		if got := line(t, agentHears); got != `{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}` {
			t.Errorf("the agent hears %s", got)
		}
		if got := line(t, client); got != `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}` {
			t.Errorf("the client sees %s", got)
		}
		fmt.Fprintln(toProxy, `{"jsonrpc":"2.0","id":5,"error":{"code":-32800,"message":"cancelled"}}`)
		fmt.Fprintln(toProxy, `{"jsonrpc":"2.0","id":9,"method":"session/prompt","params":{}}`)
		if got := line(t, agentHears); !strings.Contains(got, "session/prompt") {
			t.Errorf("a late answer passed: %s", got)
		}
	})
	t.Run("the client answers first", func(t *testing.T) {
		t.Parallel()
		sub := *r
		sub.T = t
		client, toProxy, agent, agentHears := start(t, "acp")
		fmt.Fprintf(agent, request+"\n", 6, "client", 2)
		line(t, client)
		a := sub.Card("client")
		fmt.Fprintln(toProxy, `{"jsonrpc":"2.0","id":6,"result":{"outcome":{"outcome":"selected","optionId":"no"}}}`)
		if got := line(t, agentHears); !strings.Contains(got, `"no"`) {
			t.Errorf("the agent hears %s", got)
		}
		a.Closed("answered at the terminal")
	})
	t.Run("only in chat, codex", func(t *testing.T) {
		t.Parallel()
		sub := *r
		sub.T = t
		client, _, agent, agentHears := start(t, "codex", "--only-chat")
		fmt.Fprintln(agent, `{"method":"item/started","params":{"item":{"type":"fileChange","id":"call_9","changes":[{"path":"a.go","diff":"-a\n+b"}]}}}`)
		fmt.Fprintln(agent, `{"method":"item/fileChange/requestApproval","id":60,"params":{"threadId":"codex-thread","turnId":"t","itemId":"call_9","startedAtMs":1}}`)
		a := sub.Card("codex-thread")
		if !strings.Contains(a.Text("telegram"), "a.go") {
			t.Errorf("the card does not show the change: %s", a.Text("telegram"))
		}
		sub.Press("ana", a.On("telegram"), "Deny and stop")
		if got := line(t, agentHears); got != `{"id":60,"result":{"decision":"cancel"}}` {
			t.Errorf("the agent hears %s", got)
		}
		fmt.Fprintln(agent, `{"method":"item/tool/requestUserInput","id":61,"params":{"threadId":"codex-thread","questions":[{"id":"k","question":"Key?","isSecret":true}]}}`)
		line(t, client) // item/started
		if got := line(t, client); !strings.Contains(got, "requestUserInput") {
			t.Errorf("a prompt that chat does not support is not shown in the client: %s", got)
		}
	})
}
