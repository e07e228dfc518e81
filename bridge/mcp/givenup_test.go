package mcp_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/mcp"
	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// line is a client that sends messages unchanged.
type line struct {
	t      *testing.T
	conn   sdk.Connection
	heard  chan jsonrpc.Message
	stop   context.CancelFunc // stops the server
	served chan error
}

func newLine(t *testing.T, o mcp.Options) *line {
	t.Helper()
	near, far := sdk.NewInMemoryTransports()
	l := &line{t: t, heard: make(chan jsonrpc.Message, 32), served: make(chan error, 1)}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	l.stop = stop
	go func() { l.served <- mcp.Serve(ctx, far, o) }()
	var err error
	if l.conn, err = near.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			m, err := l.conn.Read(context.WithoutCancel(t.Context()))
			if err != nil {
				close(l.heard)
				return
			}
			l.heard <- m
		}
	}()
	t.Cleanup(func() { stop(); _ = l.conn.Close() }) // some tests close it themselves
	l.say(`{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	<-l.heard
	l.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return l
}

func (l *line) say(text string) {
	l.t.Helper()
	m, err := jsonrpc.DecodeMessage([]byte(text))
	if err == nil {
		err = l.conn.Write(l.t.Context(), m)
	}
	if err != nil {
		l.t.Fatal(text, err)
	}
}

func (l *line) call(id, params string) {
	l.t.Helper()
	l.say(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":` + params + `}}`)
}

func (l *line) cancel(id, reason string) {
	l.t.Helper()
	l.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"` + reason + `"}}`)
}

// TestGivenUp checks that a client that gives up a call, however it does that and
// whatever the call does then, takes its request along.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	calls := map[string]string{
		"a question":  `"ask_human","arguments":` + question,
		"an approval": `"request_approval","arguments":{"action":"Deploy","command":"make deploy"}`,
		"progress":    `"ask_human","arguments":` + question + `,"_meta":{"progressToken":"p"}`,
		"a prompt":    `"permission_prompt","arguments":{"tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t1"}`,
		"a dialog":    "",
	}
	for how, x := range map[string]struct {
		end func(l *line)
		why string
	}{
		"cancelled":             {func(l *line) { l.cancel(`7`, "AbortError: aborted by the user") }, "the client cancelled the call"},
		"cancelled for no":      {func(l *line) { l.cancel(`7`, "") }, "the client cancelled the call"},
		"waited too long":       {func(l *line) { l.cancel(`7`, "Request timed out") }, ""},
		"closed":                {func(l *line) { _ = l.conn.Close() }, "the client was closed"},
		"nod stopped":           {func(l *line) { l.stop() }, "nod was stopped"},
		"another one cancelled": {func(l *line) { l.cancel(`"7"`, ""); l.cancel(`8`, "") }, ""},
	} {
		for what, params := range calls {
			for _, opening := range []bool{false, true} {
				t.Run(map[bool]string{false: what, true: what + " that opens"}[opening]+", "+how, func(t *testing.T) {
					t.Parallel()
					p := newPeople()
					if opening {
						p.slow = make(chan struct{})
					}
					l := newLine(t, mcp.Options{Asker: p, Session: "s", Claude: true, Scoped: true})
					if params != "" {
						l.call(`7`, params)
					} else {
						l.say(`{"jsonrpc":"2.0","method":"notifications/claude/channel/permission_request","params":{"request_id":"tbxkq","tool_name":"Bash","description":"Run it","input_preview":"{}"}}`)
					}
					rec := <-p.asked
					if x.end(l); opening {
						close(p.slow)
					}
					switch {
					case what == "a dialog" && x.why == "the client cancelled the call":
					case x.why != "":
						await.Until(t, "the request is withdrawn", func() bool { return p.cancelled(rec.Interaction.ID) == x.why })
					default:
						l.stop()
						<-l.served
						if why := p.cancelled(rec.Interaction.ID); why != "nod was stopped" && how != "waited too long" || why == "the client cancelled the call" {
							t.Errorf("the request was withdrawn because %q", why)
						}
						return
					}
					l.stop()
					if err := await.Receive(t, "the end of the server", l.served); err != nil && how != "nod stopped" {
						t.Log(err)
					}
				})
			}
		}
	}
}

// TestGivenUpOfSeveral checks that a request stays while another call of the client
// waits for it, that a cancelled call gets no response, and that a call that only
// looks for an answer takes the request along as well.
func TestGivenUpOfSeveral(t *testing.T) {
	t.Parallel()
	p := newPeople()
	l := newLine(t, mcp.Options{Asker: p, Session: "s", Hold: time.Millisecond})
	l.call(`1`, `"ask_human","arguments":`+question+`,"_meta":{"progressToken":"p"}`)
	rec := <-p.asked
	check := `"check","arguments":{"id":"` + string(rec.Interaction.ID) + `"}`
	l.call(`2`, check+`,"_meta":{"progressToken":"q"}`)
	l.call(`3`, check) // the call returns, and its client may check again later
	next := func() jsonrpc.ID {
		t.Helper()
		for m := range l.heard {
			if r, ok := m.(*jsonrpc.Response); ok {
				return r.ID
			}
		}
		t.Fatal("the connection ended")
		return jsonrpc.ID{}
	}
	if id := next(); id.Raw() != int64(3) {
		t.Fatalf("a response to %v", id)
	}
	<-p.left
	for range 3 {
		<-p.waits
	}
	l.cancel(`1`, "")
	<-p.left
	if why := p.cancelled(rec.Interaction.ID); why != "" {
		t.Errorf("the request was withdrawn because %q", why)
	}
	l.call(`4`, check+`,"_meta":{"progressToken":"r"}`)
	<-p.waits
	l.cancel(`2`, "")
	<-p.left
	if why := p.cancelled(rec.Interaction.ID); why != "" {
		t.Errorf("the request was withdrawn because %q", why)
	}
	l.cancel(`4`, "")
	await.Until(t, "the request is withdrawn", func() bool { return p.cancelled(rec.Interaction.ID) != "" })
	l.say(`{"jsonrpc":"2.0","id":5,"method":"ping"}`)
	if id := next(); id.Raw() != int64(5) {
		t.Errorf("a response to %v", id)
	}
}

// TestIdenticalCalls checks that the newest of several identical calls gets the answer,
// and that the others end without it, because one approval is for one action. Many
// clients repeat a call without a word about the earlier one.
func TestIdenticalCalls(t *testing.T) {
	t.Parallel()
	p := newPeople()
	l := newLine(t, mcp.Options{Asker: p, Session: "s"})
	refund := `"request_approval","arguments":{"action":"Refund 50 EUR"}`
	said := map[any]string{}
	next := func(id int) {
		t.Helper()
		for said[int64(id)] == "" {
			m, ok := (<-l.heard).(*jsonrpc.Response)
			if !ok {
				t.Fatalf("no response to %d, after %v", id, said)
			}
			said[m.ID.Raw()] = string(m.Result)
		}
	}
	l.call(`1`, refund)
	rec := <-p.asked
	<-p.waits
	for id := 2; id <= 3; id++ {
		l.call(strconv.Itoa(id), refund)
		<-p.waits
		next(id - 1)
		if !strings.Contains(said[int64(id-1)], "identical call has replaced") {
			t.Errorf("call %d gets %s", id-1, said[int64(id-1)])
		}
	}
	p.respond(rec.Interaction.ID, by("ana", bridge.StateApproved))
	next(3)
	if !strings.Contains(said[int64(3)], "approved") {
		t.Errorf("the newest call gets %s", said[int64(3)])
	}
	l.call(`4`, refund)
	if again := <-p.asked; again.Interaction.ID == rec.Interaction.ID {
		t.Error("a later call gets the same request")
	}
}
