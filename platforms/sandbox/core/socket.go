package core

import (
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// secure reports whether a request came over TLS, also to a proxy in front of the
// sandbox.
func secure(r *http.Request) bool {
	return r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"
}

// Address returns the address at which a request reached the sandbox.
func Address(r *http.Request) string {
	if secure(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// SocketAddress returns the WebSocket address of a path at which a request reached the
// sandbox.
func SocketAddress(r *http.Request, path string) string {
	if secure(r) {
		return "wss://" + r.Host + path
	}
	return "ws://" + r.Host + path
}

// partTime is the time that a bot has to close a connection itself.
const partTime = 2 * time.Second

// Part lets a bot close a connection that the service has asked it to leave. A
// connection that stays open is cut.
func (h *Hub) Part(conn *websocket.Conn) {
	go func() {
		Sleep(h.Context(), partTime)
		conn.CloseNow()
	}()
}

// RefuseSocket applies the fault refuse_connect to a new WebSocket connection
// and reports whether it refused the connection.
func (b *Base) RefuseSocket(w http.ResponseWriter) bool {
	if !b.Has("refuse_connect") {
		return false
	}
	http.Error(w, "no", http.StatusServiceUnavailable)
	return true
}

// AcceptSocket opens a WebSocket connection of a bot. If that fails, it answers
// the request with an error and returns nil.
func AcceptSocket(w http.ResponseWriter, r *http.Request) *websocket.Conn {
	// SDKs send no Origin header of this server.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return nil
	}
	return conn
}
