package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nodbridge/nod/bridge/strictjson"
)

// Lines is a transport with one message on each line. Unlike the transport of
// the SDK, it keeps the IDs of a client unchanged. It responds with an error to
// a line that is not a message, instead of ending.
type Lines struct {
	In  io.Reader
	Out io.Writer
}

// Connect implements mcp.Transport.
func (l Lines) Connect(context.Context) (mcp.Connection, error) {
	c := &linesConn{out: l.Out, heard: make(chan jsonrpc.Message), ended: make(chan struct{}), closed: make(chan struct{}), ids: map[string]int64{}, raw: map[int64]json.RawMessage{}}
	go c.listen(bufio.NewReader(l.In))
	return c, nil
}

type linesConn struct {
	out    io.Writer
	heard  chan jsonrpc.Message
	ended  chan struct{} // closed with the input
	once   sync.Once
	closed chan struct{}

	mu   sync.Mutex // also protects out
	last int64      // IDs under which the SDK knows requests
	ids  map[string]int64
	raw  map[int64]json.RawMessage
}

// Codes of JSON-RPC.
const (
	codeParse   = -32700
	codeRequest = -32600
)

// SessionID implements mcp.Connection.
func (c *linesConn) SessionID() string { return "" }

// Close implements mcp.Connection.
func (c *linesConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// Read implements mcp.Connection.
func (c *linesConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.heard:
		return m, nil
	case <-c.ended:
	case <-c.closed:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return nil, io.EOF
}

func (c *linesConn) listen(in *bufio.Reader) {
	defer close(c.ended)
	for {
		line, err := in.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if m := c.message(line); m != nil {
				select {
				case c.heard <- m:
				case <-c.closed:
					return
				}
			}
		}
		if err != nil {
			return
		}
	}
}

// message returns the message on a line. It returns nil if it has responded to
// the line itself.
func (c *linesConn) message(line []byte) jsonrpc.Message {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if err := strictjson.Check(line); err != nil && json.Unmarshal(line, &m) != nil {
		c.refuse(nil, codeParse, "the message "+err.Error())
		return nil
	}
	if json.Unmarshal(line, &m) != nil || m.Method == "" && m.ID == nil {
		c.refuse(nil, codeRequest, "a message must be an object with a method or an ID; batches are not supported")
		return nil
	}
	if m.Method != "" && m.ID != nil && m.ID[0] != '"' && m.ID[0] != '-' && (m.ID[0] < '0' || m.ID[0] > '9') {
		c.refuse(nil, codeRequest, "id: must be a string or a number")
		return nil
	}
	decoded, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		c.refuse(m.ID, codeRequest, "this is not a message of JSON-RPC 2.0")
		return nil
	}
	r, ok := decoded.(*jsonrpc.Request)
	switch {
	case !ok:
	case r.Method == methodCancelled:
		r.Params = c.known(r.Params)
	case m.ID != nil && !c.keep(r, m.ID):
		c.refuse(m.ID, codeRequest, "id: already used by an unfinished request")
		return nil
	}
	return decoded
}

// keep assigns nod's own ID to a request. It returns false if the ID of the
// client is in use.
func (c *linesConn) keep(r *jsonrpc.Request, id json.RawMessage) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, used := c.ids[string(id)]; used {
		return false
	}
	c.last++
	own, err := jsonrpc.MakeID(float64(c.last))
	if err != nil {
		return false
	}
	r.ID, c.ids[string(id)], c.raw[c.last] = own, c.last, id
	return true
}

// known returns the parameters of a cancellation with nod's own ID.
func (c *linesConn) known(params json.RawMessage) json.RawMessage {
	var p struct {
		ID     json.RawMessage `json:"requestId"`
		Reason string          `json:"reason,omitempty"`
	}
	if json.Unmarshal(params, &p) != nil {
		return params
	}
	c.mu.Lock()
	own, used := c.ids[string(p.ID)]
	c.mu.Unlock()
	if !used { // the request has ended
		own = -1
	}
	out, err := json.Marshal(mcp.CancelledParams{RequestID: own, Reason: p.Reason})
	if err != nil {
		return params
	}
	return out
}

// forget frees the ID of a request that gets no response.
func (c *linesConn) forget(id jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(id)
}

// drop frees the ID of a request, and returns the client's ID. The caller holds
// the mutex.
func (c *linesConn) drop(id jsonrpc.ID) json.RawMessage {
	own, _ := id.Raw().(int64)
	raw := c.raw[own]
	delete(c.raw, own)
	delete(c.ids, string(raw))
	return raw
}

// Write implements mcp.Connection.
func (c *linesConn) Write(_ context.Context, m jsonrpc.Message) error {
	raw, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, ok := m.(*jsonrpc.Response); ok {
		id := c.drop(r.ID)
		if id == nil { // not the response to a known request
			return nil
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(raw, &fields); err != nil {
			return err
		}
		fields["id"] = id
		if raw, err = strictjson.Encode(fields); err != nil {
			return err
		}
	}
	_, err = c.out.Write(append(raw, '\n'))
	return err
}

// refuse responds to a line that the SDK does not get.
func (c *linesConn) refuse(id json.RawMessage, code int, why string) {
	if id == nil {
		id = json.RawMessage("null")
	}
	raw, err := strictjson.Encode(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": why}})
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = c.out.Write(append(raw, '\n')) // writing the next response fails in the same way
}
