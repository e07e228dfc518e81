package mcp

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nodbridge/nod/bridge/dialect/claudecode"
)

// Serve runs nod's tools for one client on a transport, until the client is
// closed or ctx ends. It then withdraws the requests of waiting calls.
func Serve(ctx context.Context, t mcp.Transport, o Options) error {
	s := newServer(o)
	m := s.build(o.Inbox != nil)
	m.AddReceivingMiddleware(s.ofCall)
	return m.Run(ctx, pipe{t, o})
}

// ofCall adds the state that the connection keeps for a call to its context.
func (s *server) ofCall(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if extra := req.GetExtra(); extra != nil && extra.TokenInfo != nil {
			if hangup, ok := extra.TokenInfo.Extra[hangupExtra].(context.Context); ok {
				own := *s
				own.hangup = hangup
				ctx = context.WithValue(ctx, callKey{}, &own)
			}
		}
		return next(ctx, method, req)
	}
}

// methodCancelled is the method of a notification that cancels a request.
const methodCancelled = "notifications/cancelled"

// hangupExtra is the key of a call's context in the values that the SDK passes
// on with the call.
const hangupExtra = "hangup"

// pipe is a transport with one client. Its connection records why calls end,
// because the SDK only ends their contexts.
type pipe struct {
	mcp.Transport
	options Options
}

// Connect implements mcp.Transport.
func (p pipe) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := p.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &pipeConn{Connection: conn, stopped: ctx, calls: map[jsonrpc.ID]pipeCall{}}
	c.ctx, c.cancelAll = context.WithCancelCause(context.WithoutCancel(ctx))
	c.forget = context.AfterFunc(ctx, c.end)
	if p.options.Claude {
		c.dialogs = &channel{Options: p.options, answer: func(verdict any) error {
			raw, err := json.Marshal(verdict)
			if err != nil {
				return err
			}
			return c.Write(c.ctx, &jsonrpc.Request{Method: claudecode.ChannelVerdictMethod, Params: raw})
		}}
	}
	return c, nil
}

type pipeConn struct {
	mcp.Connection
	dialogs   *channel        // nil unless the client relays its dialogs
	stopped   context.Context // done when nod stops
	ctx       context.Context // done when the client is closed, or nod stops
	cancelAll context.CancelCauseFunc
	forget    func() bool

	mu    sync.Mutex
	calls map[jsonrpc.ID]pipeCall
}

// pipeCall is a call without a response.
type pipeCall struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// end ends all calls.
func (c *pipeConn) end() {
	if c.stopped.Err() != nil {
		c.cancelAll(nodStopped)
	}
	c.cancelAll(clientClosed)
}

// Read implements mcp.Connection. It records calls and cancellations, and
// filters out dialogs.
func (c *pipeConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := c.Connection.Read(ctx)
		if err != nil {
			c.end()
			return m, err
		}
		r, ok := m.(*jsonrpc.Request)
		switch {
		case !ok:
		case r.Method == "tools/call" && r.IsCall():
			c.begin(r)
		case r.Method == methodCancelled:
			c.cancel(r.Params)
		case r.Method == claudecode.ChannelRequestMethod && c.dialogs != nil:
			params := append([]byte{}, r.Params...)
			c.dialogs.work.Go(func() { c.dialogs.relay(c.ctx, params) })
			continue
		}
		return m, nil
	}
}

// begin records a call. It skips a call whose ID is in use, because the SDK
// refuses such a call.
func (c *pipeConn) begin(r *jsonrpc.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, used := c.calls[r.ID]; used {
		return
	}
	ctx, cancel := context.WithCancelCause(c.ctx)
	c.calls[r.ID] = pipeCall{ctx, cancel}
	r.Extra = &mcp.RequestExtra{TokenInfo: &auth.TokenInfo{Extra: map[string]any{hangupExtra: ctx}}}
}

// cancel ends the call that a notification names.
func (c *pipeConn) cancel(params json.RawMessage) {
	var p mcp.CancelledParams
	if json.Unmarshal(params, &p) != nil { // the SDK refuses the message
		return
	}
	id, err := jsonrpc.MakeID(p.RequestID)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if call, ok := c.calls[id]; ok {
		call.cancel(cancelledFor(p.Reason))
	}
}

// Write implements mcp.Connection. A call that its client has cancelled gets no
// response.
func (c *pipeConn) Write(ctx context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Response); ok {
		c.mu.Lock()
		call, known := c.calls[r.ID]
		delete(c.calls, r.ID)
		c.mu.Unlock()
		if known {
			cancelled := call.ctx.Err() != nil && c.ctx.Err() == nil
			call.cancel(nil)
			if f, ok := c.Connection.(interface{ forget(jsonrpc.ID) }); cancelled && ok {
				f.forget(r.ID)
			}
			if cancelled {
				return nil
			}
		}
	}
	err := c.Connection.Write(ctx, m)
	if err != nil && ctx.Err() == nil {
		c.end()
	}
	return err
}

// Close implements mcp.Connection.
func (c *pipeConn) Close() error {
	c.forget()
	c.end()
	err := c.Connection.Close()
	if c.dialogs != nil {
		c.dialogs.work.Wait()
	}
	return err
}
