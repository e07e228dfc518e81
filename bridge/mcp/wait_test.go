package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/mcp"
	"github.com/nodbridge/nod/platforms/platformtest/await"
)

const question = `{"question":"Still there?","options":[{"value":"yes"}]}`

func yes() bridge.Response {
	r := by("ana", bridge.StateAnswered)
	r.Answers = map[string]bridge.Answer{"answer": bridge.TextAnswer("yes")}
	return r
}

// TestReattach checks that a client that reconnects finds its request again,
// even one that was answered in the meantime, and that an answer that it has
// received does not answer a new question.
func TestReattach(t *testing.T) {
	t.Parallel()
	p := newPeople()
	s := connect(t, mcp.Options{Asker: p, Session: "s"}, "", nil)
	patience, pass := await.Deadline(t.Context())
	done := begin(patience, t, s, "ask_human", question)
	first := await.Receive(t, "the request", p.asked)
	pass()
	await.Receive(t, "the end of the call", done)
	await.Receive(t, "the end of the wait", p.left)
	p.respond(first.Interaction.ID, yes())
	if got := await.Receive(t, "the answer", begin(t.Context(), t, s, "ask_human", question)); got.ID != string(first.Interaction.ID) || got.Answer != "yes" {
		t.Errorf("after a reconnect: %+v", got)
	}
	done = begin(t.Context(), t, s, "ask_human", question)
	next := await.Receive(t, "the next request", p.asked)
	if next.Interaction.ID == first.Interaction.ID {
		t.Error("an old answer is returned for a new question")
	}
	p.respond(next.Interaction.ID, yes())
	await.Receive(t, "the end of the call", done)
	other := connect(t, mcp.Options{Asker: p, Session: "other"}, "", nil)
	done = begin(t.Context(), t, other, "ask_human", question)
	if rec := await.Receive(t, "the other request", p.asked); rec.Interaction.Session != "other" {
		t.Errorf("another session joins %+v", rec.Interaction)
	} else {
		p.respond(rec.Interaction.ID, yes())
	}
	await.Receive(t, "the end of the call", done)
}

// TestHold checks that a client without progress support is told to check
// later, and that a client of protocol version 2026-07-28 first retries on its
// own.
func TestHold(t *testing.T) {
	t.Parallel()
	const hold = 30 * time.Millisecond
	for version, holds := range map[string]time.Duration{"2025-11-25": 1, "2026-07-28": 3} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			p := newPeople()
			s := connect(t, mcp.Options{Asker: p, Session: "s", Hold: hold}, version, nil)
			began := time.Now()
			got := <-begin(t.Context(), t, s, "ask_human", question)
			took := time.Since(began)
			if got.Status != "pending" || got.ID == "" || took < holds*hold {
				t.Fatalf("after %s: %+v", took, got)
			}
			if rec := <-p.asked; string(rec.Interaction.ID) != got.ID || len(p.asked) > 0 {
				t.Errorf("people were asked more than once")
			}
			check := `{"id":"` + got.ID + `"}`
			if again := <-begin(t.Context(), t, s, "check", check); again.Status != "pending" {
				t.Errorf("%+v", again)
			}
			p.respond(bridge.ID(got.ID), yes())
			if last := <-begin(t.Context(), t, s, "check", check); last.Answer != "yes" {
				t.Errorf("%+v", last)
			}
		})
	}
}

// TestForeignState checks that a retry is rejected unless its state belongs to
// the same call.
func TestForeignState(t *testing.T) {
	t.Parallel()
	p := newPeople()
	s := connect(t, mcp.Options{Asker: p, Session: "s", Hold: time.Millisecond}, "2026-07-28", nil)
	const id = "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03"
	for _, state := range []string{"x", "x.y.1", id + ".0011223344556677.1", id + ".0011223344556677", id + ".0011223344556677.x"} {
		got := call(t.Context(), t, s, &sdk.CallToolParams{Name: "ask_human", Arguments: json.RawMessage(question), RequestState: state})
		if !strings.Contains(got.failure, "requestState") {
			t.Errorf("%s: %+v", state, got)
		}
	}
	if len(p.asked) > 0 {
		t.Error("people were asked")
	}
}

// TestProgress checks that a client with progress support gets a notification
// immediately and waits for the answer.
func TestProgress(t *testing.T) {
	t.Parallel()
	p, told := newPeople(), make(chan *sdk.ProgressNotificationParams, 8)
	s := connect(t, mcp.Options{Asker: p, Session: "s", Hold: time.Nanosecond}, "", &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { told <- r.Params }})
	done := make(chan answer, 1)
	go func() {
		done <- call(t.Context(), t, s, &sdk.CallToolParams{Name: "ask_human", Arguments: json.RawMessage(question), Meta: sdk.Meta{"progressToken": "t"}})
	}()
	rec := <-p.asked
	if got := <-told; got.ProgressToken != "t" || got.Message == "" {
		t.Errorf("it hears %+v", got)
	}
	p.respond(rec.Interaction.ID, yes())
	if got := <-done; got.Answer != "yes" {
		t.Errorf("%+v", got)
	}
}

// TestHTTP checks the tools over streamable HTTP, including a caller without
// access and one that disconnects.
func TestHTTP(t *testing.T) {
	t.Parallel()
	p := newPeople()
	server := httptest.NewServer(new(mcp.HTTP).Handler(func(r *http.Request) (mcp.Options, bool) {
		return mcp.Options{Asker: p, Session: r.URL.Query().Get("session")}, r.URL.Query().Get("session") != ""
	}))
	t.Cleanup(server.Close)
	dial := func(path string) (*sdk.ClientSession, error) {
		return sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
			&sdk.StreamableClientTransport{Endpoint: server.URL + path, MaxRetries: -1}, nil)
	}
	if s, err := dial("/"); err == nil {
		s.Close()
		t.Error("a caller without access is connected")
	}
	s, err := dial("/?session=web")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, hangUp := context.WithCancel(t.Context())
	gone := begin(ctx, t, s, "ask_human", question)
	rec := <-p.asked
	hangUp()
	if got := <-gone; got.failure == "" {
		t.Errorf("a caller that disconnected gets %+v", got)
	}
	<-p.left
	done := begin(t.Context(), t, s, "ask_human", question)
	p.respond(rec.Interaction.ID, yes())
	if got := <-done; got.Answer != "yes" || rec.Interaction.Session != "web" {
		t.Errorf("%+v of %+v", got, rec.Interaction)
	}
}

// TestCancelledOverHTTP checks that a notification ends the call that it names,
// and withdraws its request unless the client only waited too long.
func TestCancelledOverHTTP(t *testing.T) {
	t.Parallel()
	for reason, withdrawn := range map[string]bool{"": true, "the user stopped it": true, "McpError: MCP error -32001: Request timed out": false} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			p := newPeople()
			server := httptest.NewServer(new(mcp.HTTP).Handler(func(*http.Request) (mcp.Options, bool) { return mcp.Options{Asker: p, Session: "web"}, true }))
			t.Cleanup(server.Close)
			post := func(body string) string {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(body))
				if err != nil {
					t.Error(err)
					return ""
				}
				req.Header = http.Header{"Authorization": {reason}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2025-11-25"}}
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Error(err)
					return ""
				}
				defer resp.Body.Close()
				raw, _ := io.ReadAll(resp.Body) // checked by its caller
				return string(raw)
			}
			done := make(chan string, 1)
			go func() {
				done <- post(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ask_human","arguments":` + question + `}}`)
			}()
			rec := <-p.asked
			post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}`) // another call
			post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"` + reason + `"}}`)
			if got := <-done; !strings.Contains(got, `\"status\":\"pending\"`) {
				t.Errorf("the call ends with %s", got)
			}
			if got := p.cancelled(rec.Interaction.ID); (got == "the client cancelled the call") != withdrawn {
				t.Errorf("the request was withdrawn because %q", got)
			}
		})
	}
}

// TestClosedOverHTTP checks that a client that closes its connection cancels the
// call only if its protocol version says so.
func TestClosedOverHTTP(t *testing.T) {
	t.Parallel()
	for version, withdrawn := range map[string]bool{"2025-11-25": false, "2026-07-28": true} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			p := newPeople()
			server := httptest.NewServer(new(mcp.HTTP).Handler(func(*http.Request) (mcp.Options, bool) { return mcp.Options{Asker: p, Session: "web"}, true }))
			t.Cleanup(server.Close)
			ctx, hangUp := context.WithCancel(t.Context())
			body := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ask_human","arguments":` + question + `,"_meta":{
				"io.modelcontextprotocol/protocolVersion":"` + version + `","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {version}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"ask_human"}}
			done := make(chan string, 1)
			go func() {
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					done <- ""
					return
				}
				defer resp.Body.Close()
				raw, _ := io.ReadAll(resp.Body) // the connection closes before the result
				done <- string(raw)
			}()
			var rec bridge.Record
			select {
			case rec = <-p.asked:
			case got := <-done:
				t.Fatal(got)
			}
			hangUp()
			<-p.left
			if withdrawn {
				await.Until(t, "the request is withdrawn", func() bool { return p.cancelled(rec.Interaction.ID) == "the client cancelled the call" })
			} else if why := p.cancelled(rec.Interaction.ID); why != "" {
				t.Errorf("the request was withdrawn because %q", why)
			}
		})
	}
}

// TestHTTPShares checks that calls over HTTP, which share servers, have the
// options of their own request.
func TestHTTPShares(t *testing.T) {
	t.Parallel()
	teams := map[string]*people{"a": newPeople(), "b": newPeople()}
	server := httptest.NewServer(new(mcp.HTTP).Handler(func(r *http.Request) (mcp.Options, bool) {
		q := r.URL.Query()
		return mcp.Options{Asker: teams[q.Get("session")], Session: q.Get("session"), Claude: q.Get("claude") != ""}, true
	}))
	t.Cleanup(server.Close)
	for _, path := range []string{"?session=a", "?session=b&claude=yes", "?session=b", "?session=a&claude=yes"} {
		s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
			&sdk.StreamableClientTransport{Endpoint: server.URL + path, MaxRetries: -1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		q, err := url.ParseQuery(path[1:])
		if err != nil {
			t.Fatal(err)
		}
		p := teams[q.Get("session")]
		done := begin(t.Context(), t, s, "ask_human", strings.Replace(question, "?", " "+path, 1))
		rec := <-p.asked
		if rec.Interaction.Session != q.Get("session") {
			t.Errorf("%s asks in the session %q", path, rec.Interaction.Session)
		}
		p.respond(rec.Interaction.ID, yes())
		if got := <-done; got.Answer != "yes" {
			t.Errorf("%s gets %+v", path, got)
		}
		tools, err := s.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		claude := slices.ContainsFunc(tools.Tools, func(t *sdk.Tool) bool { return t.Name == "permission_prompt" })
		if claude != (q.Get("claude") != "") {
			t.Errorf("%s: it has the tool of Claude Code: %t", path, claude)
		}
	}
}
