package discord

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/nodbridge/nod/platforms"
)

// TestReadyInTime checks that nod gives up a connection whose session does not become
// ready, and keeps one whose session is.
func TestReadyInTime(t *testing.T) {
	t.Parallel()
	for _, ready := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var work sync.WaitGroup
			defer work.Wait()
			c := &connection{
				g: &gateway{deaf: math.MaxInt64, health: &platforms.HealthBox{}, commands: &commands{registered: true}},
				s: &session{}, in: inbox{work: platforms.NewWork(&work)}, every: math.MaxInt64,
			}
			c.g.health.Log = slog.New(slog.DiscardHandler)
			c.acked.Store(time.Now().UnixNano())
			if ready {
				c.ready(t.Context())
			}
			ended := make(chan struct{})
			time.AfterFunc(2*openTimeout, func() { close(ended) })
			if gaveUp := c.beat(t.Context(), ended); gaveUp == ready {
				t.Errorf("ready: %v, and gave up: %v", ready, gaveUp)
			}
		})
	}
}

// TestHeartbeats checks that nod sends a heartbeat in each interval, and that it
// ends a connection on which no heartbeat is answered.
func TestHeartbeats(t *testing.T) {
	t.Parallel()
	const every, life = 40 * time.Second, time.Hour
	for _, answers := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			beats := 0
			conn := dialed(t, func(ws *websocket.Conn) {
				time.AfterFunc(life, func() { ws.Close(4000, "") })
				for f := (frame{}); wsjson.Read(t.Context(), ws, &f) == nil; {
					if f.Op != opHeartbeat {
						continue
					}
					if beats++; answers && wsjson.Write(t.Context(), ws, outgoing{Op: opHeartbeatAck}) != nil {
						t.Error("the answer does not arrive")
					}
				}
			})
			c := &connection{g: &gateway{deaf: defaultDeafAfter}, s: &session{}, conn: conn, every: every}
			c.live.Store(true)
			began := time.Now()
			err := c.serve(t.Context())
			conn.CloseNow()
			synctest.Wait()
			lasted := time.Since(began)
			if answers && (websocket.CloseStatus(err) != 4000 || beats < int(life/every)) {
				t.Errorf("after %v and %d heartbeats: %v", lasted, beats, err)
			}
			if !answers && (!errors.Is(err, errStalled) || lasted > defaultDeafAfter+every || beats < int(lasted/every)) {
				t.Errorf("without answers, after %v and %d heartbeats: %v", lasted, beats, err)
			}
		})
	}
}

// dialed returns a WebSocket connection to a handler in this process. It has
// no socket, so a bubble of synctest can wait for it.
func dialed(t *testing.T, handle func(*websocket.Conn)) *websocket.Conn {
	t.Helper()
	here, there := net.Pipe()
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ws, err := websocket.Accept(w, r, nil); err == nil {
			handle(ws)
			ws.CloseNow()
		}
	})}
	conns := make(pipes, 1)
	conns <- there
	go func() { _ = server.Serve(conns) }()
	t.Cleanup(func() { close(conns) })
	dial := func(context.Context, string, string) (net.Conn, error) { return here, nil }
	conn, _, err := websocket.Dial(t.Context(), "ws://gateway", &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: &http.Transport{DialContext: dial}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// pipes is a listener of connections in this process.
type pipes chan net.Conn

// Accept implements net.Listener.
func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

// Close implements net.Listener.
func (pipes) Close() error { return nil }

// Addr implements net.Listener.
func (pipes) Addr() net.Addr { return nil }
