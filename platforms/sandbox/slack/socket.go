package slack

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/google/uuid"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

const pingEvery = 5 * time.Second

// socket is one Socket Mode connection.
type socket struct {
	conn *websocket.Conn
	mu   sync.Mutex
	acks map[string]chan json.RawMessage // nil after the end of the connection
}

// connectionsOpen is the method apps.connections.open.
func (e *Emulator) connectionsOpen(raw.Object) raw.Object {
	ticket := uuid.NewString()
	e.tickets[ticket] = true
	q := url.Values{"ticket": {ticket}, "app_id": {app}}
	return raw.Object{"url": "ws" + strings.TrimPrefix(e.address, "http") + "/slack/socket?" + q.Encode()}
}

func (e *Emulator) socket(rw http.ResponseWriter, r *http.Request) {
	if e.RefuseSocket(rw) {
		return
	}
	e.Lock()
	ticket := r.URL.Query().Get("ticket")
	known := e.tickets[ticket]
	delete(e.tickets, ticket)
	n := len(e.sockets)
	e.Unlock()
	if !known || n >= maxSockets {
		http.Error(rw, "invalid ticket", http.StatusForbidden)
		return
	}
	conn := core.AcceptSocket(rw, r)
	if conn == nil {
		return
	}
	defer conn.CloseNow()
	ctx, cancel := context.WithCancel(e.Context())
	defer cancel()
	s := &socket{conn: conn, acks: map[string]chan json.RawMessage{}}
	if e.greet(ctx, s, n+1) != nil {
		return
	}
	defer e.forget(s)
	go s.ping(ctx, cancel)
	s.read(ctx)
}

// greet tells the app that it is connected. After this, the connection gets
// events and can be ended.
func (e *Emulator) greet(ctx context.Context, s *socket, connections int) error {
	e.Lock()
	defer e.Unlock()
	err := wsjson.Write(ctx, s.conn, raw.Object{
		"type": "hello", "num_connections": connections, "connection_info": raw.Object{"app_id": app},
		"debug_info": raw.Object{"host": "applink-sandbox", "build_number": 1, "approximate_connection_time": 3600},
	})
	if err == nil {
		e.sockets[s] = true
		e.Touch()
	}
	return err
}

func (e *Emulator) forget(s *socket) {
	e.Lock()
	defer e.Unlock()
	delete(e.sockets, s)
	e.Touch()
}

func (s *socket) ping(ctx context.Context, cancel func()) {
	defer cancel()
	for s.conn.Ping(ctx) == nil && core.Sleep(ctx, pingEvery) {
	}
}

// read receives acknowledgments until the connection ends. The app acknowledges
// nothing after that.
func (s *socket) read(ctx context.Context) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, ch := range s.acks {
			close(ch)
		}
		s.acks = nil
	}()
	for {
		var ack struct {
			ID      string          `json:"envelope_id"`
			Payload json.RawMessage `json:"payload"`
		}
		if err := wsjson.Read(ctx, s.conn, &ack); err != nil {
			return
		}
		if len(ack.Payload) >= maxAck {
			continue
		}
		s.mu.Lock()
		ch := s.acks[ack.ID]
		delete(s.acks, ack.ID)
		s.mu.Unlock()
		if ch != nil {
			ch <- ack.Payload
		}
	}
}

// expect returns a channel that gets the acknowledgment of an envelope, and is
// closed at the end of the connection. It returns nil if the connection has
// ended.
func (s *socket) expect(envelope string) <-chan json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.acks == nil {
		return nil
	}
	ch := make(chan json.RawMessage, 1)
	s.acks[envelope] = ch
	return ch
}

// all returns the open sockets. The caller holds the lock.
func (e *Emulator) all() []*socket {
	var out []*socket
	for s := range e.sockets {
		out = append(out, s)
	}
	return out
}

func (e *Emulator) overSocket(ctx context.Context, payload raw.Object) (json.RawMessage, error) {
	e.Lock()
	all := e.all()
	e.turn++
	turn := e.turn
	e.Unlock()
	id := uuid.NewString()
	kind, accepts := "interactive", payload["type"] == "view_submission"
	if payload["type"] == "event_callback" {
		kind = "events_api"
	}
	if payload["command"] != nil {
		kind, accepts = "slash_commands", true
	}
	envelope := raw.Object{"type": kind, "envelope_id": id, "payload": payload, "accepts_response_payload": accepts}
	for n := range all {
		s := all[(turn+n)%len(all)] // Slack guarantees no order
		ch := s.expect(id)
		if ch == nil || wsjson.Write(ctx, s.conn, envelope) != nil {
			continue // the app has disconnected
		}
		select {
		case answer, ok := <-ch:
			if !ok {
				return nil, core.ErrNoReceiver
			}
			return answer, nil
		case <-ctx.Done():
			return nil, core.ErrNoAnswer
		}
	}
	return nil, core.ErrNoReceiver
}

// disconnect tells the app the reason and closes every socket. Slack sends a
// close frame.
func (e *Emulator) disconnect(ctx context.Context, reason string) {
	e.Lock()
	all := e.all()
	e.Unlock()
	for _, s := range all {
		notice := raw.Object{"type": "disconnect", "reason": reason, "debug_info": raw.Object{"host": "applink-sandbox"}}
		_ = wsjson.Write(ctx, s.conn, notice) // the connection may have ended
		go s.conn.Close(websocket.StatusNormalClosure, "")
	}
}
