package relay_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/nodbridge/nod/bridge/relay"
)

// appServer is the other end of a connection of a Companion.
type appServer struct {
	t    *testing.T
	in   chan []byte // messages for the Companion
	out  chan string // messages of the Companion
	lost chan struct{}
	done chan error
}

func (s *appServer) Read(ctx context.Context) ([]byte, error) {
	select {
	case b := <-s.in:
		return b, nil
	case <-s.lost:
		return nil, io.ErrUnexpectedEOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *appServer) Write(_ context.Context, b []byte) error {
	s.out <- string(b)
	return nil
}

// says sends a message to the Companion.
func (s *appServer) says(format string, args ...any) {
	s.in <- fmt.Appendf(nil, format, args...)
	synctest.Wait()
}

// hears returns the next message of the Companion, or "" if there is none.
func (s *appServer) hears() string {
	synctest.Wait()
	select {
	case m := <-s.out:
		return m
	default:
		return ""
	}
}

// expects fails the test unless the next message of the Companion has a text.
func (s *appServer) expects(text string) {
	s.t.Helper()
	if got := s.hears(); text == "" && got != "" || !strings.Contains(got, text) {
		s.t.Errorf("the server hears %q, want %q", got, text)
	}
}

// lose ends the connection.
func (s *appServer) lose() {
	close(s.lost)
	<-s.done
	synctest.Wait()
}

// posted is a card.
type posted struct {
	ctx      context.Context
	answer   chan string
	received bool
	late     bool
}

// companion is a Companion whose cards a test answers.
type companion struct {
	*relay.Companion
	t     *testing.T
	cards []*posted
}

func newCompanion(t *testing.T) *companion {
	c := &companion{t: t}
	c.Companion = relay.NewCompanion(relay.CompanionOptions{
		Ask: func(ctx context.Context, _ []byte) (relay.Reply, error) {
			p := &posted{ctx: ctx, answer: make(chan string)}
			c.cards = append(c.cards, p)
			select {
			case a := <-p.answer:
				if a == "" {
					return relay.Reply{}, errors.New("no one answered")
				}
				return relay.Reply{Result: json.RawMessage(a), Received: func(context.Context) { p.received = true }, Late: func(context.Context) { p.late = true }}, nil
			case <-ctx.Done():
				return relay.Reply{}, ctx.Err()
			}
		},
		Attached: func(string) {},
		Log:      slog.New(slog.DiscardHandler),
	})
	return c
}

// connect attaches a server with a thread that waits.
func (c *companion) connect() *appServer {
	c.t.Helper()
	s := c.dial()
	s.expects(`"method":"initialize"`)
	s.says(`{"id":1,"result":{"userAgent":"codex-tui/0.169.0 (x)"}}`)
	s.expects(`"method":"initialized"`)
	s.expects(`"method":"thread/loaded/list"`)
	s.says(`{"id":2,"result":{"data":["T"]}}`)
	s.expects(`"method":"thread/read","params":{"threadId":"T"}`)
	s.says(`{"id":3,"result":{"thread":{"id":"T","ephemeral":false,"threadSource":"user",` +
		`"status":{"type":"active","activeFlags":["waitingOnApproval"]}}}}`)
	s.expects(`"method":"thread/resume","params":{"threadId":"T"}`)
	s.says(`{"id":4,"result":{"thread":{"turns":[]}}}`)
	return s
}

func (c *companion) dial() *appServer {
	s := &appServer{t: c.t, in: make(chan []byte), out: make(chan string, 100), lost: make(chan struct{}), done: make(chan error, 1)}
	go func() { s.done <- c.Attach(c.t.Context(), s) }()
	synctest.Wait()
	return s
}

// withdrawn returns the reason that a card was withdrawn with.
func (p *posted) withdrawn() string {
	synctest.Wait()
	if cause := context.Cause(p.ctx); cause != nil {
		return cause.Error()
	}
	return ""
}

// race runs a test with a Companion in a bubble with its own clock.
func race(t *testing.T, f func(t *testing.T, c *companion)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := newCompanion(t)
		f(t, c)
		c.Close()
	})
}

// connectLost posts a card for the request with ID 0 and loses the connection.
func (c *companion) connectLost(t *testing.T) {
	t.Helper()
	s := c.connect()
	s.says(wants, 0, "T", "c")
	if len(c.cards) != 1 {
		t.Fatalf("%d cards", len(c.cards))
	}
	s.lose()
}
