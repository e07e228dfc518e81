package discord

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/google/uuid"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// Opcodes, intents and close codes of the gateway:
// docs.discord.com/developers/topics/opcodes-and-status-codes.
const (
	opHeartbeat      = 1
	opIdentify       = 2
	opResume         = 6
	opReconnect      = 7
	opInvalidSession = 9
	opHello          = 10
	opHeartbeatAck   = 11

	intentGuilds = 1 << 0

	closeDecode          = 4002
	closeAuthentication  = 4004
	closeAlreadyVerified = 4005
)

// revoked reports whether the service refuses the token of the bot.
func (e *Emulator) revoked() bool {
	e.Lock()
	reset := e.starts.reset
	e.Unlock()
	return reset || e.Has("revoke")
}

// session is a gateway session. It outlives its connection, so that a bot can
// resume it. The lock of the hub guards it.
type session struct {
	id      string
	intents int
	conn    *websocket.Conn
	seq     int
	events  []event
}

type event struct {
	Op int    `json:"op"`
	T  string `json:"t"`
	S  int    `json:"s"`
	D  any    `json:"d"`
}

type frame struct {
	Op int             `json:"op"`
	D  json.RawMessage `json:"d"`
}

func (e *Emulator) socket(rw http.ResponseWriter, r *http.Request) {
	if e.RefuseSocket(rw) {
		return
	}
	conn := core.AcceptSocket(rw, r)
	if conn == nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxFrame)
	ctx, cancel := context.WithCancel(e.Context())
	defer cancel()
	hello := raw.Object{"heartbeat_interval": e.opts.Heartbeat.Milliseconds()}
	if wsjson.Write(ctx, conn, raw.Object{"op": opHello, "d": hello}) != nil {
		return
	}
	e.Lock()
	e.gatewayURL = core.SocketAddress(r, "/discord/gateway")
	e.Unlock()
	var s *session
	ended := websocket.StatusCode(-1)
	for {
		var f frame
		if err := wsjson.Read(ctx, conn, &f); err != nil {
			ended = websocket.CloseStatus(err)
			break
		}
		if f.Op == opHeartbeat {
			if !e.Has("freeze") && wsjson.Write(ctx, conn, raw.Object{"op": opHeartbeatAck}) != nil {
				break
			}
			continue
		}
		next, code := e.frame(ctx, conn, s, f)
		if code != 0 {
			conn.Close(code, "")
			break
		}
		s = next
	}
	if s != nil {
		e.left(s, conn, ended)
	}
}

// left removes an ended connection from its session. If the bot closed it with
// 1000 or 1001, the session ends.
func (e *Emulator) left(s *session, conn *websocket.Conn, ended websocket.StatusCode) {
	e.Lock()
	defer e.Unlock()
	if s.conn == conn { // otherwise, the service closed the connection
		s.conn = nil
		if ended == websocket.StatusNormalClosure || ended == websocket.StatusGoingAway {
			delete(e.sessions, s.id)
		}
	}
	e.Touch()
}

// frame handles identify and resume. The caller closes the connection unless
// the code is 0.
func (e *Emulator) frame(
	ctx context.Context, conn *websocket.Conn, s *session, f frame,
) (*session, websocket.StatusCode) {
	var d struct {
		Token     string `json:"token"`
		Intents   int    `json:"intents"`
		SessionID string `json:"session_id"`
		Seq       int    `json:"seq"`
	}
	if f.Op != opIdentify && f.Op != opResume {
		return s, 0
	}
	if json.Unmarshal(f.D, &d) != nil {
		return nil, closeDecode
	}
	if d.Token != Token && d.Token != "Bot "+Token || e.revoked() {
		return nil, closeAuthentication
	}
	if f.Op == opIdentify {
		if s != nil {
			return nil, closeAlreadyVerified
		}
		return e.identify(ctx, conn, d.Intents)
	}
	if old := e.resume(ctx, conn, d.SessionID, d.Seq); old != nil {
		return old, 0
	}
	_ = wsjson.Write(ctx, conn, raw.Object{"op": opInvalidSession, "d": false}) // the connection may have ended
	return s, 0
}

// resume gives a session a new connection and sends the missed events. It
// returns nil if the session does not exist.
func (e *Emulator) resume(ctx context.Context, conn *websocket.Conn, id string, seq int) *session {
	e.Lock()
	defer e.Unlock()
	old := e.sessions[id]
	if old == nil {
		return nil
	}
	old.conn = conn
	for _, missed := range old.events {
		if missed.S > seq {
			old.write(ctx, missed)
		}
	}
	old.send(ctx, "RESUMED", raw.Object{})
	e.Touch()
	return old
}

// identify starts a session. A start that follows another too soon gets Invalid
// Session. Too many starts in a day cost the bot its token.
func (e *Emulator) identify(
	ctx context.Context, conn *websocket.Conn, intents int,
) (*session, websocket.StatusCode) {
	e.Lock()
	defer e.Unlock()
	defer e.Touch()
	if e.Limits.TakeIn("discord identify", startRate.calls, startRate.period) > 0 {
		_ = wsjson.Write(ctx, conn, raw.Object{"op": opInvalidSession, "d": false}) // the connection may have ended
		return nil, 0
	}
	if !e.started() {
		return nil, closeAuthentication
	}
	s := &session{id: uuid.NewString(), intents: intents, conn: conn}
	e.sessions[s.id] = s
	s.send(e.Context(), "READY", raw.Object{
		"v": 10, "user": botJSON(), "guilds": []any{raw.Object{"id": Guild, "unavailable": true}}, "session_id": s.id,
		"resume_gateway_url": e.gatewayURL, "application": raw.Object{"id": Application, "flags": 0}, "private_channels": []any{},
		"shard": []int{0, 1},
	})
	if intents&intentGuilds != 0 {
		s.send(e.Context(), "GUILD_CREATE", e.guildJSON())
	}
	return s, 0
}

// guildJSON returns the guild in the format of GUILD_CREATE. The caller holds
// the lock.
func (e *Emulator) guildJSON() raw.Object {
	return raw.Object{
		"id": Guild, "name": "Sandbox", "channels": e.textChannels(), "members": []any{}, "roles": e.rolesJSON(),
		"emojis": []any{}, "stickers": []any{}, "threads": []any{}, "presences": []any{}, "voice_states": []any{},
		"stage_instances": []any{}, "guild_scheduled_events": []any{}, "features": []any{},
		"member_count": len(e.Members), "owner_id": e.Members[0].ID, "joined_at": time.Now().UTC().Format(time.RFC3339),
	}
}

// send assigns a number to an event, keeps it for a resume, and sends it. The
// caller holds the lock.
func (s *session) send(ctx context.Context, t string, d any) {
	s.seq++
	e := event{T: t, S: s.seq, D: raw.Clone(d)}
	s.events = append(s.events, e)
	if len(s.events) > replayed {
		s.events = s.events[1:]
	}
	s.write(ctx, e)
}

func (s *session) write(ctx context.Context, e event) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if s.conn != nil && wsjson.Write(ctx, s.conn, e) != nil {
		s.conn = nil // the bot resumes
	}
}

// toSessions sends an event about a channel to the sessions with the necessary
// intent. The caller holds the lock.
func (e *Emulator) toSessions(ch *channel, t string, content func(s *session) raw.Object) {
	intent := intentMessages
	if ch.Kind == directChannel {
		intent = intentDirect
	}
	for _, s := range e.sessions {
		if s.intents&intent != 0 {
			s.send(e.Context(), t, content(s))
		}
	}
}

// dispatch sends an event about a message of a channel. The caller holds the
// lock.
func (e *Emulator) dispatch(t string, ch *channel, extra, m raw.Object) {
	e.toSessions(ch, t, func(s *session) raw.Object {
		d := visible(m, ch, s.intents)
		maps.Copy(d, extra)
		return d
	})
}

// connected returns the sessions that have a connection. The caller holds the
// lock.
func (e *Emulator) connected() []*session {
	return slices.DeleteFunc(slices.Collect(maps.Values(e.sessions)), func(s *session) bool { return s.conn == nil })
}

// unresumable lists the close codes that end a session.
var unresumable = []int{4004, 4007, 4009, 4010, 4011, 4012, 4013, 4014}

// Disconnect closes every gateway connection with a code. Zero asks the bot to
// reconnect.
func (e *Emulator) Disconnect(code int) error {
	e.Lock()
	var conns []*websocket.Conn
	for _, s := range e.connected() {
		conns = append(conns, s.conn)
		s.conn = nil
	}
	if slices.Contains(unresumable, code) {
		clear(e.sessions)
	}
	e.Unlock()
	for _, conn := range conns {
		if code == 0 {
			_ = wsjson.Write(e.Context(), conn, raw.Object{"op": opReconnect, "d": nil}) // the connection may have ended
			e.Part(conn)
			continue
		}
		conn.Close(websocket.StatusCode(code), "")
	}
	return nil
}

// starts counts the sessions that the bot has started. Discord resets the token
// of a bot that starts too many in a day:
// docs.discord.com/developers/events/gateway#session-start-limit-object.
type starts struct {
	used  int
	since time.Time // first start of the current period
	reset bool      // the service has reset the token
}

// startLimit returns the number of remaining starts, and the time until the
// next period. The caller holds the lock.
func (e *Emulator) startLimit() (left int, resets time.Duration) {
	if age := time.Since(e.starts.since); age < e.opts.StartsPer {
		return max(0, e.opts.Starts-e.starts.used), e.opts.StartsPer - age
	}
	return e.opts.Starts, e.opts.StartsPer
}

// started counts a start. It returns false if the token has been reset. The
// caller holds the lock.
func (e *Emulator) started() bool {
	if time.Since(e.starts.since) >= e.opts.StartsPer {
		e.starts.used, e.starts.since = 0, time.Now()
	}
	e.starts.used++
	if e.starts.used > e.opts.Starts {
		e.starts.reset = true
	}
	return !e.starts.reset
}

// gateway returns the address of the gateway and the session start limit. With
// the fault sessions, at most three starts remain.
func (e *Emulator) getGateway(c *call) any {
	left, resets := e.startLimit()
	if c.spent {
		left = min(left, 3)
	}
	return raw.Object{
		"url": core.SocketAddress(c.Request, "/discord/gateway"), "shards": 1,
		"session_start_limit": raw.Object{
			"total": e.opts.Starts, "remaining": left, "reset_after": resets.Milliseconds(), "max_concurrency": 1,
		},
	}
}
