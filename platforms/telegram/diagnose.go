package telegram

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

var _ bridge.Diagnoser = (*Platform)(nil)

const (
	fixTelegramToken = "ask @BotFather in Telegram for it: /mybots > your bot > API Token, and set TELEGRAM_BOT_TOKEN to it"
	// freshTrouble is how recent an error of the webhook has to be to count.
	freshTrouble = 10 * time.Minute
)

// Diagnose implements bridge.Diagnoser. It asks for no updates: that would end
// the poll of a daemon that runs.
func (p *Platform) Diagnose(ctx context.Context, needs bridge.Needs) []bridge.Finding {
	r := &platforms.Report{Platform: p.name}
	var me tgbotapi.User
	if err := p.call(ctx, "getMe", tgbotapi.Params{}, &me); err != nil {
		r.Fail("token", err, fixTelegramToken)
		return r.Findings
	}
	r.Add("token", bridge.FindingOK, "@"+me.UserName, "")
	p.diagnoseWebhook(ctx, r)
	for _, d := range needs.Destinations {
		p.diagnoseChat(ctx, r, d, me)
	}
	r.Findings = append(r.Findings, platforms.Clock(ctx, p.client, strings.TrimSuffix(fmt.Sprintf(p.endpoint, "", ""), "bot/"), p.name+".clock"))
	return r.Findings
}

// Introduced is who wrote to the bot, and where.
type Introduced struct{ Chat, Title, User, Name string }

// Introduce waits for the next message to the bot. It must not be called while a
// daemon polls.
func (p *Platform) Introduce(ctx context.Context) (Introduced, error) {
	offset := int64(-1) // what came before does not count
	for ctx.Err() == nil {
		var updates []tgbotapi.Update
		params := tgbotapi.Params{"timeout": "5", "offset": strconv.FormatInt(offset, 10), "allowed_updates": allowedUpdates}
		if offset < 0 {
			params["timeout"] = "0"
		}
		if err := p.call(ctx, "getUpdates", params, &updates); err != nil {
			return Introduced{}, err
		}
		fresh := offset >= 0
		offset = max(offset, 0)
		for _, u := range updates {
			offset = max(offset, int64(u.UpdateID)+1)
			if m := u.Message; fresh && m != nil && m.From != nil && !m.From.IsBot {
				return Introduced{Chat: strconv.FormatInt(m.Chat.ID, 10), Title: m.Chat.Title, User: strconv.FormatInt(m.From.ID, 10), Name: m.From.FirstName}, nil
			}
		}
	}
	return Introduced{}, ctx.Err()
}

func (p *Platform) diagnoseWebhook(ctx context.Context, r *platforms.Report) {
	var w tgbotapi.WebhookInfo
	if err := p.call(ctx, "getWebhookInfo", tgbotapi.Params{}, &w); err != nil {
		r.Fail("webhook", err, "")
		return
	}
	trouble := w.LastErrorMessage != "" && time.Since(time.Unix(int64(w.LastErrorDate), 0)) < freshTrouble
	switch {
	case p.webhook == "" && w.URL != "":
		r.Add("webhook", bridge.FindingWarning, "updates go to the webhook "+w.URL+"; nod serve takes it away, as the config says polling", "make a bot of its own for nod if another program needs that webhook")
	case p.webhook == "":
		r.Add("poller", bridge.FindingOK, fmt.Sprintf("no webhook is in the way; %d updates wait", w.PendingUpdateCount), "")
	case w.URL != p.webhook:
		r.Add("webhook", bridge.FindingWarning, "the webhook is not set yet", "nod serve sets it when it starts")
	case trouble:
		r.Add("webhook", bridge.FindingFailed, "Telegram can not deliver to it: "+w.LastErrorMessage, "let "+w.URL+" reach nod serve, with a valid certificate")
	default:
		r.Add("webhook", bridge.FindingOK, w.URL, "")
	}
}

// successor returns the ID of the supergroup that a basic group became, or "".
// Only a call that needs the permission to write learns it.
func (p *Platform) successor(ctx context.Context, c tgbotapi.Chat) string {
	if !c.IsGroup() {
		return ""
	}
	params := tgbotapi.Params{"chat_id": strconv.FormatInt(c.ID, 10), "action": "typing"}
	moved, _ := errors.AsType[movedError](p.call(ctx, "sendChatAction", params, nil))
	return moved.to
}

func (p *Platform) diagnoseChat(ctx context.Context, r *platforms.Report, d bridge.Destination, me tgbotapi.User) {
	check := "chat." + d.Channel
	var c tgbotapi.Chat
	if err := p.call(ctx, "getChat", tgbotapi.Params{"chat_id": d.Channel}, &c); err != nil {
		fix := "add @" + me.UserName + " to the group, and see the group's id with /nod who there"
		if !strings.HasPrefix(d.Channel, "-") {
			fix = "have the person press Start in a chat with @" + me.UserName
		}
		r.Fail(check, err, fix)
		return
	}
	if c.IsPrivate() {
		r.Add(check, bridge.FindingOK, "a chat with "+c.FirstName, "")
		return
	}
	var m tgbotapi.ChatMember
	to := p.successor(ctx, c)
	err := p.call(ctx, "getChatMember", tgbotapi.Params{"chat_id": d.Channel, "user_id": strconv.FormatInt(me.ID, 10)}, &m)
	switch {
	case to != "":
		r.Add(check, bridge.FindingWarning, c.Title+" became the supergroup "+to, "replace "+d.Channel+" with "+to+" in the config")
	case err != nil:
		r.Fail(check, err, "add @"+me.UserName+" to the group")
	case m.HasLeft() || m.WasKicked():
		r.Add(check, bridge.FindingFailed, "the bot is not in "+c.Title, "add @"+me.UserName+" to the group")
	case m.Status == "restricted" && !m.CanSendMessages:
		r.Add(check, bridge.FindingFailed, "the bot may not send messages in "+c.Title, "allow it at the group > Edit > Permissions, or make it an administrator")
	default:
		r.Add(check, bridge.FindingOK, "the bot is in "+c.Title, "")
	}
}
