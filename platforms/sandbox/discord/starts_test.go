package discord_test

import (
	"context"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/sandbox/discord"
)

// socket is a gateway connection after Hello.
type socket struct {
	t    *testing.T
	conn *websocket.Conn
}

func (d *bench) socket() socket {
	d.T.Helper()
	conn, _, err := websocket.Dial(d.T.Context(), "ws"+strings.TrimPrefix(d.URL, "http")+"/discord/gateway/?v=10", nil)
	if err != nil {
		d.T.Fatal(err)
	}
	d.T.Cleanup(func() { conn.CloseNow() })
	s := socket{d.T, conn}
	if hello, err := s.next(); err != nil || hello["op"] != 10.0 {
		d.T.Fatal(hello, err)
	}
	return s
}

func (s socket) send(op int, d map[string]any) {
	s.t.Helper()
	if err := wsjson.Write(s.t.Context(), s.conn, map[string]any{"op": op, "d": d}); err != nil {
		s.t.Fatal(err)
	}
}

func (s socket) next() (map[string]any, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), await.Limit)
	defer cancel()
	var v map[string]any
	return v, wsjson.Read(ctx, s.conn, &v)
}

// identify starts a session and returns its first event.
func (s socket) identify() map[string]any {
	s.t.Helper()
	s.send(2, map[string]any{"token": discord.Token, "intents": 0})
	v, err := s.next()
	if err != nil {
		return map[string]any{"closed": int(websocket.CloseStatus(err))}
	}
	return v
}

// TestStartLimit checks that starts are counted, and that a bot which starts
// too many sessions loses its token.
func TestStartLimit(t *testing.T) {
	t.Parallel()
	d := newDesk(t, discord.Options{Starts: 2}, false)
	for left := 2; left > 0; left-- {
		if gw, err := d.bot.GatewayBot(); err != nil || gw.SessionStartLimit.Remaining != left {
			t.Fatalf("%d starts should be left: %+v %v", left, gw, err)
		}
		if v := d.socket().identify(); v["t"] != "READY" {
			t.Fatalf("got %v", v)
		}
	}
	if v := d.socket().identify(); v["closed"] != 4004 || !d.state().TokenReset {
		t.Errorf("one too many: %v", v)
	}
	if _, err := d.bot.User("@me"); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("the token was reset, but a request got %v", err)
	}
}

// TestStartRate checks that a second session within five seconds is invalid.
func TestStartRate(t *testing.T) {
	t.Parallel()
	d := newDesk(t, discord.Options{}, true)
	if v := d.socket().identify(); v["t"] != "READY" {
		t.Fatalf("got %v", v)
	}
	if v := d.socket().identify(); v["op"] != 9.0 || v["d"] != false {
		t.Errorf("got %v, want Invalid Session", v)
	}
}

// TestSessionEnds checks which ends of a connection end the session too.
func TestSessionEnds(t *testing.T) {
	t.Parallel()
	d := newDesk(t, discord.Options{}, false)
	for name, x := range map[string]struct {
		end  func(socket)
		kept bool
	}{
		"the bot drops it":         {func(s socket) { s.conn.CloseNow() }, true},
		"the bot closes with 4000": {func(s socket) { s.conn.Close(4000, "") }, true},
		"the bot closes with 1000": {func(s socket) { s.conn.Close(1000, "") }, false},
		"the bot closes with 1001": {func(s socket) { s.conn.Close(1001, "") }, false},
		"a reconnect":              {func(socket) { _ = d.e.Disconnect(0) }, true},
		"it ends with 4000":        {func(socket) { _ = d.e.Disconnect(4000) }, true},
		"it ends with 4009":        {func(socket) { _ = d.e.Disconnect(4009) }, false},
	} {
		s := d.socket()
		ready, _ := s.identify()["d"].(map[string]any)
		if url, _ := ready["resume_gateway_url"].(string); !strings.HasPrefix(url, "ws://") {
			t.Fatalf("%s: resume at %q", name, url)
		}
		ended := make(chan struct{})
		go func() { // a close waits for the peer
			defer close(ended)
			x.end(s)
		}()
		for err := error(nil); err == nil; {
			_, err = s.next()
		}
		<-ended
		d.Eventually("the connection ends", func() bool { return d.state().Connections == 0 })
		again := d.socket()
		again.send(6, map[string]any{"token": discord.Token, "session_id": ready["session_id"], "seq": 1})
		v, err := again.next()
		if resumed := v["t"] == "RESUMED"; err != nil || resumed != x.kept {
			t.Errorf("%s: resumed with %v, %v", name, v, err)
		}
		again.conn.Close(1000, "")
		d.Eventually("the connection ends", func() bool { return d.state().Connections == 0 })
	}
}
