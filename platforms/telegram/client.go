package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
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
	// 20 messages and edits a minute in a group, one a second in a private
	// chat, 30 a second in all: core.telegram.org/bots/faq.
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
		c.http = &http.Client{} // each call has a context that ends
	}
	return c
}

// ctxClient gives the SDK's calls a context.
type ctxClient struct {
	ctx    context.Context
	client *http.Client
}

// Do implements tgbotapi.HTTPClient.
func (c ctxClient) Do(r *http.Request) (*http.Response, error) {
	return c.client.Do(r.WithContext(c.ctx))
}

// bot returns the SDK's client for calls that end with ctx.
func (c *client) bot(ctx context.Context) *tgbotapi.BotAPI {
	b := &tgbotapi.BotAPI{Token: c.token, Client: ctxClient{ctx, c.http}}
	b.SetAPIEndpoint(c.endpoint)
	return b
}

// call makes a call and decodes its result into out, which may be nil.
func (c *client) call(ctx context.Context, method string, params tgbotapi.Params, out any) error {
	resp, err := c.bot(ctx).MakeRequest(method, params)
	return c.result(ctx, params, resp, err, out)
}

// upload makes a call that carries a file in the given field.
func (c *client) upload(ctx context.Context, method string, params tgbotapi.Params, field string, f tgbotapi.FileBytes,
	out any) error {
	resp, err := c.bot(ctx).UploadFiles(method, params, []tgbotapi.RequestFile{{Name: field, Data: f}})
	return c.result(ctx, params, resp, err, out)
}

// result decodes the response to a call into out, or classifies its error.
func (c *client) result(ctx context.Context, params tgbotapi.Params, resp *tgbotapi.APIResponse, err error, out any) error {
	if err != nil {
		return c.classify(ctx, params["chat_id"], err)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(resp.Result, out); err != nil {
		return bridge.Wrap(bridge.CodeUnavailable, err, "telegram: unreadable answer")
	}
	return nil
}

// remove deletes a message of the bot if it still can.
func (c *client) remove(ctx context.Context, ref bridge.MessageRef) {
	params := tgbotapi.Params{"chat_id": ref.Channel, "message_id": ref.Message}
	if err := c.call(ctx, "deleteMessage", params, nil); err != nil {
		c.log.Debug("message not removed", "error", err)
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

// classify gives an error of the API a code. The token, which is in every URL,
// never gets into it.
func (c *client) classify(ctx context.Context, chat string, err error) error {
	te, ok := errors.AsType[*tgbotapi.Error](err)
	if !ok {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return bridge.Errorf(bridge.CodeUnavailable, "telegram: an answer that is not JSON")
		}
		return platforms.NetworkError("telegram", err)
	}
	switch code := te.Code; {
	case te.RetryAfter > 0 || code == 429:
		return c.hold(ctx, chat, te)
	case te.MigrateToChatID != 0:
		return c.moved(ctx, chat, te.MigrateToChatID)
	case strings.Contains(te.Message, "message is not modified"):
		return nil
	case code == 401 || code == 404 && te.Message == "Not Found":
		c.health.Refuse("the token is refused")
		return bridge.Errorf(bridge.CodeForbidden, "telegram: the token is refused").WithHint("ask @BotFather for the bot's token")
	case code == 403:
		return bridge.Errorf(bridge.CodeForbidden, "telegram: %s", te.Message)
	case code >= 500:
		return bridge.Errorf(bridge.CodeUnavailable, "telegram: %s", te.Message)
	}
	return bridge.Errorf(bridge.CodeInvalid, "telegram: %s", te.Message)
}

// hold stops sending to a chat for as long as Telegram requires.
func (c *client) hold(ctx context.Context, chat string, te *tgbotapi.Error) error {
	wait := time.Duration(max(1, te.RetryAfter)) * time.Second
	c.pacer(chat).Hold(ctx, chat, wait)
	e := bridge.Errorf(bridge.CodeRateLimited, "telegram: %s", te.Message)
	e.RetryAfter = wait
	return e
}

// moved remembers the supergroup that a basic group became. The call can be
// repeated with its ID.
func (c *client) moved(ctx context.Context, chat string, id int64) error {
	if err := c.chats.learn(ctx, chat, id); err != nil {
		c.log.Error("supergroup not remembered", "error", err)
	}
	to := movedError{strconv.FormatInt(id, 10)}
	return bridge.Wrap(bridge.CodeUnavailable, to, "telegram: %v", to).WithHint("replace the group's ID in the config")
}

func retryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*bridge.Error](err); ok {
		return e.RetryAfter
	}
	return 0
}
