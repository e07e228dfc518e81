// Package mcp is nod's entry point for MCP clients: tools with which a model
// asks people, over stdio or streamable HTTP. It supports the protocol
// versions of the official SDK, among them 2025-11-25 and 2026-07-28.
//
// What belongs here is what the tools tell a model, and how long a call is
// held. An MCP server that nod guards belongs to bridge/relay, and elicitation
// as a format to bridge/dialect/elicitation.
package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
)

// How long calls are held.
const (
	// DefaultHold bounds a call of a client that shows no progress: less than
	// the 60 s after which common clients give a silent call up.
	DefaultHold = 50 * time.Second
	// progressEvery is how often a client that does hears that we are there.
	progressEvery = 10 * time.Second
	// longestHold bounds a call of a client that shows progress.
	longestHold = 24 * time.Hour
	// defaultTimeout is how long people have where the model does not say it.
	defaultTimeout = time.Hour
)

// Options configures a server for one agent.
type Options struct {
	Asker bridge.Asker
	// Session groups what is asked, and finds it again after a reconnect. It
	// must not be empty.
	Session string
	// Scoped means that the session is one run of an agent, so that people may
	// allow something for the rest of it.
	Scoped bool
	Route  string // empty: the default route
	// Claude adds what only Claude Code uses: the permission-prompt tool, and
	// the relay of its permission dialogs as a channel.
	Claude bool
	// Hold bounds a call of a client that shows no progress; 0: DefaultHold.
	Hold    time.Duration
	Version string
	Log     *slog.Logger // nil: discard
	// Hangup ends when nobody hears an answer any more; nil: the transport
	// itself tells.
	Hangup context.Context
}

const instructions = `Ask people when you need a decision, a missing value, or permission; they answer in their team chat, which may take minutes or hours. Use request_approval before anything destructive, costly or hard to undo, and do it only when the answer is "approved". Use ask_human for questions. An answer with status "pending" means that nobody has answered yet: go on with other work and call check with its id later. Never take silence, "expired" or "undeliverable" for a yes or a no.`

// server is what the tools share.
type server struct {
	Options
	log *slog.Logger
}

// NewServer returns an MCP server with nod's tools.
func NewServer(o Options) *mcp.Server {
	s := &server{Options: o, log: o.Log}
	if s.Hold == 0 {
		s.Hold = DefaultHold
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	capabilities := &mcp.ServerCapabilities{}
	if o.Claude {
		capabilities.Experimental = map[string]any{claudecode.ChannelCapability: struct{}{}, claudecode.ChannelPermissionCapability: struct{}{}}
	}
	m := mcp.NewServer(&mcp.Implementation{Name: "nod", Title: "nod", Version: o.Version}, &mcp.ServerOptions{Instructions: instructions, Capabilities: capabilities})
	m.AddReceivingMiddleware(strictArguments)
	s.addTools(m)
	if o.Claude {
		s.addClaude(m)
	}
	return m
}

// strictArguments refuses arguments of a tool that have more than one meaning:
// people would see one, and the model could act on another.
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

// Handler serves MCP over streamable HTTP. For finds the options of a request;
// false refuses it. It keeps no session: what is asked is found again by its
// content and its id.
func Handler(find func(*http.Request) (Options, bool)) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		o, ok := find(r)
		if !ok {
			return nil
		}
		o.Hangup = r.Context() // a server of its own for each request
		return NewServer(o)
	}, &mcp.StreamableHTTPOptions{Stateless: true, DisableLocalhostProtection: true}) // every call carries a token, which no page of a browser has
}

// wait waits for the end of an interaction for as long as the client is
// patient. It says by progress that it is there; false: nobody has answered
// yet.
func (s *server) wait(ctx context.Context, req *mcp.CallToolRequest, id bridge.ID) (bridge.Record, bool, error) {
	token := req.Params.GetProgressToken()
	hold := s.Hold
	if token != nil {
		hold = longestHold
	}
	ctx, cancel := context.WithTimeout(ctx, hold)
	defer cancel()
	if s.Hangup != nil {
		defer context.AfterFunc(s.Hangup, cancel)()
	}
	if token != nil {
		go s.progress(ctx, req, token)
	}
	rec, err := s.Asker.Wait(ctx, id)
	if ctx.Err() != nil && err != nil {
		return rec, false, context.Cause(ctx)
	}
	return rec, true, err
}

// progress keeps the client's patience up until ctx ends. Its first message
// comes at once: some clients give a silent response a minute.
func (s *server) progress(ctx context.Context, req *mcp.CallToolRequest, token any) {
	for n := 0; ; n++ {
		err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(n), Message: "waiting for a person to answer in chat"})
		if err != nil || !bridge.Pause(ctx, progressEvery) {
			return // the call's own end tells more
		}
	}
}

// text is a result with one text.
func text(v any) (*mcp.CallToolResult, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(b)}}}, nil
}
