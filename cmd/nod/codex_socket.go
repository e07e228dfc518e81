package main

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/coder/websocket"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/relay"
	"github.com/nodbridge/nod/render"
)

const (
	codexDialTime = 10 * time.Second
	// maxCodexMessage limits a message of Codex, in bytes. The longest message
	// contains the history of a thread.
	maxCodexMessage = 64 << 20
)

// codexConn is a WebSocket over the socket of codex app-server. It implements
// relay.Conn.
type codexConn struct{ ws *websocket.Conn }

// dialCodex connects to the app server. Only the owner of the server can open
// the socket.
func dialCodex(ctx context.Context, socket string) (codexConn, error) {
	path, err := filepath.EvalSymlinks(socket) // Codex replaces the link when it restarts
	if err != nil {
		return codexConn{}, codexAway(err)
	}
	ctx, cancel := context.WithTimeout(ctx, codexDialTime)
	defer cancel()
	var d net.Dialer
	t := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return d.DialContext(ctx, "unix", path) }}
	ws, resp, err := websocket.Dial(ctx, "ws://codex/", &websocket.DialOptions{HTTPClient: &http.Client{Transport: t}})
	switch {
	case err != nil && resp != nil:
		return codexConn{}, bridge.
			Errorf(bridge.CodeUnsupported, "cannot work with this version of Codex: its socket returned %s instead of opening a WebSocket", resp.Status).
			WithHint("update nod and Codex; until then, use the hook: nod init codex")
	case err != nil:
		return codexConn{}, codexAway(err)
	}
	ws.SetReadLimit(maxCodexMessage)
	return codexConn{ws}, nil
}

// codexAway returns the error for a socket without a server.
func codexAway(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return bridge.Errorf(bridge.CodeUnavailable, "its app server is not running; codex starts it")
	}
	return bridge.Wrap(bridge.CodeUnavailable, err, "cannot connect to its app server")
}

// checkInstalledCodex returns CodeUnsupported if no app server has run yet, and
// the codex on the PATH is too old to start one.
func checkInstalledCodex(ctx context.Context, socket string) error {
	if _, err := os.Stat(socket); err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, codexDialTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, "codex", "--version").Output()
	if version, _, _ := strings.Cut(string(out), "\n"); err == nil && relay.TooOldCodex(version) {
		return bridge.
			Errorf(bridge.CodeUnsupported, "cannot work with %s: it starts no app server, and nod works with %s and later",
				render.Line(version), relay.OldestCodex).
			WithHint("update Codex; until then, use the hook: nod init codex")
	}
	return nil
}

// Read implements relay.Conn.
func (c codexConn) Read(ctx context.Context) ([]byte, error) {
	_, b, err := c.ws.Read(ctx)
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeUnavailable, err, "the connection to its app server was lost")
	}
	return b, nil
}

// Write implements relay.Conn.
func (c codexConn) Write(ctx context.Context, message []byte) error {
	return c.ws.Write(ctx, websocket.MessageText, message)
}

func (c codexConn) close() { _ = c.ws.CloseNow() }
