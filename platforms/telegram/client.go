package telegram

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// client makes the calls of one bot, at the pace that Telegram allows, and
// gives their errors a code.
type client struct {
	token    string
	endpoint string
	http     *http.Client
	groups   *platforms.Pacer
	privates *platforms.Pacer
	chats    *chats
	health   *platforms.HealthBox
	log      *slog.Logger
	lacks    lacking
}

func newClient(o Options, chats *chats, health *platforms.HealthBox, log *slog.Logger) *client {
	c := &client{
		token: o.Token, endpoint: tgbotapi.APIEndpoint, http: o.HTTPClient, chats: chats, health: health, log: log,
	}
	// Telegram allows 20 messages and edits per minute in a group, one per
	// second in a private chat, and 30 per second in total:
	// core.telegram.org/bots/faq.
	pace := platforms.Pace{
		Platform: o.Name, Turns: o.Turns, Off: o.NoPacing, Log: log,
		Channel: []bridge.Limit{{Line: "chat ", Calls: 20, Period: time.Minute}},
		All:     []bridge.Limit{{Line: "all", Calls: 30, Period: time.Second}},
	}
	c.groups = platforms.NewPacer(pace)
	pace.Channel = []bridge.Limit{{Line: "chat ", Calls: 5, Period: 5 * time.Second, Steady: true}}
	c.privates = platforms.NewPacer(pace)
	if o.APIURL != "" {
		c.endpoint = strings.TrimRight(o.APIURL, "/") + "/bot%s/%s"
	}
	if c.http == nil {
		c.http = platforms.Client(0) // each call has a context that ends
	}
	return c
}

// answer is the answer to a call.
type answer struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	Code        int             `json:"error_code"`
	Description string          `json:"description"`
	Parameters  struct {
		RetryAfter int   `json:"retry_after"`
		MovedTo    int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

// maxAnswer limits the size of an answer: a hundred updates, each with a message.
const maxAnswer = 8 << 20

// threaded makes a call, and repeats it without the topic if Telegram refuses a
// reply or an ephemeral reply there. A group can turn off its topics. A reply
// then needs no topic, because Telegram places it with the message that it
// replies to.
func threaded(params tgbotapi.Params, call func(tgbotapi.Params) error) error {
	err := call(params)
	follows := params["reply_parameters"] != "" || params["ephemeral_message_parameters"] != ""
	if !platforms.Is(err, platforms.AboutThread) || params["message_thread_id"] == "" || !follows {
		return err
	}
	params = maps.Clone(params)
	delete(params, "message_thread_id")
	return call(params)
}

// call makes a call and decodes its result into out, which may be nil.
func (c *client) call(ctx context.Context, method string, params tgbotapi.Params, out any) error {
	return threaded(params, func(params tgbotapi.Params) error {
		form := url.Values{}
		for name, value := range params {
			form.Set(name, value)
		}
		return c.post(ctx, method, params["chat_id"], "application/x-www-form-urlencoded", []byte(form.Encode()), out)
	})
}

// upload makes a call that carries a file in the given field.
func (c *client) upload(ctx context.Context, method string, params tgbotapi.Params, field string, f tgbotapi.FileBytes,
	out any) error {
	return threaded(params, func(params tgbotapi.Params) error { return c.multipart(ctx, method, params, field, f, out) })
}

func (c *client) multipart(ctx context.Context, method string, params tgbotapi.Params, field string, f tgbotapi.FileBytes,
	out any) error {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	err := func() error {
		for name, value := range params {
			if err := w.WriteField(name, value); err != nil {
				return err
			}
		}
		part, err := w.CreateFormFile(field, f.Name)
		if err != nil {
			return err
		}
		if _, err := part.Write(f.Bytes); err != nil {
			return err
		}
		return w.Close()
	}()
	if err != nil {
		return bridge.Wrap(bridge.CodeInternal, err, "telegram: multipart")
	}
	return c.post(ctx, method, params["chat_id"], w.FormDataContentType(), body.Bytes(), out)
}

// post makes a call. The SDK's own calls drop the code of an error after an
// upload, and have no context.
func (c *client) post(ctx context.Context, method, chat, kind string, body []byte, out any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf(c.endpoint, c.token, method), bytes.NewReader(body))
	if err != nil {
		return bridge.Errorf(bridge.CodeInternal, "telegram: the address of the API is not a URL")
	}
	req.Header.Set("Content-Type", kind)
	resp, err := c.http.Do(req)
	if err != nil {
		return platforms.NetworkError("telegram", err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return platforms.NetworkError("telegram", err)
	}
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil { // a proxy in front of the API responded
		wait, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // zero if there is none
		return proxied(resp.StatusCode).WithWait(time.Duration(wait)*time.Second).Err(nil, "telegram: HTTP %d, but the body is not JSON", resp.StatusCode)
	}
	if !a.OK {
		a.Code = cmp.Or(a.Code, resp.StatusCode)
		return c.classify(ctx, chat, a)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(a.Result, out); err != nil {
		return bridge.Wrap(bridge.CodeUnavailable, err, "telegram: unreadable answer")
	}
	return nil
}

// proxied returns the row for a response that does not come from the API, such
// as a response of a proxy.
func proxied(status int) platforms.Row {
	switch status {
	case http.StatusTooManyRequests:
		return rowOf(status, "Too Many Requests")
	case http.StatusRequestEntityTooLarge:
		return rowOf(status, "Request Entity Too Large")
	}
	return rowOf(http.StatusBadGateway, "")
}

// remove deletes a message of the bot, and reports whether it could.
func (c *client) remove(ctx context.Context, ref bridge.MessageRef) bool {
	params := tgbotapi.Params{"chat_id": ref.Channel, "message_id": ref.Message}
	err := c.call(ctx, "deleteMessage", params, nil)
	if err != nil {
		c.log.Debug("message not removed", "error", err)
	}
	return err == nil
}

// takeBack deletes a message that does not show everything. If it cannot delete
// the message, it removes the controls.
func (c *client) takeBack(ctx context.Context, ref bridge.MessageRef, m telegrammsg.Message) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterwards)
	defer cancel()
	if c.remove(ctx, ref) {
		return
	}
	m.Keyboard = nil
	if _, err := c.edit(ctx, ref, m); err != nil {
		c.log.Error("incomplete message still has its controls", "message", ref.Message, "error", err)
	}
}

// removePrivate deletes a message of the bot that only one person sees.
func (c *client) removePrivate(ctx context.Context, chat, id, user string) {
	params := tgbotapi.Params{"chat_id": chat, "receiver_user_id": user, "ephemeral_message_id": id}
	if err := c.call(ctx, "deleteEphemeralMessage", params, nil); err != nil {
		c.log.Debug("private message not removed", "error", err)
	}
}

// paced makes a call that sends or edits a message at its turn.
func (c *client) paced(ctx context.Context, chat string, turn platforms.Turn, call func() error) error {
	return c.pacer(chat).Do(ctx, chat, turn, call)
}

func (c *client) pacer(chat string) *platforms.Pacer {
	if strings.HasPrefix(chat, "-") {
		return c.groups
	}
	return c.privates
}
