// Package mcp is nod's entry point for MCP clients: tools with which a model
// asks people, over stdio or streamable HTTP. It supports the protocol versions
// of the official SDK, including 2025-11-25 and 2026-07-28.
//
// This package holds the tools, the texts that a model reads, and the rules for
// how long a call waits. The relay in front of other MCP servers belongs to
// bridge/relay, and the elicitation format to bridge/dialect/elicitation. A
// call asks through a [bridge.Asker], which is the house of rooms in a daemon
// and a client elsewhere. Start with tools.go.
package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
)

// Limits on how long calls wait.
const (
	// DefaultHold is the maximum wait of a call by a client without progress
	// support. It is shorter than the 60 s after which common clients abandon a
	// silent call.
	DefaultHold = 50 * time.Second
	// progressEvery is the time between two progress notifications.
	progressEvery = 10 * time.Second
	// longestHold limits the call of a client with progress support.
	longestHold = 24 * time.Hour
	// defaultTimeout is the time that people have to respond if the model does
	// not set a timeout.
	defaultTimeout = time.Hour
)

// Options configures a server for one agent.
type Options struct {
	Asker bridge.Asker
	// Inbox holds the messages that people write to the session. If it is nil,
	// the server has no tool to read them.
	Inbox Inbox
	// Session groups the requests and finds them again after a reconnect. It
	// must not be empty.
	Session string
	// Scoped means that the session is a single run of an agent, so that people
	// may approve an action for the rest of the session.
	Scoped bool
	Route  string // if empty, the default route
	// Claude adds the features that only Claude Code uses: the
	// permission-prompt tool, and the relay of its permission dialogs as a
	// channel.
	Claude bool
	// Hold limits the call of a client without progress support. Zero means
	// DefaultHold.
	Hold    time.Duration
	Version string
	Log     *slog.Logger // a nil Log discards output
	// Closing is done when the daemon stops. Calls then end with the status
	// pending, and other streams end. It may be nil.
	Closing context.Context
}

const instructions = "Ask people when you need a decision, a missing value, or permission; they answer in their team chat, " +
	"which may take minutes or hours. Use request_approval before anything destructive, costly or hard to undo, " +
	`and do it only when the answer is "approved". Use ask_human for questions. ` +
	`An answer with status "pending" means that no one has answered yet: ` +
	"continue with other work and call check with its id later. " +
	`If there is a tool "messages", call it between the steps of a long task to read what people wrote to you. ` +
	`Never treat a missing answer, "expired" or "undeliverable" as an approval or a denial.`

// server holds the state that the tools share.
type server struct {
	Options
	log *slog.Logger
	// hangup is done when the client no longer waits for the response of a call,
	// with the reason as its cause.
	hangup context.Context
	held   *held
}

func newServer(o Options) *server {
	s := &server{Options: o, log: o.Log, hangup: context.Background(), held: &held{}}
	if s.Hold == 0 {
		s.Hold = DefaultHold
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	return s
}

// build returns the server with its tools. The tool "messages" needs an inbox.
func (s *server) build(inbox bool) *mcp.Server {
	capabilities := &mcp.ServerCapabilities{}
	if s.Claude {
		capabilities.Experimental = map[string]any{claudecode.ChannelCapability: struct{}{}, claudecode.ChannelPermissionCapability: struct{}{}}
	}
	m := mcp.NewServer(&mcp.Implementation{Name: "nod", Title: "nod", Version: s.Version}, &mcp.ServerOptions{Instructions: instructions, Capabilities: capabilities})
	m.AddReceivingMiddleware(strictArguments)
	s.addTools(m)
	if inbox {
		s.addMessages(m)
	}
	if s.Claude {
		s.addClaude(m)
	}
	return m
}

// strictArguments rejects tool arguments that have more than one meaning,
// because people could see one meaning and the model could act on another.
func strictArguments(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if call, ok := req.(*mcp.CallToolRequest); ok && len(call.Params.Arguments) > 0 {
			err := dialect.Decode("arguments", call.Params.Arguments, &json.RawMessage{})
			if err == nil {
				err = bridge.CheckJSON(call.Params.Arguments)
			}
			if err != nil {
				res, _, err := failed(err)
				return res, err
			}
		}
		return next(ctx, method, req)
	}
}

// Handler serves MCP over streamable HTTP. The function find returns the
// options for a request, or false to reject it. The handler keeps no sessions:
// it finds earlier requests by their content and ID.
func (h *HTTP) Handler(find func(*http.Request) (Options, bool)) http.Handler {
	// Every call carries a token, which no page in a browser has, so that the
	// protection of localhost is not needed.
	return h.perCall(find, mcp.NewStreamableHTTPHandler(h.server, &mcp.StreamableHTTPOptions{
		Stateless: true, DisableLocalhostProtection: true,
	}))
}

// wait waits until the request is resolved, for as long as the client waits. It
// sends progress notifications in the meantime. It returns false if no one has
// answered yet.
func (s *server) wait(ctx context.Context, req *mcp.CallToolRequest, id bridge.ID) (bridge.Record, bool, error) {
	token := req.Params.GetProgressToken()
	hold := s.Hold
	if token != nil {
		hold = longestHold
	}
	ctx, cancel := context.WithTimeout(ctx, hold)
	defer cancel()
	if s.Closing != nil {
		defer context.AfterFunc(s.Closing, cancel)()
	}
	if token != nil {
		p := &progress{ctx: ctx, session: req.Session, token: token}
		go p.notify()
		defer p.end()
	}
	rec, err := s.Asker.Wait(ctx, id)
	if ctx.Err() != nil && err != nil {
		return rec, false, context.Cause(ctx)
	}
	return rec, true, err
}

// progress sends progress notifications until ctx ends. It runs on a timer, which
// has no goroutine in the meantime.
type progress struct {
	ctx     context.Context
	session *mcp.ServerSession
	token   any

	mu   sync.Mutex
	sent int
	next *time.Timer
}

// notify sends the next notification. The first one is sent at once, because some
// clients abandon a silent call after a minute.
func (p *progress) notify() {
	err := p.session.NotifyProgress(p.ctx, &mcp.ProgressNotificationParams{
		ProgressToken: p.token, Progress: float64(p.sent), Message: "waiting for a person to answer in chat",
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sent++; err == nil && p.ctx.Err() == nil { // the end of the call returns the error
		p.next = time.AfterFunc(progressEvery, p.notify)
	}
}

// end is called after the wait. The context ends after it.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next != nil {
		p.next.Stop()
	}
}

// text returns a result with one text.
func text(v any) (*mcp.CallToolResult, error) {
	b, err := bridge.EncodeJSON(v)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(b)}}}, nil
}
