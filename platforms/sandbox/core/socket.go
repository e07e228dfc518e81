package core

import (
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// secure reports whether a request used TLS, including TLS to a proxy in front
// of the sandbox.
func secure(r *http.Request) bool {
	return r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"
}

// Address returns the base address of the sandbox in a request.
func Address(r *http.Request) string {
	if secure(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// SocketAddress returns the WebSocket address of a path, based on the address
// in a request.
func SocketAddress(r *http.Request, path string) string {
	if secure(r) {
		return "wss://" + r.Host + path
	}
	return "ws://" + r.Host + path
}

// partTime is the time that a bot has to close a connection itself.
const partTime = 2 * time.Second

// Part waits for a bot to close a connection that the service has asked it to
// leave. It cuts a connection that stays open.
func (h *Hub) Part(conn *websocket.Conn) {
	go func() {
		Sleep(h.Context(), partTime)
		conn.CloseNow()
	}()
}

// RefuseSocket applies the fault refuse_connect to a new WebSocket connection,
// and reports whether it refused the connection.
func (b *Base) RefuseSocket(w http.ResponseWriter) bool {
	if !b.Has("refuse_connect") {
		return false
	}
	http.Error(w, "no", http.StatusServiceUnavailable)
	return true
}

// AcceptSocket opens a WebSocket connection with a bot. If that fails, it
// responds with an error and returns nil.
func AcceptSocket(w http.ResponseWriter, r *http.Request) *websocket.Conn {
	// SDKs do not send an Origin header that matches this server.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return nil
	}
	return conn
}
