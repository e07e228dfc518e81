package api

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/engine"
)

const (
	wsFrame  = 1 << 20 // size limit of a frame in bytes, the same as for a body
	wsAtOnce = 64      // maximum number of waiting requests of a connection
	wsWrite  = 10 * time.Second
	// wsPing is the time between pings. It is shorter than the time after which
	// common proxies close a silent connection.
	wsPing       = 20 * time.Second
	wsPatience   = 10 * time.Second // time limit for the response to a ping
	wsProtocol   = "nod"
	wsTokenStart = "bearer." // prefix of a subprotocol that carries a token, for browsers
	// wsEncodedStart is the prefix of a subprotocol that carries the token as
	// base64url, because the name of a subprotocol cannot contain colons or
	// spaces.
	wsEncodedStart = "bearer64."
)

// websocket is the entry point for agents and for front ends that respond. The
// token determines which of the two a connection is.
func (s streams) websocket(w http.ResponseWriter, r *http.Request, p Principal) error {
	requestRead(w)
	if err := s.origins.admit(r); err != nil {
		return err
	}
	ws, err := websocket.Accept(smallBuffers{w}, r, &websocket.AcceptOptions{
		Subprotocols: []string{wsProtocol}, InsecureSkipVerify: true, // admit has checked the origin
	})
	if err != nil {
		return nil // Accept has already responded
	}
	ws.SetReadLimit(wsFrame)
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	c := &wsConn{s: s, p: p, ws: ws, still: still(r.Context()), id: uuid.NewString(), slots: make(chan struct{}, wsAtOnce)}
	// The handler returns, so that net/http releases its buffers and the request.
	go c.serve(ctx, cancel)
	return nil
}

// serve serves a connection until it ends.
func (c *wsConn) serve(ctx context.Context, cancel context.CancelFunc) {
	defer c.contain()
	defer c.ws.CloseNow()
	defer cancel()
	stop := context.AfterFunc(c.s.closing, func() { _ = c.ws.Close(websocket.StatusGoingAway, "the daemon is stopping") })
	defer stop()
	if c.still != nil {
		c.work.Go(func() { c.check(ctx) })
	}
	c.run(ctx, cancel)
}

// check closes the connection once its session has ended, until ctx ends.
func (c *wsConn) check(ctx context.Context) {
	for bridge.Pause(ctx, stillEvery) {
		if !c.still() {
			_ = c.ws.Close(websocket.StatusPolicyViolation, errSignedOut.Message)
			return
		}
	}
}

// contain recovers from a panic, as net/http does. Deferred functions have to
// call it.
func (c *wsConn) contain() {
	if p := recover(); p != nil {
		c.s.log.Error("a WebSocket panicked", "panic", fmt.Sprint(p))
	}
}

// wsBuffer is the size of each of a connection's two buffers, in bytes. Larger
// frames bypass them.
const wsBuffer = 256

// smallBuffers is a ResponseWriter whose Hijack returns small buffers.
type smallBuffers struct{ http.ResponseWriter }

// Hijack implements http.Hijacker.
func (w smallBuffers) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, large, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return conn, large, err
	}
	sent, err := large.Reader.Peek(large.Reader.Buffered())
	if err != nil {
		return conn, large, err
	}
	// Accept first reads the buffer, and then the connection.
	in := bufio.NewReaderSize(bytes.NewReader(bytes.Clone(sent)), max(wsBuffer, len(sent)))
	_, _ = in.Peek(len(sent)) // fills the buffer
	return conn, bufio.NewReadWriter(in, bufio.NewWriterSize(conn, wsBuffer)), nil
}

// tokenFromProtocol moves a token from the subprotocols, the only place where a
// browser can send it, to the Authorization header.
func tokenFromProtocol(r *http.Request) {
	if r.Header.Get("Authorization") != "" {
		return
	}
	for _, v := range strings.Split(strings.Join(r.Header.Values("Sec-WebSocket-Protocol"), ","), ",") {
		v = strings.TrimSpace(v)
		if t, ok := strings.CutPrefix(v, wsTokenStart); ok {
			r.Header.Set("Authorization", "Bearer "+t)
		}
		if t, ok := strings.CutPrefix(v, wsEncodedStart); ok {
			if raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(t, "=")); err == nil {
				r.Header.Set("Authorization", "Bearer "+string(raw))
			}
		}
	}
}

// wsConn is one connection.
type wsConn struct {
	s     streams
	p     Principal
	ws    *websocket.Conn
	id    string
	slots chan struct{}
	still func() bool // returned by still
	work  sync.WaitGroup

	mu sync.Mutex
	place
	ping *time.Timer                   // timer of the next ping
	told map[string]bool               // messages that the agent has received, by session and ID
	late map[string]map[bridge.ID]bool // deferred requests, by session
}

// place holds the session of a connection. The zero value is the place before hello.
type place struct {
	greeted bool   // hello was sent
	session string // empty means all sessions, for a front end
	enabled bool   // a front end may answer
	follow  context.CancelFunc
}

// frame holds the fields that all frames share.
type frame struct {
	Type           string `json:"type"`
	ID             string `json:"id"`
	SessionID      string `json:"sessionId"`
	ConversationID string `json:"conversation_id"`
	InteractionID  string `json:"interactionId"` // nod's ID, in an answer
	Route          string `json:"route"`
	Caller         string `json:"caller"` // see bridge.CallID

	Timeout            bridge.Duration  `json:"timeout"`
	Grace              bridge.Duration  `json:"grace"`
	OnTimeout          bridge.OnTimeout `json:"on_timeout"`
	CancelOnDisconnect *bool            `json:"cancel_on_disconnect"`
	OneAtATime         *bool            `json:"one_at_a_time"`

	Payload json.RawMessage `json:"payload"`

	own string // ID in errors: the ID of the frame, or the ID in its format
}

func (f frame) sessionOr(fallback string) string {
	for _, s := range []string{f.SessionID, f.ConversationID} {
		if s != "" {
			return s
		}
	}
	return fallback
}

// run reads frames until the connection ends.
func (c *wsConn) run(ctx context.Context, cancel context.CancelFunc) {
	c.pingLater(ctx, cancel)
	defer c.work.Wait()
	defer c.leave()
	defer c.stopPings()
	defer cancel()
	for {
		kind, b, err := c.ws.Read(ctx)
		if err != nil {
			return
		}
		c.take(ctx, kind, b)
	}
}

// take decodes and handles a frame.
func (c *wsConn) take(ctx context.Context, kind websocket.MessageType, b []byte) {
	if kind != websocket.MessageText {
		c.fail(ctx, failure{}, bridge.Errorf(bridge.CodeInvalid, "frame: must be text"))
		return
	}
	var f frame
	if err := dialect.Decode("frame", b, &f); err != nil {
		c.fail(ctx, failure{}, err)
		return
	}
	f.own = f.ownID(b)
	if c.still != nil && !c.still() { // the session may have ended since the last check
		c.fail(ctx, failure{ID: f.own}, errSignedOut)
		return
	}
	if err := c.handle(ctx, f, b); err != nil {
		c.fail(ctx, failure{ID: f.own}, err)
	}
}

// keepAlive sends pings and records that the front end is still connected. It
// runs on a timer, so that an idle connection does not occupy a goroutine.
func (c *wsConn) keepAlive(ctx context.Context, cancel context.CancelFunc) {
	ping, stop := context.WithTimeout(ctx, wsPatience)
	err := c.ws.Ping(ping)
	stop()
	if err != nil {
		cancel()
		return
	}
	if err := c.join(ctx); err != nil && ctx.Err() == nil {
		c.s.log.Warn("presence not recorded", "error", err)
	}
	c.pingLater(ctx, cancel)
}

// pingLater runs keepAlive when the next ping is due, unless ctx has ended by
// then.
func (c *wsConn) pingLater(ctx context.Context, cancel context.CancelFunc) {
	every := wsPing
	if c.p.Agent == nil {
		every = min(every, engine.PresenceTTL/3)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() == nil {
		c.ping = time.AfterFunc(every, func() { c.keepAlive(ctx, cancel) })
	}
}

// stopPings is called after the context of the connection has ended.
func (c *wsConn) stopPings() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ping.Stop()
}

func (c *wsConn) handle(ctx context.Context, f frame, b []byte) error {
	if c.p.Agent != nil {
		return c.handleAgent(ctx, f, b)
	}
	return c.handlePerson(ctx, f, b)
}

// send writes a frame and reports whether it succeeded. If it fails, the connection
// ends. It does not end with ctx, because a canceled write ends the connection, and a
// front end that greets another session cancels only what follows the first one.
func (c *wsConn) send(ctx context.Context, v any) bool {
	b, err := dialect.Encode(v)
	if err != nil {
		c.s.log.Error("frame not written", "error", err)
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), wsWrite)
	defer cancel()
	return c.ws.Write(ctx, websocket.MessageText, b) == nil
}

// failure is the response to an invalid frame or to one that could not be
// handled.
type failure struct {
	Type     string `json:"type"`
	ID       string `json:"id,omitempty"`
	WidgetID string `json:"widgetId,omitempty"` // the index of the widget, if a text contains several
	// InteractionID is the request that closed without an answer, for front
	// ends.
	InteractionID bridge.ID     `json:"interactionId,omitempty"`
	Error         *bridge.Error `json:"error"`
}

// ownID returns the ID of a frame, or the ID in its format.
func (f frame) ownID(b []byte) string {
	var own struct {
		ToolCallID string `json:"toolCallId"`
		Call       string `json:"callId"`
		CallID     string `json:"tool_call_id"`
		ToolUseID  string `json:"tool_use_id"`
		Payload    struct {
			WidgetID  string `json:"widgetId"`
			RequestID string `json:"request_id"`
		} `json:"payload"`
	}
	_ = json.Unmarshal(b, &own) // a value that cannot be decoded is not an ID
	p := own.Payload
	return cmp.Or(f.ID, p.WidgetID, p.RequestID, f.InteractionID, own.ToolCallID, own.Call, own.CallID, own.ToolUseID)
}

// fail sends the reason that a frame failed, with the ID of the frame.
func (c *wsConn) fail(ctx context.Context, f failure, err error) {
	if code := bridge.ErrorCode(err); code == bridge.CodeInternal || code == bridge.CodeUnavailable {
		c.s.log.Error("frame failed", "error", err)
	}
	f.Type, f.Error = "error", bridge.PublicError(err)
	f.Error.Message, f.Error.Hint = c.s.redact(f.Error.Message), c.s.redact(f.Error.Hint)
	c.send(ctx, f)
}

// leave stops following the session, and stops counting the front end.
func (c *wsConn) leave() {
	was := c.moveTo(place{})
	ctx, cancel := context.WithTimeout(context.Background(), abandonTimeout)
	defer cancel()
	c.left(ctx, was)
}

// enter follows a session with f, counts the front end there, and leaves the
// previous session. The front end counts in one of the sessions at every moment, so
// that a second hello does not end requests that need a front end.
func (c *wsConn) enter(ctx context.Context, session string, enabled bool, f func(context.Context)) error {
	following, cancel := context.WithCancel(ctx)
	was := c.moveTo(place{greeted: true, session: session, enabled: enabled, follow: cancel})
	c.work.Go(func() { f(following) })
	if err := c.join(ctx); err != nil {
		return err
	}
	c.left(ctx, was)
	return nil
}

// moveTo changes the place, and stops following the session of the previous one.
func (c *wsConn) moveTo(next place) (was place) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was, c.place = c.place, next
	if was.follow != nil {
		was.follow()
	}
	return was
}

// left stops counting the front end in the session of a former place, unless it is in
// that session again.
func (c *wsConn) left(ctx context.Context, was place) {
	if !was.greeted || c.p.Agent != nil {
		return
	}
	greeted, _ := c.mode()
	if session, _ := c.state(); !greeted || session != was.session {
		if err := c.s.engine.Sessions.Leave(ctx, was.session, c.id); err != nil {
			c.s.log.Warn("front end not removed; it counts as connected until its entry expires", "error", err)
		}
	}
	c.s.releaseUnattended(ctx, was.session)
}

func (c *wsConn) state() (session string, enabled bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session, c.enabled
}

// mode returns whether the front end has said hello, and whether it may answer.
func (c *wsConn) mode() (greeted, enabled bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.greeted, c.enabled
}

// join counts the front end as a connection of the person.
func (c *wsConn) join(ctx context.Context) error {
	session, enabled := c.state()
	if greeted, _ := c.mode(); !greeted || c.p.Agent != nil {
		return nil
	}
	return c.s.engine.Sessions.Join(ctx, session, c.id, enabled)
}
