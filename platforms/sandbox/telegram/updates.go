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

// updates is the queue of updates for long polling or a webhook. The lock of
// the hub guards it.
type updates struct {
	*bot
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
func (u *updates) push(body raw.Object, ttl time.Duration) {
	now := u.Clock.Now()
	if !u.last.IsZero() && now.Sub(u.last) >= quiet {
		u.lastID /= 2 // Telegram chooses the next number at random
	}
	u.lastID, u.last = u.lastID+1, now
	body, _ = public(body).(raw.Object)
	body["update_id"] = u.lastID
	u.Recorder.Note(core.ToBot, Name, "update", body)
	u.queue = append(u.queue, update{u.lastID, body, now.Add(ttl)})
	u.wakeAll()
	u.startPushing()
}

// wakeAll lets every poll check the queue again. The caller holds the lock.
func (u *updates) wakeAll() {
	close(u.wake)
	u.wake = make(chan struct{})
}

// pending returns the updates from an ID on, and drops older ones. An ID that
// is far ahead of all updates drops none. The caller holds the lock.
func (u *updates) pending(offset int64, limit int) []any {
	now := u.Clock.Now()
	if offset > u.lastID+maxAhead {
		offset = 0
	}
	kept := u.queue[:0]
	for _, x := range u.queue {
		if x.id >= offset && now.Before(x.expires) {
			kept = append(kept, x)
		}
	}
	u.queue = kept
	out := []any{}
	for _, x := range u.queue {
		if len(out) < limit {
			out = append(out, x.body)
		}
	}
	return out
}

// get implements the method getUpdates. A newer call ends an older one.
func (u *updates) get(ctx context.Context, a arguments) (any, *failure) {
	limit := maxUpdates
	if n := a.number("limit"); n > 0 && n < maxUpdates {
		limit = int(n)
	}
	deadline := time.After(time.Duration(min(a.number("timeout"), maxPoll)) * time.Second)
	mine, bad := u.beginPoll()
	if bad != nil {
		return nil, bad
	}
	for {
		out, wake, bad := u.look(mine, a.number("offset"), limit)
		if bad != nil || len(out) > 0 {
			return out, bad
		}
		select {
		case <-wake:
		case <-deadline:
			return []any{}, nil
		case <-ctx.Done():
			return []any{}, nil
		case <-u.Context().Done():
			return []any{}, nil
		}
	}
}

func conflict(why string) *failure { return &failure{409, "Conflict: " + why, nil} }

// beginPoll returns the number of a new poll.
func (u *updates) beginPoll() (int64, *failure) {
	u.Lock()
	defer u.Unlock()
	if u.webhook != "" {
		return 0, conflict(
			"can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
		)
	}
	u.pollers++
	u.wakeAll()
	u.Touch()
	return u.pollers, nil
}

// look returns the updates for a poll. If there are none, it returns a channel
// that wakes the poll.
func (u *updates) look(mine, offset int64, limit int) ([]any, chan struct{}, *failure) {
	muted := u.Has("mute")
	u.Lock()
	defer u.Unlock()
	if u.pollers != mine {
		return nil, nil, conflict("terminated by other getUpdates request; make sure that only one bot instance is running")
	}
	if muted {
		return nil, u.wake, nil
	}
	out := u.pending(offset, limit)
	u.handed += len(out)
	return out, u.wake, nil
}

func (u *updates) setWebhook(a arguments) (any, *failure) {
	const allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	secret := a.text("secret_token")
	if len(secret) > maxSecret || strings.Trim(secret, allowed) != "" {
		return nil, badRequest("secret token contains unallowed characters")
	}
	u.webhook, u.secret = a.text("url"), secret
	if len(u.queue) > 0 {
		u.startPushing()
	}
	return true, nil
}

func (u *updates) deleteWebhook(a arguments) (any, *failure) {
	u.webhook, u.secret = "", ""
	if a.text("drop_pending_updates") == "true" {
		u.queue = nil
	}
	return true, nil
}

func (u *updates) webhookInfo(arguments) (any, *failure) {
	return raw.Object{"url": u.webhook, "has_custom_certificate": false, "pending_update_count": len(u.queue)}, nil
}

// startPushing sends the queue to the webhook, if there is one. The caller
// holds the lock.
func (u *updates) startPushing() {
	if u.webhook != "" && !u.pushing {
		u.pushing = true
		go u.pushAll()
	}
}

// Minimum and maximum pause before pushAll retries an update.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 10 * time.Second
)

// pushAll sends the queue to the webhook. It retries each update until the
// webhook accepts it.
func (u *updates) pushAll() {
	wait := firstPause
	for u.Context().Err() == nil {
		u.Lock()
		next := u.pending(0, 1)
		target, secret := u.webhook, u.secret
		if len(next) == 0 || target == "" {
			u.pushing = false
			u.Unlock()
			return
		}
		u.Unlock()
		if u.pushOne(target, secret, next[0]) {
			wait = firstPause
			u.Lock()
			if len(u.queue) > 0 {
				u.queue = u.queue[1:]
			}
			u.Unlock()
			continue
		}
		if !core.Sleep(u.Context(), wait) {
			return
		}
		wait = min(2*wait, lastPause)
	}
}

func (u *updates) pushOne(target, secret string, body any) bool {
	encoded, err := json.Marshal(body)
	if err != nil {
		return true
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if secret != "" {
		header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
	}
	resp, _, err := u.Post(u.Context(), target, header, encoded)
	return err == nil && resp.StatusCode/100 == 2
}
