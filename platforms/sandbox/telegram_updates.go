package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

func (w *telegramWorld) act(ctx context.Context, m Member, a Action) (Reaction, error) {
	chatID, err := strconv.ParseInt(a.Channel, 10, 64)
	if err != nil {
		return Reaction{}, fmt.Errorf("telegram: channel %q is no chat id", a.Channel)
	}
	switch a.Do {
	case "press":
		return w.press(ctx, m, a, chatID)
	case "reply", "send":
		return w.write(m, a, chatID)
	}
	return Reaction{}, fmt.Errorf("telegram: can not %q", a.Do)
}

func (w *telegramWorld) press(ctx context.Context, m Member, a Action, chatID int64) (Reaction, error) {
	w.s.mu.Lock()
	c := w.chats[chatID]
	id, _ := strconv.ParseInt(a.Message, 10, 64)
	if c == nil || c.find(id) < 0 {
		w.s.mu.Unlock()
		return Reaction{}, fmt.Errorf("telegram: no message %s in %s", a.Message, a.Channel)
	}
	// A bad client can send any data; a good one only what a button holds.
	// Tests are bad clients, so it is not checked.
	cb := &telegramCallback{answered: make(chan struct{}), created: time.Now()}
	key := uuid.NewString()
	w.callbacks[key] = cb
	msg := cloneObject(c.Messages[c.find(id)])
	body := object{"callback_query": object{"id": key, "from": telegramUser(m), "message": msg, "chat_instance": strconv.FormatInt(chatID, 10), "data": a.Control}}
	w.s.mu.Unlock()
	if w.s.fault("telegram", "", "event_drop") != nil {
		return Reaction{Warning: "the button keeps loading"}, nil
	}
	if f := w.s.fault("telegram", "", "event_delay"); f != nil && !sleep(ctx, f.Delay) {
		return Reaction{}, ctx.Err()
	}
	w.s.mu.Lock()
	w.push(body, telegramCallbackTTL)
	if w.s.faultLocked("telegram", "event_duplicate") {
		w.push(body, telegramCallbackTTL)
	}
	w.s.mu.Unlock()
	select {
	case <-cb.answered:
		return cb.reaction, nil
	case <-time.After(telegramPatience):
		return Reaction{Warning: "the button keeps loading"}, nil
	case <-ctx.Done():
		return Reaction{Warning: "the button keeps loading"}, nil
	}
}

// faultLocked is fault for callers that hold mu.
func (s *Sandbox) faultLocked(service, kind string) bool {
	s.mu.Unlock()
	defer s.mu.Lock()
	return s.fault(service, "", kind) != nil
}

func (w *telegramWorld) write(m Member, a Action, chatID int64) (Reaction, error) {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	c := w.chats[chatID]
	if c == nil || c.Kind == "private" && c.User != m.Telegram {
		return Reaction{}, fmt.Errorf("telegram: %s is in no chat %s", m.Key, a.Channel)
	}
	if a.Text == "" || runes(a.Text) > 4096 {
		return Reaction{}, fmt.Errorf("telegram: a message has 1 to 4096 characters")
	}
	msg := c.blank(telegramUser(m))
	msg["text"] = a.Text
	toBot := c.Kind == "private" || strings.HasPrefix(a.Text, "/")
	if a.Do == "reply" {
		id, _ := strconv.ParseInt(a.Message, 10, 64)
		n := c.find(id)
		if n < 0 {
			return Reaction{}, fmt.Errorf("telegram: no message %s in %s", a.Message, a.Channel)
		}
		original := cloneObject(c.Messages[n])
		delete(original, "reply_to_message")
		msg["reply_to_message"] = original
		toBot = toBot || intOf(sub(original, "from")["id"]) == int(TelegramBotID)
	}
	c.Messages = append(c.Messages, msg)
	w.s.touch()
	if toBot { // privacy mode is on
		w.push(object{"message": cloneObject(msg)}, telegramMessageTTL)
	}
	return Reaction{OK: true}, nil
}

// push queues an update. The caller holds mu.
func (w *telegramWorld) push(body object, ttl time.Duration) {
	w.updateID++
	body = cloneObject(body)
	body["update_id"] = w.updateID
	w.updates = append(w.updates, telegramUpdate{w.updateID, body, time.Now().Add(ttl)})
	close(w.wake)
	w.wake = make(chan struct{})
	if w.webhook != "" && !w.pushing {
		w.pushing = true
		go w.pushAll()
	}
}

// pending returns queued updates from an id on. The caller holds mu.
func (w *telegramWorld) pending(offset int64, limit int) []any {
	now := time.Now()
	kept := w.updates[:0]
	for _, u := range w.updates {
		if u.id >= offset && now.Before(u.expires) {
			kept = append(kept, u)
		}
	}
	w.updates = kept
	out := []any{}
	for _, u := range w.updates {
		if len(out) < limit {
			out = append(out, u.body)
		}
	}
	return out
}

func (w *telegramWorld) getUpdates(ctx context.Context, a telegramArgs) (any, *telegramFailure) {
	limit := 100
	if n := a.number("limit"); n > 0 && n < 100 {
		limit = int(n)
	}
	timeout := time.Duration(min(a.number("timeout"), 50)) * time.Second
	deadline := time.After(timeout)
	w.s.mu.Lock()
	if w.webhook != "" {
		w.s.mu.Unlock()
		return nil, &telegramFailure{409, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first", nil}
	}
	w.pollers++
	mine := w.pollers
	close(w.wake) // an older poll ends
	w.wake = make(chan struct{})
	w.s.touch()
	w.s.mu.Unlock()
	for {
		muted := w.s.fault("telegram", "", "mute") != nil
		w.s.mu.Lock()
		newest, wake := w.pollers, w.wake
		var out []any
		if !muted && newest == mine {
			out = w.pending(a.number("offset"), limit)
			w.handed += len(out)
		}
		w.s.mu.Unlock()
		if newest != mine {
			return nil, &telegramFailure{409, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running", nil}
		}
		if len(out) > 0 {
			return out, nil
		}
		select {
		case <-wake:
		case <-deadline:
			return []any{}, nil
		case <-ctx.Done():
			return []any{}, nil
		case <-w.s.ctx.Done():
			return []any{}, nil
		}
	}
}

func (w *telegramWorld) setWebhook(_ *http.Request, a telegramArgs) (any, *telegramFailure) {
	secret := a.text("secret_token")
	if len(secret) > 256 || strings.Trim(secret, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
		return nil, badRequest("secret token contains unallowed characters")
	}
	w.webhook, w.secret = a.text("url"), secret
	if w.webhook != "" && len(w.updates) > 0 && !w.pushing {
		w.pushing = true
		go w.pushAll()
	}
	return true, nil
}

func (w *telegramWorld) deleteWebhook(_ *http.Request, a telegramArgs) (any, *telegramFailure) {
	w.webhook, w.secret = "", ""
	if a.text("drop_pending_updates") == "true" {
		w.updates = nil
	}
	return true, nil
}

func (w *telegramWorld) webhookInfo(*http.Request, telegramArgs) (any, *telegramFailure) {
	return object{"url": w.webhook, "has_custom_certificate": false, "pending_update_count": len(w.updates)}, nil
}

// pushAll sends queued updates to the webhook, each until it is taken.
func (w *telegramWorld) pushAll() {
	wait := 100 * time.Millisecond
	for w.s.ctx.Err() == nil {
		w.s.mu.Lock()
		next := w.pending(0, 1)
		target, secret := w.webhook, w.secret
		if len(next) == 0 || target == "" {
			w.pushing = false
			w.s.mu.Unlock()
			return
		}
		w.s.mu.Unlock()
		if w.pushOne(target, secret, next[0]) {
			wait = 100 * time.Millisecond
			w.s.mu.Lock()
			if len(w.updates) > 0 {
				w.updates = w.updates[1:]
			}
			w.s.mu.Unlock()
			continue
		}
		if !sleep(w.s.ctx, wait) {
			return
		}
		wait = min(2*wait, 10*time.Second)
	}
}

func (w *telegramWorld) pushOne(target, secret string, update any) bool {
	body, err := json.Marshal(update)
	if err != nil {
		return true
	}
	req, err := http.NewRequestWithContext(w.s.ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/json")
	if secret != "" {
		req.Header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
	}
	resp, err := w.s.client.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode/100 == 2
}
