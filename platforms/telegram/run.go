package telegram

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

const (
	pollFor = 25 * time.Second // the server caps it at 50
	// A poll that takes longer than pollFor and pollGrace together has stalled,
	// and is abandoned.
	pollGrace  = 10 * time.Second
	maxBody    = 1 << 20
	retryFirst = 500 * time.Millisecond
	retryMost  = 15 * time.Second
)

const allowedUpdates = `["message","edited_message","callback_query"]`

// receiver takes the updates from Telegram, by polling or by the webhook, and
// confirms them after they are handled.
type receiver struct {
	client   *client
	inbound  *inbound
	commands *commands
	health   *platforms.HealthBox
	log      *slog.Logger
	book     book
	lanes    platforms.Lanes
	webhook  string // empty while polling
	secret   string
}

func (r *receiver) run(ctx context.Context, sink bridge.Sink) error {
	if r.webhook == "" {
		return r.poll(ctx, sink)
	}
	r.commands.register(ctx)
	params := tgbotapi.Params{"url": r.webhook, "secret_token": r.secret, "allowed_updates": allowedUpdates}
	ours := false
	return platforms.Watch(ctx, r.health, func(ctx context.Context) error {
		var is struct{ URL string }
		err := r.client.call(ctx, "getWebhookInfo", tgbotapi.Params{}, &is)
		if err == nil && ours && is.URL != r.webhook {
			r.health.Warn("another program changes the webhook of this bot, and receives some of the clicks", rivalFor)
		}
		if err == nil {
			err = r.client.call(ctx, "setWebhook", params, nil)
		}
		ours = ours || err == nil
		return err
	})
}

func (r *receiver) poll(ctx context.Context, sink bridge.Sink) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	wg.Go(func() { r.commands.register(ctx) })
	wg.Go(func() {
		platforms.Recheck(ctx, r.health, func(ctx context.Context) error { return r.client.call(ctx, "getMe", tgbotapi.Params{}, nil) })
	})
	work := platforms.NewWork(&wg)
	wait, refusals := retryFirst, 0
	for ctx.Err() == nil {
		batch, err := r.fetch(ctx, r.book.offset())
		if err != nil && ctx.Err() == nil {
			if refusals, err = r.missed(ctx, err, &wait, refusals); err != nil {
				return err
			}
			continue
		}
		if ctx.Err() != nil {
			return nil
		}
		wait, refusals = retryFirst, 0
		r.connected()
		fresh := r.book.add(batch)
		for _, raw := range fresh {
			r.begin(ctx, sink, work, raw)
		}
		switch {
		case len(fresh) > 0:
			r.book.settle(ctx, settleFor)
		case len(batch) > 0:
			r.book.settle(ctx, repeatAfter)
		}
	}
	return nil
}

// rivalFor is the time without a conflict after which no other program polls.
// Each long poll of one program ends the long poll of the other.
const rivalFor = 2 * (pollFor + pollGrace)

// connected records that Telegram answered a poll.
func (r *receiver) connected() {
	r.health.Accept()
	r.health.Set(bridge.HealthUp, "")
}

// missed waits after a poll that failed. It returns the number of refusals of the
// token in a row, and an error after the second.
func (r *receiver) missed(ctx context.Context, err error, wait *time.Duration, refusals int) (int, error) {
	switch {
	case platforms.Is(err, platforms.AboutRival):
		r.health.Warn("another program polls with the token of this bot, and receives some of the clicks", rivalFor)
		bridge.Pause(ctx, time.Second)
		return 0, nil
	case platforms.Final(err):
		if refusals++; refusals > 1 {
			r.health.Set(bridge.HealthDown, bridge.PublicError(err).Message)
			return refusals, err
		}
		bridge.Pause(ctx, platforms.SecondLook)
		return refusals, nil
	}
	r.health.Set(bridge.HealthDegraded, bridge.PublicError(err).Message)
	bridge.Pause(ctx, max(*wait, retryAfter(err)))
	*wait = min(2**wait, retryMost)
	return 0, nil
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

// fetch requests the updates from offset on, and confirms all earlier updates.
func (r *receiver) fetch(ctx context.Context, offset int64) ([]json.RawMessage, error) {
	callCtx, cancel := context.WithTimeout(ctx, pollFor+pollGrace)
	defer cancel()
	params := tgbotapi.Params{"timeout": strconv.Itoa(int(pollFor.Seconds())), "allowed_updates": allowedUpdates}
	if offset > 0 {
		params["offset"] = strconv.FormatInt(offset, 10)
	}
	if !r.health.Connected() {
		params["timeout"] = "0" // do not wait, so that the health is known
	}
	var batch []json.RawMessage
	err := r.client.call(callCtx, "getUpdates", params, &batch)
	if platforms.Is(err, platforms.AboutSetting) {
		if r.health.Connected() {
			r.health.Warn("another program sets a webhook for this bot, and receives some of the clicks", rivalFor)
		}
		r.log.Warn("a webhook was set for this bot; removing it, because the config selects polling")
		return nil, errors.Join(r.client.call(callCtx, "deleteWebhook", tgbotapi.Params{}, nil), err)
	}
	return batch, err
}

// Pauses before the next poll. The first is for updates that are still being
// recorded, which Telegram would hand out again. After the second, Telegram answers
// such a poll in full: Client.cpp in github.com/tdlib/telegram-bot-api.
const (
	settleFor   = 100 * time.Millisecond
	repeatAfter = 500 * time.Millisecond
	retryRecord = time.Second
)

// begin starts to handle an update. The messages and the clicks of a person keep their
// order. Polling continues in the meantime.
func (r *receiver) begin(ctx context.Context, sink bridge.Sink, work *platforms.Work, raw json.RawMessage) {
	u := r.inbound.read(raw)
	u.ID = updateID(raw) // even if the update cannot be read
	wait, leave := r.lanes.Enter(u.lane())
	recorded := false
	turn := func() {
		wait()
		r.inbound.prompts.settled(ctx, u)
	}
	work.Do(ctx, turn, func(work context.Context) (then func(context.Context)) {
		for {
			var err error
			if then, err = r.inbound.handle(work, sink, u); err == nil {
				recorded = true
				return then
			}
			r.log.Error("update not recorded; retrying", "error", err)
			if !bridge.Pause(ctx, retryRecord) { // Telegram hands it out again
				return nil
			}
		}
	}, func() {
		leave()
		r.book.done(u.ID, recorded)
	})
}

// handler serves the webhook.
func (r *receiver) handler(sink bridge.Sink) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.webhook == "" || req.Method != http.MethodPost {
			http.NotFound(w, req)
			return
		}
		given := req.Header.Get("X-Telegram-Bot-Api-Secret-Token")
		if subtle.ConstantTimeCompare([]byte(given), []byte(r.secret)) != 1 {
			r.log.Warn("webhook call without the secret token")
			http.Error(w, "bad secret token", http.StatusUnauthorized)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
		if err != nil {
			http.Error(w, "body too large", http.StatusRequestEntityTooLarge)
			return
		}
		ctx := context.WithoutCancel(req.Context())
		u := r.inbound.read(body)
		wait, leave := r.lanes.Enter(u.lane())
		wait()
		r.inbound.prompts.settled(req.Context(), u)
		then, err := r.inbound.handle(ctx, sink, u)
		leave()
		if err != nil {
			http.Error(w, "not recorded", http.StatusServiceUnavailable) // Telegram sends it again
			return
		}
		if then != nil { // the next update must not wait until then has returned
			w.Header().Set("Connection", "close")
		}
		w.Header().Set("Content-Length", "0") // the response is complete at once
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush() // before any text is sent; a recorder in a test cannot flush
		if then != nil {
			then(ctx)
		}
	})
}
