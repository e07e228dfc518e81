package telegram

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

const (
	pollFor    = 25 * time.Second // the server caps it at 50
	pollGrace  = 10 * time.Second // a poll that takes longer than both is deaf and is given up
	maxBody    = 1 << 20
	retryFirst = 500 * time.Millisecond
	retryMost  = 15 * time.Second
)

const allowedUpdates = `["message","callback_query"]`

// Run implements bridge.Platform.
func (p *Platform) Run(ctx context.Context, sink bridge.Sink) error {
	if p.webhook != "" {
		p.register(ctx)
		return platforms.Watch(ctx, &p.health, func(ctx context.Context) error {
			return p.call(ctx, "setWebhook", tgbotapi.Params{"url": p.webhook, "secret_token": p.secret, "allowed_updates": allowedUpdates}, nil)
		})
	}
	return p.poll(ctx, sink)
}

func (p *Platform) poll(ctx context.Context, sink bridge.Sink) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { p.register(ctx) })
	offset, wait := int64(0), retryFirst
	for ctx.Err() == nil {
		batch, err := p.fetch(ctx, offset)
		switch code := bridge.ErrorCode(err); {
		case ctx.Err() != nil:
			return nil
		case code == bridge.CodeForbidden:
			return err
		case err != nil:
			p.health.Set(bridge.HealthDegraded, bridge.PublicError(err).Message)
			p.log.Warn("updates not received", "platform", p.name, "error", err)
			bridge.Pause(ctx, max(wait, retryAfter(err)))
			wait = min(2*wait, retryMost)
			continue
		}
		p.health.Accept()
		p.health.Set(bridge.HealthUp, "")
		wait = retryFirst
		if p.handleAll(ctx, sink, batch) {
			for _, raw := range batch {
				offset = max(offset, updateID(raw)+1)
			}
		} else {
			bridge.Pause(ctx, time.Second) // what was not stored is repeated
		}
	}
	return nil
}

func retryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*bridge.Error](err); ok {
		return e.RetryAfter
	}
	return 0
}

func updateID(raw json.RawMessage) int64 {
	var u struct {
		ID int64 `json:"update_id"`
	}
	if json.Unmarshal(raw, &u) != nil {
		return 0
	}
	return u.ID
}

func (p *Platform) fetch(ctx context.Context, offset int64) ([]json.RawMessage, error) {
	callCtx, cancel := context.WithTimeout(ctx, pollFor+pollGrace)
	defer cancel()
	params := tgbotapi.Params{"timeout": strconv.Itoa(int(pollFor.Seconds())), "allowed_updates": allowedUpdates}
	if offset > 0 {
		params["offset"] = strconv.FormatInt(offset, 10)
	}
	if p.health.Get().State != bridge.HealthUp {
		params["timeout"] = "0" // answer at once, so that health is known
	}
	var batch []json.RawMessage
	err := p.call(callCtx, "getUpdates", params, &batch)
	if err != nil && strings.Contains(err.Error(), "webhook is active") {
		p.log.Warn("a webhook was set for this bot; removing it, as the config says polling", "platform", p.name)
		return nil, errors.Join(p.call(callCtx, "deleteWebhook", tgbotapi.Params{}, nil), err)
	}
	return batch, err
}

// handleAll works on a batch at once and reports whether all of it is stored.
// The batch is confirmed only then.
func (p *Platform) handleAll(ctx context.Context, sink bridge.Sink, batch []json.RawMessage) bool {
	ctx = context.WithoutCancel(ctx) // updates under way are finished
	var wg sync.WaitGroup
	var mu sync.Mutex
	ok := true
	for _, raw := range batch {
		wg.Go(func() {
			if err := p.handle(ctx, sink, raw); err != nil {
				p.log.Error("update not recorded, it will be asked for again", "platform", p.name, "error", err)
				mu.Lock()
				ok = false
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return ok
}

// Handler serves the webhook. It refuses everything without the secret token,
// and everything while polling.
func (p *Platform) Handler(sink bridge.Sink) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.secret == "" || r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("X-Telegram-Bot-Api-Secret-Token")), []byte(p.secret)) != 1 {
			p.log.Warn("webhook call without the secret token", "platform", p.name)
			http.Error(w, "bad secret token", http.StatusUnauthorized)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			http.Error(w, "body too large", http.StatusRequestEntityTooLarge)
			return
		}
		if err := p.handle(context.WithoutCancel(r.Context()), sink, body); err != nil {
			http.Error(w, "not recorded", http.StatusServiceUnavailable) // Telegram sends it again
		}
	})
}
