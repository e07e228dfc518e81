// Package relay stands between a client and an agent or server that speak
// JSON-RPC, a message a line: everything passes as it came, but for what a
// person answers in chat.
package relay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"sync"

	"github.com/nodbridge/nod/bridge"
)

// maxLine bounds a message, in bytes.
const maxLine = 32 << 20

// Message is a JSON-RPC message. Codex leaves the version out.
type Message struct {
	Version string          `json:"jsonrpc,omitempty"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
	raw     []byte
}

// IsRequest reports whether somebody waits for an answer to it.
func (m Message) IsRequest() bool { return m.Method != "" && len(m.ID) > 0 }

// IsResponse reports whether it answers a request.
func (m Message) IsResponse() bool { return m.Method == "" && len(m.ID) > 0 }

// Asker takes an agent's message to people, in its own format.
type Asker interface {
	// Ask returns the answer in the message's format. When ctx ends, it takes
	// back what waits for people.
	Ask(ctx context.Context, dialect string, query url.Values, body []byte) (json.RawMessage, error)
}

// Side is one end of a relay. It is safe for concurrent use.
type Side struct {
	in  *bufio.Reader
	out io.Writer
	mu  sync.Mutex
}

// NewSide reads messages from in and writes them to out.
func NewSide(in io.Reader, out io.Writer) *Side {
	return &Side{in: bufio.NewReaderSize(in, 64<<10), out: out}
}

// Write sends a value as one message.
func (s *Side) Write(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.writeRaw(b)
}

func (s *Side) writeRaw(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.out.Write(append(bytes.TrimRight(b, "\r\n"), '\n'))
	return err
}

// next reads a message. What is no JSON-RPC comes without fields.
func (s *Side) next() (Message, error) {
	var line []byte
	for {
		part, err := s.in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if len(line) > maxLine {
				return Message{}, bridge.Errorf(bridge.CodeInvalid, "a message is longer than %d bytes", maxLine)
			}
			continue
		case err != nil && len(bytes.TrimSpace(line)) == 0:
			return Message{}, err
		}
		var m Message
		if json.Unmarshal(line, &m) != nil {
			m = Message{} // not ours to judge
		}
		m.raw = line
		return m, nil
	}
}

// Handler decides about messages before they pass. True means that it has
// taken the message, and that it does not pass.
type Handler interface {
	FromClient(context.Context, *Message) bool
	FromServer(context.Context, *Message) bool
}

// Relay carries messages between two sides.
type Relay struct {
	Client, Server *Side
	Handler        Handler
}

// Run carries messages until the client's side ends, or the server's does. The
// server is told of the former by stop.
func (r *Relay) Run(ctx context.Context, stop func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 2)
	go func() {
		err := pump(ctx, r.Client, r.Server, r.Handler.FromClient)
		stop() // what the server still says is carried below
		if !errors.Is(err, io.EOF) {
			done <- err
		}
	}()
	go func() { done <- pump(ctx, r.Server, r.Client, r.Handler.FromServer) }()
	select {
	case err := <-done:
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func pump(ctx context.Context, from, to *Side, take func(context.Context, *Message) bool) error {
	for ctx.Err() == nil {
		m, err := from.next()
		if err != nil {
			return err
		}
		if take(ctx, &m) {
			continue
		}
		if err := to.writeRaw(m.raw); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Replace makes the message pass with other parameters.
func (m *Message) Replace(params json.RawMessage) {
	m.Params = params
	b, err := json.Marshal(m)
	if err == nil { // parts that were decoded a moment ago
		m.raw = b
	}
}
