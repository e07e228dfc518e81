package telegram

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// updates is the queue of updates for long polling or a webhook.
type updates struct {
	queue   []update
	lastID  int64
	last    time.Time // time of the newest update
	webhook string
	secret  string
	pollers int64 // number of the newest long poll
	handed  int   // updates that getUpdates returned, including repeats
	wake    chan struct{}
	pushing bool
}

type update struct {
	id      int64
	body    raw.Object
	expires time.Time
}

// push queues an update. The caller holds the lock.
func (e *Emulator) push(body raw.Object, ttl time.Duration) {
	now := e.Clock.Now()
	if !e.updates.last.IsZero() && now.Sub(e.updates.last) >= quiet {
		e.updates.lastID /= 2 // Telegram chooses the next number at random
	}
	e.updates.lastID, e.updates.last = e.updates.lastID+1, now
	body, _ = public(body).(raw.Object)
	body["update_id"] = e.updates.lastID
	e.Recorder.Note(core.ToBot, Name, "update", body)
	e.updates.queue = append(e.updates.queue, update{e.updates.lastID, body, now.Add(ttl)})
	e.wakeAll()
	e.startPushing()
}

// wakeAll lets every poll check the queue again. The caller holds the lock.
func (e *Emulator) wakeAll() {
	close(e.updates.wake)
	e.updates.wake = make(chan struct{})
}

// pending returns the updates from an ID on, and drops older ones. An ID that
// is far ahead of all updates drops none. The caller holds the lock.
func (e *Emulator) pending(offset int64, limit int) []any {
	now := e.Clock.Now()
	if offset > e.updates.lastID+maxAhead {
		offset = 0
	}
	kept := e.updates.queue[:0]
	for _, x := range e.updates.queue {
		if x.id >= offset && now.Before(x.expires) {
			kept = append(kept, x)
		}
	}
	e.updates.queue = kept
	out := []any{}
	for _, x := range e.updates.queue {
		if len(out) < limit {
			out = append(out, x.body)
		}
	}
	return out
}

// getUpdates implements the method getUpdates. A newer call ends an older one.
func (e *Emulator) getUpdates(ctx context.Context, a arguments) (any, *failure) {
	limit := maxUpdates
	if n := a.number("limit"); n > 0 && n < maxUpdates {
		limit = int(n)
	}
	deadline := time.After(time.Duration(min(a.number("timeout"), maxPoll)) * time.Second)
	mine, bad := e.beginPoll()
	if bad != nil {
		return nil, bad
	}
	for {
		out, wake, bad := e.look(mine, a.number("offset"), limit)
		if bad != nil || len(out) > 0 {
			return out, bad
		}
		select {
		case <-wake:
		case <-deadline:
			return []any{}, nil
		case <-ctx.Done():
			return []any{}, nil
		case <-e.Context().Done():
			return []any{}, nil
		}
	}
}

func conflict(why string) *failure { return &failure{409, "Conflict: " + why, nil} }

// beginPoll returns the number of a new poll.
func (e *Emulator) beginPoll() (int64, *failure) {
	e.Lock()
	defer e.Unlock()
	if e.updates.webhook != "" {
		return 0, conflict(
			"can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
		)
	}
	e.updates.pollers++
	e.wakeAll()
	e.Touch()
	return e.updates.pollers, nil
}

// look returns the updates for a poll. If there are none, it returns a channel
// that wakes the poll.
func (e *Emulator) look(mine, offset int64, limit int) ([]any, chan struct{}, *failure) {
	muted := e.Has("mute")
	e.Lock()
	defer e.Unlock()
	if e.updates.pollers != mine {
		return nil, nil, conflict("terminated by other getUpdates request; make sure that only one bot instance is running")
	}
	if muted {
		return nil, e.updates.wake, nil
	}
	out := e.pending(offset, limit)
	e.updates.handed += len(out)
	return out, e.updates.wake, nil
}

func (e *Emulator) setWebhook(a arguments) (any, *failure) {
	const allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	secret := a.text("secret_token")
	if len(secret) > maxSecret || strings.Trim(secret, allowed) != "" {
		return nil, badRequest("secret token contains unallowed characters")
	}
	e.updates.webhook, e.updates.secret = a.text("url"), secret
	if len(e.updates.queue) > 0 {
		e.startPushing()
	}
	return true, nil
}

func (e *Emulator) deleteWebhook(a arguments) (any, *failure) {
	e.updates.webhook, e.updates.secret = "", ""
	if a.text("drop_pending_updates") == "true" {
		e.updates.queue = nil
	}
	return true, nil
}

func (e *Emulator) webhookInfo(arguments) (any, *failure) {
	return raw.Object{"url": e.updates.webhook, "has_custom_certificate": false, "pending_update_count": len(e.updates.queue)}, nil
}

// startPushing sends the queue to the webhook, if there is one. The caller
// holds the lock.
func (e *Emulator) startPushing() {
	if e.updates.webhook != "" && !e.updates.pushing {
		e.updates.pushing = true
		go e.pushAll()
	}
}

// Minimum and maximum pause before pushAll retries an update.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 10 * time.Second
)

// pushAll sends the queue to the webhook. It retries each update until the
// webhook accepts it.
func (e *Emulator) pushAll() {
	wait := firstPause
	for e.Context().Err() == nil {
		e.Lock()
		next := e.pending(0, 1)
		target, secret := e.updates.webhook, e.updates.secret
		if len(next) == 0 || target == "" {
			e.updates.pushing = false
			e.Unlock()
			return
		}
		e.Unlock()
		if e.pushOne(target, secret, next[0]) {
			wait = firstPause
			e.Lock()
			if len(e.updates.queue) > 0 {
				e.updates.queue = e.updates.queue[1:]
			}
			e.Unlock()
			continue
		}
		if !core.Sleep(e.Context(), wait) {
			return
		}
		wait = min(2*wait, lastPause)
	}
}

func (e *Emulator) pushOne(target, secret string, body any) bool {
	encoded, err := json.Marshal(body)
	if err != nil {
		return true
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if secret != "" {
		header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
	}
	resp, _, err := e.Post(e.Context(), target, header, encoded)
	return err == nil && resp.StatusCode/100 == 2
}

// inside lists the fields of messages that only the page and members need.
var inside = []string{"edits", "detected_mentions", "preview"}

// public returns a copy of a response or an update in the form that a bot gets.
// A message has the inline keyboard of its bot, and no other markup:
// core.telegram.org/bots/api#message.
func public(v any) any {
	v = raw.Clone(v)
	hide(v)
	return v
}

func hide(v any) {
	switch x := v.(type) {
	case []any:
		for _, e := range x {
			hide(e)
		}
	case raw.Object:
		if markup := raw.Sub(x, "reply_markup"); markup != nil && markup["inline_keyboard"] == nil {
			delete(x, "reply_markup")
		}
		if x["message_id"] != nil {
			for _, key := range inside {
				delete(x, key)
			}
		}
		delete(raw.Sub(x, "document"), "url")
		for _, e := range x {
			hide(e)
		}
	}
}
