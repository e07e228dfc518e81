// Package relay forwards JSON-RPC messages, one per line, between a client and
// an agent or server. It decodes every message strictly and encodes it again,
// so that the receiver reads the same values as nod. It does not forward a
// message that it cannot parse completely.
//
// This package runs in nod's commands next to the agent. It forwards messages
// and decides which of them people must answer first. The meaning of a single
// message belongs to the dialects. It asks people through a [bridge.Asker].
// Start with [Relay.Run].
package relay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"sync"

	"github.com/nodbridge/nod/bridge/strictjson"
)

// Asker sends an agent's message to people, in the message's own format.
type Asker interface {
	// Ask returns the answer in the message's format. If ctx ends, it cancels
	// the pending requests.
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

// errLong is the error for a line that was skipped because of its length.
var errLong = rpcError{codeRequest, fmt.Sprintf("message: longer than %d MiB", maxLine>>20)}

// line returns the next line. It skips a line that is too long, and returns its
// ends and errLong.
func (s *Side) line() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := s.in.ReadSlice('\n')
		long = long || len(line)+len(part) > maxLine
		if line = append(line, part...); long && len(line) > 2*maxEnd {
			line = append(line[:maxEnd:maxEnd], line[len(line)-maxEnd:]...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long:
			return bytes.TrimRight(line, "\r\n"), errLong
		case err != nil && len(bytes.TrimSpace(line)) == 0:
			return nil, err
		}
		return bytes.TrimRight(line, "\r\n"), nil // at the end of the input, the next call returns the error
	}
}

// Handler decides on messages before they are forwarded. Its methods return
// true to take over a message. Such a message is not forwarded.
type Handler interface {
	FromClient(context.Context, *Message) bool
	FromServer(context.Context, *Message) bool
	// Decisive reports whether messages with the method ask for a decision. All
	// fields of such messages must be known.
	Decisive(method string) bool
	// ClientGone is called when the client has disconnected, before the server
	// is stopped.
	ClientGone()
}

// Relay forwards messages between two sides.
type Relay struct {
	Client, Server *Side
	Handler        Handler
	// Strict rejects messages without a version or with unknown fields.
	Strict bool
	Log    *slog.Logger // a nil Log discards output
}

// withdrawnServer is the reason for cancelling requests that are pending when
// the server ends.
const withdrawnServer Withdrawal = "the program that nod ran has ended"

// Run forwards messages until the client or the server disconnects. When the
// client disconnects, it calls stop to stop the server.
func (r *Relay) Run(ctx context.Context, stop func()) error {
	if r.Log == nil {
		r.Log = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(withdrawnServer)
	done := make(chan error, 2)
	go func() {
		err := r.pump(ctx, r.Client, r.Server, r.Handler.FromClient)
		r.Handler.ClientGone()
		stop() // the loop below still forwards the server's last messages
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

// read parses a line. It returns true if the line is invalid and its sender has
// been notified.
func (r *Relay) read(from *Side, line []byte, err error) (Message, bool) {
	var m Message
	if err == nil {
		m, err = parse(line, r.Strict, r.Handler.Decisive)
	}
	// Tool output for people may contain invalid UTF-8.
	if err != nil && !errors.Is(err, errLong) && from == r.Server {
		repaired, again := parse(strictjson.Repair(line), r.Strict, r.Handler.Decisive)
		if again == nil && !r.Handler.Decisive(repaired.Method) {
			repaired.repaired = true
			return repaired, false
		}
	}
	if err != nil {
		return r.refuse(from, line, err)
	}
	return m, false
}

// refuse responds to an invalid line. For an invalid response, it returns an
// error for the side that waits for the response, and false.
func (r *Relay) refuse(from *Side, line []byte, cause error) (Message, bool) {
	side := "client"
	if from == r.Server {
		side = "server"
	}
	r.Log.Warn("invalid message dropped", "from", side, "error", cause)
	was := peek(line)
	if errors.Is(cause, errLong) {
		was = ends(line)
	}
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
		return Message{}, true // this may not be a message
	}
	if err := from.Write(m); err != nil {
		r.Log.Warn("refusal not sent", "to", side, "error", err)
	}
	return Message{}, true
}
