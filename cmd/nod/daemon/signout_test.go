package daemon_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// TestSignOutEndsConnections checks that signing out of the console ends a
// WebSocket and an event stream that are open, and that a call that waits no longer
// gets its answer.
func TestSignOutEndsConnections(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) { rig.Only("slack")(c); c.Console.Enabled = true }})
	ctx, cancel := context.WithTimeout(r.Ctx, await.Limit)
	defer cancel()
	url := r.Daemons[0].URL
	send := func(method, path, body, cookie string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(ctx, method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Cookie", cookie)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	signedIn := send("POST", "/console/login", `{"token":"`+rig.AnaToken+`"}`, "")
	signedIn.Body.Close()
	cookie := signedIn.Cookies()[0].Name + "=" + signedIn.Cookies()[0].Value
	rec, err := r.Agent.Open(ctx, bridge.Request{Ask: bridge.Ask{Prompt: "?"}}, "")
	if err != nil {
		t.Fatal(err)
	}

	//nolint:bodyclose // the library says that it never needs to be
	socket, _, err := websocket.Dial(ctx, strings.Replace(url, "http", "ws", 1)+"/v1/ws", &websocket.DialOptions{HTTPHeader: http.Header{"Cookie": {cookie}}})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.CloseNow()
	stream := send("GET", "/v1/events?after=0", "", cookie)
	defer stream.Body.Close()
	lines := bufio.NewReader(stream.Body)
	if first, err := lines.ReadString('\n'); err != nil || first != ": nod events\n" {
		t.Fatalf("%q, %v", first, err)
	}
	waited := make(chan int, 1)
	go func() {
		resp := send("GET", "/v1/interactions/"+string(rec.Interaction.ID)+"?wait=2s", "", cookie)
		resp.Body.Close()
		waited <- resp.StatusCode
	}()

	send("POST", "/console/logout", "", cookie).Body.Close()
	if err := socket.Write(ctx, websocket.MessageText, []byte(`{"type":"hello","interaction":{"supported":true,"enabled":true}}`)); err == nil {
		for err == nil {
			var frame []byte
			if _, frame, err = socket.Read(ctx); err == nil && !strings.Contains(string(frame), "the session has ended") {
				t.Errorf("after the sign-out, the socket sends %s", frame)
			}
		}
		if websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
			t.Errorf("the socket: %v", err)
		}
	}
	if _, err := io.Copy(io.Discard, lines); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the stream: %v", err)
	}
	if status := <-waited; status != http.StatusUnauthorized {
		t.Errorf("the call that waits: %d", status)
	}
}
