package sandbox

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/google/uuid"
)

const slackPingEvery = 5 * time.Second

// slackSocket is one Socket Mode connection.
type slackSocket struct {
	conn *websocket.Conn
	mu   sync.Mutex
	acks map[string]chan json.RawMessage
}

func (w *slackWorld) socket(rw http.ResponseWriter, r *http.Request) {
	if w.s.fault("slack", "", "refuse_connect") != nil {
		http.Error(rw, "no", http.StatusServiceUnavailable)
		return
	}
	w.s.mu.Lock()
	ticket := r.URL.Query().Get("ticket")
	known := w.tickets[ticket]
	delete(w.tickets, ticket)
	n := len(w.sockets)
	w.s.mu.Unlock()
	if !known || n >= 10 {
		http.Error(rw, "invalid ticket", http.StatusForbidden)
		return
	}
	conn, err := websocket.Accept(rw, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // SDKs send Slack's own origin
	if err != nil {
		return
	}
	sock := &slackSocket{conn: conn, acks: map[string]chan json.RawMessage{}}
	ctx, cancel := context.WithCancel(w.s.ctx)
	defer cancel()
	defer conn.CloseNow()
	if err := wsjson.Write(ctx, conn, object{
		"type": "hello", "num_connections": n + 1, "connection_info": object{"app_id": "A0SANDBOX"},
		"debug_info": object{"host": "applink-sandbox", "build_number": 1, "approximate_connection_time": 3600},
	}); err != nil {
		return
	}
	w.s.mu.Lock()
	w.sockets[sock] = true
	w.s.touch()
	w.s.mu.Unlock()
	defer func() {
		w.s.mu.Lock()
		delete(w.sockets, sock)
		w.s.touch()
		w.s.mu.Unlock()
	}()
	go sock.ping(ctx, cancel)
	sock.read(ctx)
}

func (s *slackSocket) ping(ctx context.Context, cancel func()) {
	defer cancel()
	for {
		if s.conn.Ping(ctx) != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(slackPingEvery):
		}
	}
}

func (s *slackSocket) read(ctx context.Context) {
	for {
		var ack struct {
			ID      string          `json:"envelope_id"`
			Payload json.RawMessage `json:"payload"`
		}
		if err := wsjson.Read(ctx, s.conn, &ack); err != nil {
			return
		}
		if len(ack.Payload) >= 20_480 {
			continue // Slack drops such answers silently
		}
		s.mu.Lock()
		ch := s.acks[ack.ID]
		delete(s.acks, ack.ID)
		s.mu.Unlock()
		if ch != nil {
			ch <- ack.Payload
		}
	}
}

var (
	errNoReceiver = errors.New("nobody is connected to receive it")
	errNoAnswer   = errors.New("no answer within 3 seconds")
)

// deliver sends a payload to the app and returns its answer within 3 seconds.
func (w *slackWorld) deliver(ctx context.Context, payload object) (json.RawMessage, error) {
	if w.s.fault("slack", "", "event_drop", "mute") != nil {
		return nil, errNoAnswer
	}
	if f := w.s.fault("slack", "", "event_delay"); f != nil {
		if !sleep(ctx, f.Delay) {
			return nil, ctx.Err()
		}
	}
	send := w.overSocket
	if w.s.opts.SlackURL != "" {
		send = w.overHTTP
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	answer, err := send(ctx, payload)
	if w.s.fault("slack", "", "event_duplicate") != nil {
		_, _ = send(ctx, payload) // only its effect matters
	}
	return answer, err
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

func (w *slackWorld) overSocket(ctx context.Context, payload object) (json.RawMessage, error) {
	w.s.mu.Lock()
	var all []*slackSocket
	for s := range w.sockets {
		all = append(all, s)
	}
	w.turn++
	turn := w.turn
	w.s.mu.Unlock()
	if len(all) == 0 {
		return nil, errNoReceiver
	}
	sock := all[turn%len(all)] // any of them, no pattern is promised
	id := uuid.NewString()
	ch := make(chan json.RawMessage, 1)
	sock.mu.Lock()
	sock.acks[id] = ch
	sock.mu.Unlock()
	kind, accepts := "interactive", payload["type"] == "view_submission"
	if payload["type"] == "event_callback" {
		kind = "events_api"
	}
	if payload["command"] != nil {
		kind, accepts = "slash_commands", true
	}
	err := wsjson.Write(ctx, sock.conn, object{"type": kind, "envelope_id": id, "payload": payload, "accepts_response_payload": accepts})
	if err != nil {
		return nil, err
	}
	select {
	case answer := <-ch:
		return answer, nil
	case <-ctx.Done():
		return nil, errNoAnswer
	}
}

// SignSlack signs a request body as Slack does.
func SignSlack(h http.Header, secret string, at time.Time, body []byte) {
	ts := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("v0:" + ts + ":"))
	mac.Write(body)
	h.Set("X-Slack-Request-Timestamp", ts)
	h.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
}

func (w *slackWorld) overHTTP(ctx context.Context, payload object) (json.RawMessage, error) {
	raw, err := json.Marshal(payload)
	if err != nil {
		return nil, err
	}
	form := url.Values{"payload": {string(raw)}}
	if payload["command"] != nil {
		form = url.Values{}
		for name, v := range payload {
			form.Set(name, text(v))
		}
	}
	kind, body := "application/x-www-form-urlencoded", []byte(form.Encode())
	if payload["type"] == "event_callback" {
		kind, body = "application/json", raw
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.s.opts.SlackURL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", kind)
	SignSlack(req.Header, SlackSigningSecret, time.Now(), body)
	resp, err := w.s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New("HTTP " + resp.Status)
	}
	return answer, err
}

// disconnect closes every socket after telling them, as Slack does when it
// recycles connections.
func (w *slackWorld) disconnect(ctx context.Context, reason string) {
	w.s.mu.Lock()
	var all []*slackSocket
	for s := range w.sockets {
		all = append(all, s)
	}
	w.s.mu.Unlock()
	for _, s := range all {
		if reason != "" {
			_ = wsjson.Write(ctx, s.conn, object{"type": "disconnect", "reason": reason, "debug_info": object{"host": "applink-sandbox"}}) // it may be gone
		}
		s.conn.CloseNow()
	}
}
