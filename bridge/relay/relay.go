// Package relay sits between a client and an agent or server that exchange
// JSON-RPC messages, one per line. Every message is decoded strictly and
// encoded again before it passes, so that the receiver reads what nod read. A
// message that nod cannot read completely does not pass.
//
// What belongs here is the forwarding, and the decision which messages ask
// people first. The meaning of a single message belongs to the dialects.
package relay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/url"
	"sync"

	"github.com/nodbridge/nod/bridge/strictjson"
)

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
	b, err := encode(v)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err = s.out.Write(append(b, '\n'))
	return err
}

// errLong is the error of a line that was skipped because of its length.
var errLong = rpcError{codeRequest, "the message is too long"}

// line reads a line. A line that is too long is skipped with errLong.
func (s *Side) line() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := s.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long:
			return nil, errLong
		case err != nil && len(bytes.TrimSpace(line)) == 0:
			return nil, err
		}
		return bytes.TrimRight(line, "\r\n"), nil // at the end, the next call returns the error
	}
}

// Handler decides about messages before they pass. True means that it has
// taken the message, which then does not pass.
type Handler interface {
	FromClient(context.Context, *Message) bool
	FromServer(context.Context, *Message) bool
	// Decisive reports whether a message of the method asks for a decision:
	// all its members must be known.
	Decisive(method string) bool
	// ClientGone is called when the client's side has ended, before the
	// server's is told.
	ClientGone()
}

// Relay carries messages between two sides.
type Relay struct {
	Client, Server *Side
	Handler        Handler
	// Strict refuses messages without a version or with unknown members.
	Strict bool
	Log    *slog.Logger // nil discards
}

// Run carries messages until the client's side ends, or the server's does. The
// server is told of the former by stop.
func (r *Relay) Run(ctx context.Context, stop func()) error {
	if r.Log == nil {
		r.Log = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 2)
	go func() {
		err := r.pump(ctx, r.Client, r.Server, r.Handler.FromClient)
		r.Handler.ClientGone()
		stop() // what the server still says is carried below
		if !errors.Is(err, io.EOF) {
			done <- err
		}
	}()
	go func() { done <- r.pump(ctx, r.Server, r.Client, r.Handler.FromServer) }()
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

func (r *Relay) pump(ctx context.Context, from, to *Side, take func(context.Context, *Message) bool) error {
	for ctx.Err() == nil {
		line, err := from.line()
		if err != nil && !errors.Is(err, errLong) {
			return err
		}
		if err == nil && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		m, answered := r.read(from, line, err)
		if answered {
			continue
		}
		if take(ctx, &m) {
			continue
		}
		if err := to.Write(m); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// read parses a line. True means that it was not understood, and that its
// sender has been told.
func (r *Relay) read(from *Side, line []byte, err error) (Message, bool) {
	var m Message
	if err == nil {
		m, err = parse(line, r.Strict, r.Handler.Decisive)
	}
	if err != nil && from == r.Server { // broken text in what people only read
		repaired, again := parse(strictjson.Repair(line), r.Strict, r.Handler.Decisive)
		if again == nil && !r.Handler.Decisive(repaired.Method) {
			return repaired, false
		}
	}
	if err != nil {
		return r.refuse(from, line, err)
	}
	return m, false
}

// refuse answers a line that was not understood. A response that was not
// understood becomes an error, for the side that waits for it: refuse returns
// it and false.
func (r *Relay) refuse(from *Side, line []byte, cause error) (Message, bool) {
	side := "client"
	if from == r.Server {
		side = "server"
	}
	r.Log.Warn("a message was not understood and does not pass", "from", side, "error", cause)
	was := peek(line)
	m := failure(was.ID, codeRequest, cause.Error())
	if e, ok := errors.AsType[rpcError](cause); ok {
		m = failure(was.ID, e.Code, e.Message)
	}
	if !r.Strict {
		m.Version = was.Version
	}
	switch {
	case was.isAnswer() && was.ID == nil:
		return Message{}, true
	case was.isAnswer():
		return m, false
	case was.ID == nil && (side == "server" || !r.Strict):
		return Message{}, true // perhaps not a message at all
	}
	if err := from.Write(m); err != nil {
		r.Log.Warn("a refusal was not delivered", "to", side, "error", err)
	}
	return Message{}, true
}
