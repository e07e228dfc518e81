package sandbox

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/google/uuid"
)

const (
	discordHeartbeat = 41250 * time.Millisecond
	discordReplay    = 500 // events kept for a resume
)

// discordSession is a gateway session; it outlives its connection for a resume.
type discordSession struct {
	id      string
	intents int
	mu      sync.Mutex // guards the rest; taken after Sandbox.mu, never before
	conn    *websocket.Conn
	seq     int
	events  []discordEvent
}

type discordEvent struct {
	Op int    `json:"op"`
	T  string `json:"t"`
	S  int    `json:"s"`
	D  any    `json:"d"`
}

type discordFrame struct {
	Op int             `json:"op"`
	D  json.RawMessage `json:"d"`
}

func (w *discordWorld) gateway(rw http.ResponseWriter, r *http.Request) {
	if w.s.fault("discord", "", "refuse_connect") != nil {
		http.Error(rw, "no", http.StatusServiceUnavailable)
		return
	}
	conn, err := websocket.Accept(rw, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // bots send no origin of ours
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(4096) // larger payloads end with 4002
	ctx, cancel := context.WithCancel(w.s.ctx)
	defer cancel()
	if wsjson.Write(ctx, conn, object{"op": 10, "d": object{"heartbeat_interval": w.s.opts.Heartbeat.Milliseconds()}}) != nil {
		return
	}
	var session *discordSession
	for {
		var f discordFrame
		if wsjson.Read(ctx, conn, &f) != nil {
			break
		}
		if f.Op == 1 {
			if w.s.fault("discord", "", "freeze") != nil {
				continue
			}
			if wsjson.Write(ctx, conn, object{"op": 11}) != nil {
				break
			}
			continue
		}
		s, code := w.frame(ctx, conn, session, f)
		if code != 0 {
			conn.Close(code, "")
			break
		}
		session = s
	}
	if session != nil {
		w.s.mu.Lock()
		session.mu.Lock()
		if session.conn == conn {
			session.conn = nil
		}
		session.mu.Unlock()
		w.s.touch()
		w.s.mu.Unlock()
	}
}

// frame handles identify and resume. A code other than 0 closes the connection.
func (w *discordWorld) frame(ctx context.Context, conn *websocket.Conn, session *discordSession, f discordFrame) (*discordSession, websocket.StatusCode) {
	var d struct {
		Token     string `json:"token"`
		Intents   int    `json:"intents"`
		SessionID string `json:"session_id"`
		Seq       int    `json:"seq"`
	}
	if f.Op != 2 && f.Op != 6 {
		return session, 0
	}
	if json.Unmarshal(f.D, &d) != nil {
		return nil, 4002
	}
	if d.Token != DiscordToken && d.Token != "Bot "+DiscordToken || w.s.fault("discord", "", "revoke") != nil {
		return nil, 4004
	}
	if f.Op == 2 {
		if session != nil {
			return nil, 4005
		}
		return w.identify(conn, d.Intents), 0
	}
	w.s.mu.Lock()
	old := w.sessions[d.SessionID]
	w.s.mu.Unlock()
	if old == nil {
		_ = wsjson.Write(ctx, conn, object{"op": 9, "d": false}) // it may be gone
		return session, 0
	}
	w.s.mu.Lock()
	old.mu.Lock()
	old.conn = conn
	for _, e := range old.events {
		if e.S > d.Seq {
			_ = wsjson.Write(ctx, conn, e) // it may be gone; it will resume again
		}
	}
	old.mu.Unlock()
	w.s.touch()
	w.s.mu.Unlock()
	old.send(ctx, "RESUMED", object{})
	return old, 0
}

func (w *discordWorld) identify(conn *websocket.Conn, intents int) *discordSession {
	s := &discordSession{id: uuid.NewString(), intents: intents, conn: conn}
	s.send(w.s.ctx, "READY", object{
		"v": 10, "user": discordBot(), "guilds": []any{object{"id": DiscordGuild, "unavailable": true}}, "session_id": s.id,
		"resume_gateway_url": "", "application": object{"id": DiscordApplication, "flags": 0}, "private_channels": []any{}, "shard": []int{0, 1},
	})
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	w.sessions[s.id] = s
	if intents&1 != 0 {
		channels := []any{}
		for _, ch := range w.channels {
			if ch.Kind == 0 {
				channels = append(channels, ch.json())
			}
		}
		s.send(w.s.ctx, "GUILD_CREATE", object{
			"id": DiscordGuild, "name": "Sandbox", "channels": channels, "members": []any{}, "roles": []any{object{"id": DiscordGuild, "name": "@everyone", "permissions": "0", "position": 0, "color": 0}},
			"emojis": []any{}, "stickers": []any{}, "threads": []any{}, "presences": []any{}, "voice_states": []any{}, "stage_instances": []any{},
			"guild_scheduled_events": []any{}, "features": []any{}, "member_count": len(w.s.members), "owner_id": w.s.members[0].Discord, "joined_at": time.Now().UTC().Format(time.RFC3339),
		})
	}
	w.s.touch()
	return s
}

// send numbers, keeps and sends an event.
func (s *discordSession) send(ctx context.Context, t string, d any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	e := discordEvent{T: t, S: s.seq, D: clone(d)}
	s.events = append(s.events, e)
	if len(s.events) > discordReplay {
		s.events = s.events[1:]
	}
	if s.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if wsjson.Write(ctx, s.conn, e) != nil {
		s.conn = nil // it resumes
	}
}

// dispatch sends a message event to the sessions that subscribed to them. The
// caller holds Sandbox.mu.
func (w *discordWorld) dispatch(t string, extra object, m object) {
	for _, s := range w.sessions {
		if s.intents&(1<<9) != 0 {
			d := cloneObject(m)
			for k, v := range extra {
				d[k] = v
			}
			s.send(w.s.ctx, t, d)
		}
	}
}

// connected returns the sessions that have a connection. The caller holds
// Sandbox.mu.
func (w *discordWorld) connected() []*discordSession {
	var out []*discordSession
	for _, s := range w.sessions {
		s.mu.Lock()
		if s.conn != nil {
			out = append(out, s)
		}
		s.mu.Unlock()
	}
	return out
}

// disconnect closes every gateway connection. A code ends it with that code;
// 0 asks to reconnect.
func (w *discordWorld) disconnect(ctx context.Context, code int) {
	w.s.mu.Lock()
	sessions := w.connected()
	w.s.mu.Unlock()
	for _, s := range sessions {
		s.mu.Lock()
		conn := s.conn
		s.mu.Unlock()
		if conn == nil {
			continue
		}
		if code == 0 {
			_ = wsjson.Write(ctx, conn, object{"op": 7, "d": nil}) // it may be gone
			conn.CloseNow()
			continue
		}
		conn.Close(websocket.StatusCode(code), "")
	}
}
