// Package telegram connects nod to a Telegram bot by long polling or a
// webhook.
//
// The SDK speaks Bot API 5.5 and is not maintained. Its MakeRequest and
// UploadFiles carry everything; its update loop is not used, because it
// confirms updates before they are handled and prints the token.
//
// The package calls Telegram and takes its updates; a click is applied by the
// sink. Texts and keyboards belong in package telegrammsg.
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
	"sync"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// Notes keeps what a typed reply belongs to; see bridge.Notes.
type Notes interface {
	PutNote(ctx context.Context, key, value string, ttl time.Duration) (string, error)
	Note(ctx context.Context, key string) (string, error)
	DropNote(ctx context.Context, key string) error
}

// Options configures a bot.
type Options struct {
	Name  string
	Token string
	// WebhookURL and WebhookSecret select the webhook; both empty: long
	// polling.
	WebhookURL    string
	WebhookSecret string
	APIURL        string // without the /bot… part; empty: Telegram's own
	HTTPClient    *http.Client
	NoPacing      bool // leave the pace to the service's own limits
	Notes         Notes
	Log           *slog.Logger
}

// Platform is one Telegram bot. It implements bridge.Platform.
type Platform struct {
	name     string
	token    string
	endpoint string
	webhook  string
	secret   string
	client   *http.Client
	notes    Notes
	log      *slog.Logger
	health   platforms.HealthBox
	groups   *platforms.Pacer
	privates *platforms.Pacer
	cards    platforms.KeyedMutex // what one card shows follows the order of what was done to it

	mu       sync.Mutex
	username string // empty until Telegram has said it
}

var (
	_ bridge.Platform  = (*Platform)(nil)
	_ bridge.Healther  = (*Platform)(nil)
	_ bridge.Threader  = (*Platform)(nil)
	_ bridge.Exclusive = (*Platform)(nil)
)

// New returns a bot. It does not touch the network.
func New(o Options) (*Platform, error) {
	id, _, ok := strings.Cut(o.Token, ":")
	if _, err := strconv.ParseInt(id, 10, 64); err != nil || !ok {
		return nil, bridge.Errorf(bridge.CodeInvalid, "telegram: bot_token is not a token").WithHint("a token looks like 123456:ABC…; set TELEGRAM_BOT_TOKEN")
	}
	if (o.WebhookURL == "") != (o.WebhookSecret == "") {
		return nil, bridge.Errorf(bridge.CodeInvalid, "telegram: webhook_url and webhook_secret belong together")
	}
	p := &Platform{
		name: o.Name, token: o.Token, endpoint: tgbotapi.APIEndpoint, webhook: o.WebhookURL, secret: o.WebhookSecret,
		client: o.HTTPClient, notes: o.Notes, log: o.Log,
		// 20 messages and edits a minute and group, one a second and private
		// chat: core.telegram.org/bots/faq.
		groups: platforms.NewPacer(3*time.Second, 15, o.NoPacing), privates: platforms.NewPacer(time.Second, 5, o.NoPacing),
	}
	if o.APIURL != "" {
		p.endpoint = strings.TrimRight(o.APIURL, "/") + "/bot%s/%s"
	}
	if p.client == nil {
		p.client = &http.Client{} // each call has a context that ends
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	return p, nil
}

// Name implements bridge.Platform.
func (p *Platform) Name() string { return p.name }

// Health implements bridge.Healther.
func (p *Platform) Health() bridge.Health { return p.health.Get() }

// ExclusiveKey implements bridge.Exclusive: Telegram ends the older of two
// polls.
func (p *Platform) ExclusiveKey() string {
	if p.webhook != "" {
		return ""
	}
	id, _, _ := strings.Cut(p.token, ":")
	return "telegram:" + id
}

// Check implements bridge.Platform.
func (p *Platform) Check(i bridge.Interaction, d bridge.Destination) error {
	if _, err := strconv.ParseInt(d.Channel, 10, 64); err != nil && !strings.HasPrefix(d.Channel, "@") {
		return bridge.Errorf(bridge.CodeUnsupported, "telegram: %q is no chat id", d.Channel)
	}
	v := bridge.NewView(bridge.Record{Interaction: i, State: bridge.StatePending}, 0, nil, func(bridge.Control) string {
		return strings.Repeat("0", bridge.TokenLength)
	})
	_, err := telegrammsg.Build(v)
	return err
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

func (p *Platform) bot(ctx context.Context) *tgbotapi.BotAPI {
	b := &tgbotapi.BotAPI{Token: p.token, Client: ctxClient{ctx, p.client}}
	b.SetAPIEndpoint(p.endpoint)
	return b
}

// call makes a request and decodes its result into out, which may be nil.
func (p *Platform) call(ctx context.Context, method string, params tgbotapi.Params, out any) error {
	resp, err := p.bot(ctx).MakeRequest(method, params)
	if err != nil {
		return p.classify(ctx, params["chat_id"], err)
	}
	return decode(resp, out)
}

func decode(resp *tgbotapi.APIResponse, out any) error {
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(resp.Result, out); err != nil {
		return bridge.Wrap(bridge.CodeUnavailable, err, "telegram: an answer that can not be read")
	}
	return nil
}

// sent is the part of a message that nod reads.
type sent struct {
	ID     int64 `json:"message_id"`
	Thread int64 `json:"message_thread_id"`
	// InTopic is true if Thread is a topic. Every reply in a supergroup has a
	// thread, and Telegram refuses messages to a thread that is not a topic.
	InTopic bool `json:"is_topic_message"`
	Chat    struct {
		ID int64 `json:"id"`
	} `json:"chat"`
	Text     string `json:"text"`
	Document *struct {
		Size int64 `json:"file_size"`
	} `json:"document"`
}

func (s sent) ref() bridge.MessageRef {
	r := bridge.MessageRef{Channel: strconv.FormatInt(s.Chat.ID, 10), Message: strconv.FormatInt(s.ID, 10)}
	if s.InTopic {
		r.Thread = strconv.FormatInt(s.Thread, 10)
	}
	return r
}

// answering returns the parameters of a message that replies to another one, in
// the same topic.
func answering(ref bridge.MessageRef) tgbotapi.Params {
	params := tgbotapi.Params{"chat_id": ref.Channel, "reply_parameters": replyTo(ref.Message)}
	if ref.Thread != "" {
		params["message_thread_id"] = ref.Thread
	}
	return params
}

// Post implements bridge.Platform. Telegram has no idempotent post: after an
// answer that got lost, a second card appears, and the first one is closed
// when somebody touches it.
func (p *Platform) Post(ctx context.Context, d bridge.Destination, v bridge.View, parts *bridge.Parts) (bridge.MessageRef, error) {
	m, err := telegrammsg.Build(v)
	if err != nil {
		return bridge.MessageRef{}, err
	}
	topic, reply, _ := strings.Cut(d.Thread, "#")
	params := tgbotapi.Params{"chat_id": p.current(ctx, d.Channel)}
	if topic != "" {
		params["message_thread_id"] = topic
	}
	if reply != "" {
		params["reply_parameters"] = replyTo(reply)
	}
	doc, err := p.sendFile(ctx, d.Channel, params, v, m, parts)
	if err != nil {
		return bridge.MessageRef{}, err
	}
	if doc != "" {
		params["reply_parameters"] = replyTo(doc)
	}
	if err := p.pace(ctx, d.Channel, platforms.NextTurn(v.Record.Interaction, len(parts.Sent()))); err != nil {
		return bridge.MessageRef{}, err
	}
	return p.sendCard(ctx, params, m)
}

// body returns the parameters that sending and editing a message have in
// common.
func body(m telegrammsg.Message) (tgbotapi.Params, error) {
	params := tgbotapi.Params{"text": m.Text, "link_preview_options": `{"is_disabled":true}`}
	if len(m.Entities) > 0 {
		raw, err := json.Marshal(m.Entities)
		if err != nil {
			return nil, bridge.Wrap(bridge.CodeInternal, err, "entities")
		}
		params["entities"] = string(raw)
	}
	if len(m.Keyboard) > 0 {
		raw, err := json.Marshal(struct {
			Rows [][]telegrammsg.Button `json:"inline_keyboard"`
		}{m.Keyboard})
		if err != nil {
			return nil, bridge.Wrap(bridge.CodeInternal, err, "keyboard")
		}
		params["reply_markup"] = string(raw)
	}
	return params, nil
}

// Update implements bridge.Platform. It also removes the prompts that the card
// no longer needs.
func (p *Platform) Update(ctx context.Context, ref bridge.MessageRef, v bridge.View, parts *bridge.Parts) error {
	err := p.redraw(ctx, ref, v, parts)
	if err := p.retire(ctx, ref, v.Pending()); err != nil {
		p.log.Warn("prompts not removed", "platform", p.name, "error", err)
	}
	return err
}

// redraw edits a card. An edit without a keyboard removes it: while the file is
// missing, the card has none.
func (p *Platform) redraw(ctx context.Context, ref bridge.MessageRef, v bridge.View, parts *bridge.Parts) error {
	m, err := telegrammsg.Build(v)
	if err != nil {
		return err
	}
	if m.File == nil || len(parts.Sent()) > 0 {
		return p.edit(ctx, ref, v, m)
	}
	first, err := telegrammsg.Build(v.Unfinished())
	if err != nil {
		return err
	}
	if err := p.edit(ctx, ref, v, first); err != nil || parts.Closed() {
		return err
	}
	if _, err := p.sendFile(ctx, ref.Channel, answering(ref), v, m, parts); err != nil {
		return err
	}
	return p.edit(ctx, ref, v, m)
}

// Thread implements bridge.Threader: cards of a session answer its first card.
func (p *Platform) Thread(_ context.Context, d bridge.Destination, first bridge.MessageRef, _ string) (bridge.Destination, error) {
	d.Thread = first.Thread + "#" + first.Message
	return d, nil
}

func (p *Platform) pace(ctx context.Context, chat string, turn platforms.Turn) error {
	if strings.HasPrefix(chat, "-") {
		return p.groups.Wait(ctx, chat, turn)
	}
	return p.privates.Wait(ctx, chat, turn)
}

// classify gives an error of the API a code. The token, which is in every URL,
// never gets into it.
func (p *Platform) classify(ctx context.Context, chat string, err error) error {
	te, ok := errors.AsType[*tgbotapi.Error](err)
	if !ok {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return bridge.Errorf(bridge.CodeUnavailable, "telegram: an answer that is not JSON")
		}
		return platforms.NetworkError("telegram", err)
	}
	code := te.Code
	switch {
	case te.RetryAfter > 0 || code == 429:
		wait := time.Duration(max(1, te.RetryAfter)) * time.Second
		p.groups.Hold(chat, wait)
		p.privates.Hold(chat, wait)
		e := bridge.Errorf(bridge.CodeRateLimited, "telegram: %s", te.Message)
		e.RetryAfter = wait
		return e
	case te.MigrateToChatID != 0:
		if err := p.learn(ctx, chat, te.MigrateToChatID); err != nil {
			p.log.Error("supergroup not remembered", "platform", p.name, "error", err)
		}
		to := movedError{strconv.FormatInt(te.MigrateToChatID, 10)}
		return bridge.Wrap(bridge.CodeUnavailable, to, "telegram: %v", to).WithHint("replace the group's ID in the config")
	case strings.Contains(te.Message, "message is not modified"):
		return nil
	case code == 401 || code == 404 && te.Message == "Not Found":
		p.health.Refuse("the token is refused")
		return bridge.Errorf(bridge.CodeForbidden, "telegram: the token is refused").WithHint("ask @BotFather for the bot's token")
	case code == 403:
		return bridge.Errorf(bridge.CodeForbidden, "telegram: %s", te.Message)
	case code >= 500:
		return bridge.Errorf(bridge.CodeUnavailable, "telegram: %s", te.Message)
	}
	return bridge.Errorf(bridge.CodeInvalid, "telegram: %s", te.Message)
}
