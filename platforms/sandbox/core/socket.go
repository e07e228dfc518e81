package core

import (
	"net/http"

	"github.com/coder/websocket"
)

// RefuseSocket refuses a new WebSocket connection if a fault says so, and
// reports whether it did.
func (b *Base) RefuseSocket(w http.ResponseWriter) bool {
	if !b.Has("refuse_connect") {
		return false
	}
	http.Error(w, "no", http.StatusServiceUnavailable)
	return true
}

// AcceptSocket opens a WebSocket connection of a bot. It returns nil after it
// has answered the request with an error.
func AcceptSocket(w http.ResponseWriter, r *http.Request) *websocket.Conn {
	// SDKs send no origin of ours.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return nil
	}
	return conn
}
