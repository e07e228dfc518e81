package discord

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
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

// gateway serves the sessions of the bot. The lock of the hub guards it.
type gateway struct {
	*guild
	sessions map[string]*session
	url      string // address of the last connection; bots resume there
}

// revoked reports whether the service refuses the token of the bot.
func (g *guild) revoked() bool {
	g.Lock()
	reset := g.starts.reset
	g.Unlock()
	return reset || g.Has("revoke")
}

// session is a gateway session. It outlives its connection, so that a bot can
// resume it.
type session struct {
	id      string
	intents int
	mu      sync.Mutex // guards the fields below; never lock the hub while holding it
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

func (gw *gateway) serve(rw http.ResponseWriter, r *http.Request) {
	if gw.RefuseSocket(rw) {
		return
	}
	conn := core.AcceptSocket(rw, r)
	if conn == nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxFrame)
	ctx, cancel := context.WithCancel(gw.Context())
	defer cancel()
	hello := raw.Object{"heartbeat_interval": gw.opts.Heartbeat.Milliseconds()}
	if wsjson.Write(ctx, conn, raw.Object{"op": opHello, "d": hello}) != nil {
		return
	}
	gw.Lock()
	gw.url = core.SocketAddress(r, "/discord/gateway")
	gw.Unlock()
	var s *session
	ended := websocket.StatusCode(-1)
	for {
		var f frame
		if err := wsjson.Read(ctx, conn, &f); err != nil {
			ended = websocket.CloseStatus(err)
			break
		}
		if f.Op == opHeartbeat {
			if !gw.Has("freeze") && wsjson.Write(ctx, conn, raw.Object{"op": opHeartbeatAck}) != nil {
				break
			}
			continue
		}
		next, code := gw.frame(ctx, conn, s, f)
		if code != 0 {
			conn.Close(code, "")
			break
		}
		s = next
	}
	if s != nil {
		gw.left(s, conn, ended)
	}
}

// left removes an ended connection from its session. If the bot closed it with
// 1000 or 1001, the session ends.
func (gw *gateway) left(s *session, conn *websocket.Conn, ended websocket.StatusCode) {
	gw.Lock()
	defer gw.Unlock()
	s.mu.Lock()
	if s.conn == conn { // otherwise, the service closed the connection
		s.conn = nil
		if ended == websocket.StatusNormalClosure || ended == websocket.StatusGoingAway {
			delete(gw.sessions, s.id)
		}
	}
	s.mu.Unlock()
	gw.Touch()
}

// frame handles identify and resume. The caller closes the connection unless
// the code is 0.
func (gw *gateway) frame(
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
	if d.Token != Token && d.Token != "Bot "+Token || gw.revoked() {
		return nil, closeAuthentication
	}
	if f.Op == opIdentify {
		if s != nil {
			return nil, closeAlreadyVerified
		}
		return gw.identify(ctx, conn, d.Intents)
	}
	if old := gw.resume(ctx, conn, d.SessionID, d.Seq); old != nil {
		return old, 0
	}
	_ = wsjson.Write(ctx, conn, raw.Object{"op": opInvalidSession, "d": false}) // the connection may have ended
	return s, 0
}

// resume gives a session a new connection and sends the missed events. It
// returns nil if the session does not exist.
func (gw *gateway) resume(ctx context.Context, conn *websocket.Conn, id string, seq int) *session {
	gw.Lock()
	old := gw.sessions[id]
	if old == nil {
		gw.Unlock()
		return nil
	}
	old.mu.Lock()
	old.conn = conn
	for _, e := range old.events {
		if e.S > seq {
			_ = wsjson.Write(ctx, conn, e) // the connection may have ended, and the bot then resumes again
		}
	}
	old.mu.Unlock()
	gw.Touch()
	gw.Unlock()
	old.send(ctx, "RESUMED", raw.Object{})
	return old
}

// identify starts a session. A start that follows another too soon gets Invalid
// Session. Too many starts in a day cost the bot its token.
func (gw *gateway) identify(
	ctx context.Context, conn *websocket.Conn, intents int,
) (*session, websocket.StatusCode) {
	gw.Lock()
	wait := gw.Limits.TakeIn("discord identify", startRate.calls, startRate.period)
	kept := wait > 0 || gw.started()
	gw.Touch()
	gw.Unlock()
	switch {
	case wait > 0:
		_ = wsjson.Write(ctx, conn, raw.Object{"op": opInvalidSession, "d": false}) // the connection may have ended
		return nil, 0
	case !kept:
		return nil, closeAuthentication
	}
	s := &session{id: uuid.NewString(), intents: intents, conn: conn}
	gw.Lock()
	defer gw.Unlock()
	gw.sessions[s.id] = s
	s.send(gw.Context(), "READY", raw.Object{
		"v": 10, "user": botJSON(), "guilds": []any{raw.Object{"id": Guild, "unavailable": true}}, "session_id": s.id,
		"resume_gateway_url": gw.url, "application": raw.Object{"id": Application, "flags": 0}, "private_channels": []any{},
		"shard": []int{0, 1},
	})
	if intents&intentGuilds != 0 {
		s.send(gw.Context(), "GUILD_CREATE", gw.guildJSON())
	}
	gw.Touch()
	return s, 0
}

// guildJSON returns the guild in the format of GUILD_CREATE. The caller holds
// the lock.
func (gw *gateway) guildJSON() raw.Object {
	return raw.Object{
		"id": Guild, "name": "Sandbox", "channels": gw.textChannels(), "members": []any{}, "roles": gw.rolesJSON(),
		"emojis": []any{}, "stickers": []any{}, "threads": []any{}, "presences": []any{}, "voice_states": []any{},
		"stage_instances": []any{}, "guild_scheduled_events": []any{}, "features": []any{},
		"member_count": len(gw.Members), "owner_id": gw.Members[0].ID, "joined_at": time.Now().UTC().Format(time.RFC3339),
	}
}

// send assigns a number to an event, keeps it for a resume, and sends it.
func (s *session) send(ctx context.Context, t string, d any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	e := event{T: t, S: s.seq, D: raw.Clone(d)}
	s.events = append(s.events, e)
	if len(s.events) > replayed {
		s.events = s.events[1:]
	}
	if s.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if wsjson.Write(ctx, s.conn, e) != nil {
		s.conn = nil // the bot resumes
	}
}

// dispatch sends an event about a message of a channel to the sessions with the
// necessary intents. The caller holds the lock.
func (gw *gateway) dispatch(t string, ch *channel, extra, m raw.Object) {
	intent := intentMessages
	if ch.Kind == directChannel {
		intent = intentDirect
	}
	for _, s := range gw.sessions {
		if s.intents&intent != 0 {
			d := visible(m, ch, s.intents)
			for k, v := range extra {
				d[k] = v
			}
			s.send(gw.Context(), t, d)
		}
	}
}

// removed sends the event about a deleted message. The caller holds the lock.
func (gw *gateway) removed(ch *channel, id string) {
	intent, d := intentMessages, raw.Object{"id": id, "channel_id": ch.ID, "guild_id": Guild}
	if ch.Kind == directChannel {
		intent = intentDirect
		delete(d, "guild_id")
	}
	for _, s := range gw.sessions {
		if s.intents&intent != 0 {
			s.send(gw.Context(), "MESSAGE_DELETE", d)
		}
	}
}

// connected returns the sessions that have a connection. The caller holds the
// lock.
func (gw *gateway) connected() []*session {
	var out []*session
	for _, s := range gw.sessions {
		s.mu.Lock()
		if s.conn != nil {
			out = append(out, s)
		}
		s.mu.Unlock()
	}
	return out
}

// unresumable lists the close codes that end a session.
var unresumable = []int{4004, 4007, 4009, 4010, 4011, 4012, 4013, 4014}

// disconnect closes every gateway connection with a code. Zero asks the bot to
// reconnect.
func (gw *gateway) disconnect(ctx context.Context, code int) {
	gw.Lock()
	sessions := gw.connected()
	if slices.Contains(unresumable, code) {
		clear(gw.sessions)
	}
	gw.Unlock()
	for _, s := range sessions {
		s.mu.Lock()
		conn := s.conn
		s.conn = nil
		s.mu.Unlock()
		if conn == nil {
			continue
		}
		if code == 0 {
			_ = wsjson.Write(ctx, conn, raw.Object{"op": opReconnect, "d": nil}) // the connection may have ended
			gw.Part(conn)
			continue
		}
		conn.Close(websocket.StatusCode(code), "")
	}
}
