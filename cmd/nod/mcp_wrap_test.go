package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

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
				ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
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
			if got := meanwhile("set_text", func(a rig.Asked) { sub.Edit("ana", a.On("slack"), `{"text":"y"}`) }); got.bad || got.text != "set_text y" {
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

// TestMCPWrapGrants checks that an approval for the session covers a guarded
// server only as it was started then: not with other arguments, and not with
// another environment.
func TestMCPWrapGrants(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	call := func(env string, args ...string) {
		t.Helper()
		cmd := exec.Command(rig.Binary(t), slices.Concat([]string{"mcp", "--wrap", "--session", "folder", "--", os.Args[0]}, args)...)
		cmd.Env = append(cmd.Environ(), "NOD_URL="+r.Daemons[0].URL, "NOD_TOKEN="+rig.TestAgentToken, wrappedEnv+"=1", "DB="+env)
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
		s, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "set_text", Arguments: map[string]any{"text": "x"}})
		if err != nil || res.IsError {
			t.Fatal(err, res)
		}
	}
	asked := 0
	for _, x := range []struct {
		name, env string
		args      []string
		asks      bool
	}{
		{"the first", "staging", nil, true},
		{"the same", "staging", nil, false},
		{"other arguments", "staging", []string{"--", "production"}, true},
		{"other arguments again", "staging", []string{"--", "production"}, false},
		{"another environment", "production", nil, true},
		{"the first again", "staging", nil, false},
	} {
		done := make(chan struct{})
		go func() { defer close(done); call(x.env, x.args...) }()
		if x.asks {
			rec := pendingPrompt(r, "Use **set_text** of the MCP server `nod.test`")
			if where := rec.Interaction.Approval.Where; !strings.Contains(where, strings.Join(x.args, " ")+" (environment ") {
				t.Errorf("%s: the card shows %q", x.name, where)
			}
			if _, err := r.Person.Respond(r.Ctx, rec.Interaction.ID, bridge.Reply{Decision: bridge.DecideSession}); err != nil {
				t.Fatal(err)
			}
		}
		await.Receive(t, x.name+" runs", done)
		page, err := r.Agent.List(r.Ctx, bridge.ListFilter{})
		if err != nil {
			t.Fatal(err)
		}
		now := 0
		for _, rec := range page.Items {
			if rec.Response.Grant == "" {
				now++
			}
		}
		if (now > asked) != x.asks {
			t.Errorf("%s: asked %d times, before %d", x.name, now, asked)
		}
		asked = now
	}
}

// TestServerName checks that servers that are started with different commands
// have different names.
func TestServerName(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	long := strings.Repeat("x", 2*maxServer)
	for _, x := range []struct{ args, env []string }{
		{[]string{"npx", "db"}, nil}, {[]string{"npx db"}, nil}, {[]string{"npx", "db", ""}, nil}, {[]string{"npx", "\"db\""}, nil}, {[]string{"npx", "d\nb"}, nil},
		{[]string{"npx", "\u202edb"}, nil}, {[]string{"npx", long + "a"}, nil}, {[]string{"npx", long + "b"}, nil},
		{[]string{"npx", "db"}, []string{"A=1"}}, {[]string{"npx", "db"}, []string{"A=1", "B=2"}}, {[]string{"npx", "db"}, []string{"A=1B=2"}},
	} {
		name := serverName(x.args, x.env)
		if other, known := seen[name]; known {
			t.Errorf("%q and %q are both %q", x, other, name)
		}
		seen[name] = fmt.Sprint(x)
		if err := bridge.CheckText("where", name, bridge.MaxText); err != nil {
			t.Error(err)
		}
	}
	if a, b := serverName([]string{"s"}, []string{"A=1", "B=2"}), serverName([]string{"s"}, []string{"B=2", "A=1"}); a != b {
		t.Errorf("the order of the environment changes %q to %q", a, b)
	}
}
