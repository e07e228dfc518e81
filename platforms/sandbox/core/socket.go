package core

import (
	"net/http"

	"github.com/coder/websocket"
)

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
