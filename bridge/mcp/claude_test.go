package mcp_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/mcp"
)

// TestPermissionPrompt checks that the tool for --permission-prompt-tool
// responds in Claude Code's own format.
func TestPermissionPrompt(t *testing.T) {
	t.Parallel()
	p := newPeople()
	s := connect(t, mcp.Options{Asker: p, Session: "s", Route: "r", Claude: true}, "", nil)
	for _, x := range []struct {
		response bridge.Response
		want     string
	}{
		{by("ana", bridge.StateApproved), `{"behavior":"allow","updatedInput":{"command":"ls"}}`},
		{by("ana", bridge.StateDenied), `{"behavior":"deny","message":"Denied by ana."}`},
	} {
		done := make(chan string, 1)
		go func() {
			res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "permission_prompt",
				Arguments: json.RawMessage(`{"tool_name":"Bash","input":{"command":"ls"}}`)})
			if err != nil {
				done <- err.Error()
				return
			}
			done <- res.Content[0].(*sdk.TextContent).Text
		}()
		rec := <-p.asked
		if i := rec.Interaction; i.Approval.Tool != "Bash" || string(i.Approval.Input) != `{"command":"ls"}` || i.Session != "s" || i.Route != "r" {
			t.Errorf("it asks %+v", i)
		}
		p.respond(rec.Interaction.ID, x.response)
		if got := <-done; got != x.want {
			t.Errorf("it responds with %s, want %s", got, x.want)
		}
	}
}

// wire is the client's end of a channel, which sends and receives single
// messages.
type wire struct {
	t *testing.T
	sdk.Connection
	left <-chan string // dialogs that are left to the terminal
}

// lines is an io.Writer for a log that sends each line to the channel.
type lines chan string

func (l lines) Write(b []byte) (int, error) {
	l <- string(b)
	return len(b), nil
}

// newWire connects a client to a server behind a channel.
func newWire(t *testing.T, p *people) wire {
	t.Helper()
	near, far := sdk.NewInMemoryTransports()
	left := make(chan string, 8)
	o := mcp.Options{Asker: p, Session: "s", Claude: true, Log: slog.New(slog.NewTextHandler(lines(left), nil))}
	served := make(chan error, 1)
	go func() { served <- mcp.Serve(context.WithoutCancel(t.Context()), far, o) }()
	conn, err := near.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Log(err)
		}
	})
	return wire{t, conn, left}
}

func (w wire) say(method, params string, id any) {
	w.t.Helper()
	r := &jsonrpc.Request{Method: method, Params: json.RawMessage(params)}
	if id != nil {
		var err error
		if r.ID, err = jsonrpc.MakeID(id); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := w.Write(w.t.Context(), r); err != nil {
		w.t.Fatal(err)
	}
}

func (w wire) hear() string {
	w.t.Helper()
	m, err := w.Read(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

const relayed = "notifications/claude/channel/permission_request"

// TestChannel checks that a permission dialog of Claude Code is relayed to
// people and answered with their decision, alongside tool calls.
func TestChannel(t *testing.T) {
	t.Parallel()
	p := newPeople()
	w := newWire(t, p)
	w.say("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude","version":"1"}}`, 1.0)
	if got := w.hear(); !strings.Contains(got, `"claude/channel":{}`) || !strings.Contains(got, `"claude/channel/permission":{}`) {
		t.Errorf("the server offers no channel: %s", got)
	}
	w.say("notifications/initialized", `{}`, nil)
	for behavior, state := range map[string]bridge.State{"allow": bridge.StateApproved, "deny": bridge.StateDenied} {
		w.say(relayed, `{"request_id":"tbxkq","tool_name":"Bash","description":"Run it","input_preview":"{\"command\":\"make\"}"}`, nil)
		rec := <-p.asked
		if a := rec.Interaction.Approval; a.Tool != "Bash" || string(a.Input) != `{"command":"make"}` {
			t.Errorf("it asks %+v", rec.Interaction)
		}
		p.respond(rec.Interaction.ID, by("ana", state))
		if got, want := w.hear(), `"params":{"request_id":"tbxkq","behavior":"`+behavior+`"}`; !strings.Contains(got, want) {
			t.Errorf("it says %s, want %s", got, want)
		}
	}
}

// TestChannelStaysSilent checks that nod does not answer a dialog that it
// cannot show in full or that no one decided, so that the terminal decides.
func TestChannelStaysSilent(t *testing.T) {
	t.Parallel()
	p := newPeople()
	w := newWire(t, p)
	for _, params := range []string{
		`{"request_id":"tbxkq","tool_name":"Bash","tool_name":"Read","input_preview":"{}"}`,
		`{"request_id":"x","tool_name":"Bash","input_preview":"{}"}`, `{"request_id":"tbxkq","tool_name":"Bash","input_preview":"{\"a\":\"b…"}`,
	} {
		w.say(relayed, params, nil)
		<-w.left
	}
	w.say(relayed, `{"request_id":"tbxkq","tool_name":"Bash","input_preview":"{}"}`, nil)
	rec := <-p.asked
	p.respond(rec.Interaction.ID, bridge.Response{State: bridge.StateExpired})
	if got := <-w.left; !strings.Contains(got, "Bash") {
		t.Errorf("the log says %s", got)
	}
	w.say("ping", `{}`, 7.0)
	if got := w.hear(); !strings.Contains(got, `"id":7`) {
		t.Errorf("it says %s", got)
	}
	if len(p.asked) > 0 {
		t.Errorf("people were asked %+v", <-p.asked)
	}
}
