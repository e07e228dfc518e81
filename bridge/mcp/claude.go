package mcp

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
)

// permissionInput describes [claudecode.PromptArguments] to clients.
type permissionInput struct {
	ToolName  string         `json:"tool_name" jsonschema:"the tool that wants to run"`
	Input     map[string]any `json:"input" jsonschema:"what the tool would be given"`
	ToolUseID string         `json:"tool_use_id,omitempty" jsonschema:"the id of the tool call"`
}

// addClaude adds the tool for --permission-prompt-tool.
func (s *server) addClaude(m *mcp.Server) {
	mcp.AddTool(m, &mcp.Tool{
		Name: "permission_prompt", Title: "Permission prompt",
		Description: "For the flag --permission-prompt-tool of Claude Code. Models do not need it.",
	}, func(ctx context.Context, req *mcp.CallToolRequest, _ permissionInput) (*mcp.CallToolResult, any, error) {
		s := s.at(ctx)
		var in claudecode.PromptArguments
		if err := dialect.Decode("arguments", req.Params.Arguments, &in); err != nil { // numbers stay unchanged
			return failed(err)
		}
		t, err := claudecode.Prompt(in, s.Session)
		if err != nil {
			return failed(err)
		}
		x := t.Exchanges[0]
		x.Request.Route, x.Request.Timeout = s.Route, bridge.Duration(defaultTimeout)
		ctx, stop := s.joined(ctx)
		defer stop()
		rec, err := decide(ctx, s.hangup, s.Asker, x.Request)
		if err != nil {
			return failed(err)
		}
		answer, err := x.Answer(rec)
		if err != nil {
			return failed(err)
		}
		out, err := text(answer)
		return out, nil, err
	})
}

// channel relays the permission dialogs of Claude Code, which sends them as
// notifications that the SDK does not know. It answers only the dialogs that
// people decide.
type channel struct {
	Options
	answer func(verdict any) error
	work   sync.WaitGroup
}

// relay asks people about one dialog. If no one decides, it sends nothing, and
// the dialog stays open at the terminal.
func (c *channel) relay(ctx context.Context, params []byte) {
	var q claudecode.ChannelRequest
	err := dialect.Decode("params", params, &q)
	var verdict any
	if err == nil {
		verdict, err = c.ask(ctx, q)
	}
	if err == nil {
		err = c.answer(verdict)
	}
	if err != nil && c.Log != nil && ctx.Err() == nil {
		c.Log.Warn("permission dialog left to the terminal", "tool", q.Tool, "error", err)
	}
}

func (c *channel) ask(ctx context.Context, q claudecode.ChannelRequest) (any, error) {
	t, err := claudecode.Channel(q, c.Session)
	if err != nil {
		return nil, err
	}
	x := t.Exchanges[0]
	x.Request.Route, x.Request.Timeout = c.Route, bridge.Duration(defaultTimeout)
	rec, err := decide(ctx, ctx, c.Asker, x.Request)
	if err != nil {
		return nil, err
	}
	return x.Answer(rec)
}
