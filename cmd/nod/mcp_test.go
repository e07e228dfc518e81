package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
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
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), tr, nil)
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
	ctx, cancel := context.WithTimeout(ctx, 4*await.Limit)
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
				sub.Edit("ana", a.On("slack"), `{"command":"git push --dry-run"}`)
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
			if err != nil || shown.Status != "shown" || !strings.Contains(rig.Chat(&sub, sub.Sandbox.Chats("telegram")[0].ID), "It is done on "+name) {
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

// TestMCPReattach checks that --hold limits a call without progress support,
// and that a new process finds the request of the one before it. Package mcp
// checks the protocol versions and the HTTP transport.
func TestMCPReattach(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	const session = "again-stdio"
	start := mcpTransports(t, r, "again-", "--hold", "300ms")["stdio"]
	patient := mcpTransports(t, r, "again-")["stdio"]
	ask := func(start func() mcp.Transport) mcpAnswer {
		t.Helper()
		s := mcpConnect(t, start(), nil)
		defer s.Close()
		options := []any{map[string]any{"value": "yes"}}
		got, err := mcpCall(t.Context(), t, s, "ask_human", map[string]any{"question": "Still there?", "options": options}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := ask(start)
	a := r.Card(session)
	if first.Status != "pending" || first.ID != string(a.Interaction.ID) {
		t.Fatalf("the first call returns %+v, want pending and the ID %s", first, a.Interaction.ID)
	}
	if again := ask(start); again.Status != "pending" || again.ID != first.ID {
		t.Errorf("the second process gets %+v, want pending and the ID %s", again, first.ID)
	}
	r.Press("ana", a.On("telegram"), "yes")
	if got := ask(patient); got.Answer != "yes" || got.ID != first.ID {
		t.Errorf("after the response, a process gets %+v, want yes", got)
	}
	if next := ask(start); next.ID == first.ID {
		t.Error("the old answer was used for a new question")
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
