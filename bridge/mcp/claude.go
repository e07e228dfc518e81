package mcp

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
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
		if err := dialect.Decode("arguments", req.Params.Arguments, &in); err != nil { // numbers keep their spelling
			return failed(err)
		}
		t, err := claudecode.Prompt(in, s.Session)
		if err != nil {
			return failed(err)
		}
		x := t.Exchanges[0]
		x.Request.Route, x.Request.Timeout = s.Route, bridge.Duration(defaultTimeout)
		rec, err := s.Asker.Open(ctx, x.Request, "")
		if err == nil {
			rec, err = s.Asker.Wait(ctx, rec.Interaction.ID)
		}
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

// Channel is a transport on which Claude Code also relays its permission
// dialogs, as notifications that the SDK does not know. Channel answers the
// dialogs that people decide, and does not answer the others.
type Channel struct {
	mcp.Transport
	Options Options
}

// Connect implements mcp.Transport.
func (c *Channel) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := c.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	return &channelConn{Connection: conn, options: c.Options, ctx: work, stop: stop}, nil
}

type channelConn struct {
	mcp.Connection
	options Options
	ctx     context.Context
	stop    context.CancelFunc
	work    sync.WaitGroup
}

// Read implements mcp.Connection. It filters out the notifications of the
// relay.
func (c *channelConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := c.Connection.Read(ctx)
		if err != nil {
			return m, err
		}
		r, ok := m.(*jsonrpc.Request)
		if !ok || r.Method != claudecode.ChannelRequestMethod {
			return m, nil
		}
		params := append([]byte{}, r.Params...)
		c.work.Go(func() { c.relay(params) })
	}
}

// Close implements mcp.Connection.
func (c *channelConn) Close() error {
	c.stop()
	err := c.Connection.Close()
	c.work.Wait()
	return err
}

// relay asks people about one dialog. If no one decides, it sends nothing and
// the dialog stays open at the terminal.
func (c *channelConn) relay(params []byte) {
	var q claudecode.ChannelRequest
	err := dialect.Decode("params", params, &q)
	var verdict any
	if err == nil {
		verdict, err = c.ask(q)
	}
	if err == nil {
		err = c.verdict(verdict)
	}
	if err != nil && c.options.Log != nil && c.ctx.Err() == nil {
		c.options.Log.Warn("permission dialog left to the terminal", "tool", q.Tool, "error", err)
	}
}

func (c *channelConn) ask(q claudecode.ChannelRequest) (any, error) {
	t, err := claudecode.Channel(q, c.options.Session)
	if err != nil {
		return nil, err
	}
	x := t.Exchanges[0]
	x.Request.Route, x.Request.Timeout = c.options.Route, bridge.Duration(defaultTimeout)
	rec, err := c.options.Asker.Open(c.ctx, x.Request, "")
	if err == nil {
		rec, err = c.options.Asker.Wait(c.ctx, rec.Interaction.ID)
	}
	if err != nil {
		return nil, err
	}
	return x.Answer(rec)
}

func (c *channelConn) verdict(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.Write(c.ctx, &jsonrpc.Request{Method: claudecode.ChannelVerdictMethod, Params: raw})
}
