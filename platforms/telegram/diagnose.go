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

const (
	fixTelegramToken = "ask @BotFather in Telegram for the token (/mybots > your bot > API Token), and set TELEGRAM_BOT_TOKEN"
	// freshTrouble is the maximum age of a webhook error that counts.
	freshTrouble = 10 * time.Minute
)

// doctor checks the setup of a bot.
type doctor struct {
	name    string
	client  *client
	webhook string
}

func (d *doctor) diagnose(ctx context.Context, needs bridge.Needs) []bridge.Finding {
	r := &platforms.Report{Platform: d.name}
	var me tgbotapi.User
	if err := d.client.call(ctx, "getMe", tgbotapi.Params{}, &me); err != nil {
		r.Fail("token", err, fixTelegramToken)
		return r.Findings
	}
	r.Add("token", bridge.FindingOK, "@"+me.UserName, "")
	d.diagnoseServer(ctx, r)
	d.diagnoseWebhook(ctx, r)
	for _, dest := range needs.Destinations {
		d.diagnoseChat(ctx, r, dest, me)
	}
	d.accounts(ctx, r, needs)
	server := strings.TrimSuffix(fmt.Sprintf(d.client.endpoint, "", ""), "bot/")
	r.Findings = append(r.Findings, platforms.Clock(ctx, d.client.http, server, d.name+".clock"))
	return r.Findings
}

// introduce waits for the next message to the bot.
func (d *doctor) introduce(ctx context.Context) (platforms.Introduced, error) {
	offset := int64(-1) // earlier messages do not count
	for ctx.Err() == nil {
		var updates []tgbotapi.Update
		params := tgbotapi.Params{"timeout": "5", "offset": strconv.FormatInt(offset, 10), "allowed_updates": allowedUpdates}
		if offset < 0 {
			params["timeout"] = "0"
		}
		if err := d.client.call(ctx, "getUpdates", params, &updates); err != nil {
			return platforms.Introduced{}, err
		}
		fresh := offset >= 0
		offset = max(offset, 0)
		for _, u := range updates {
			offset = max(offset, int64(u.UpdateID)+1)
			if m := u.Message; fresh && m != nil && m.From != nil && !m.From.IsBot {
				chat, who := strconv.FormatInt(m.Chat.ID, 10), strconv.FormatInt(m.From.ID, 10)
				return platforms.Introduced{Place: chat, Title: m.Chat.Title, User: who, Name: m.From.FirstName}, nil
			}
		}
	}
	return platforms.Introduced{}, ctx.Err()
}

func (d *doctor) diagnoseWebhook(ctx context.Context, r *platforms.Report) {
	var w tgbotapi.WebhookInfo
	if err := d.client.call(ctx, "getWebhookInfo", tgbotapi.Params{}, &w); err != nil {
		r.Fail("webhook", err, "")
		return
	}
	trouble := w.LastErrorMessage != "" && time.Since(time.Unix(int64(w.LastErrorDate), 0)) < freshTrouble
	switch {
	case d.webhook == "" && w.URL != "":
		r.Add("webhook", bridge.FindingWarning,
			"updates go to the webhook "+w.URL+"; nod serve removes it, because the config selects polling",
			"create a separate bot for nod if another program needs that webhook")
	case d.webhook == "":
		r.Add("poller", bridge.FindingOK, fmt.Sprintf("no webhook is set; %d updates are pending", w.PendingUpdateCount), "")
	case w.URL != d.webhook:
		r.Add("webhook", bridge.FindingWarning, "the webhook is not set yet", "nod serve sets it when it starts")
	case trouble:
		r.Add("webhook", bridge.FindingFailed, "Telegram cannot deliver to it: "+w.LastErrorMessage,
			"let "+w.URL+" reach nod serve, with a valid certificate")
	default:
		r.Add("webhook", bridge.FindingOK, w.URL, "")
	}
}

// successor returns the ID of the supergroup that a basic group became, or "".
// Only a call that requires the permission to write returns it.
func (d *doctor) successor(ctx context.Context, c tgbotapi.Chat) string {
	if !c.IsGroup() {
		return ""
	}
	params := tgbotapi.Params{"chat_id": strconv.FormatInt(c.ID, 10), "action": "typing"}
	moved, _ := errors.AsType[movedError](d.client.call(ctx, "sendChatAction", params, nil))
	return moved.to
}

func (d *doctor) diagnoseChat(ctx context.Context, r *platforms.Report, dest bridge.Destination, me tgbotapi.User) {
	check := "chat." + dest.Channel
	var c tgbotapi.Chat
	if err := d.client.call(ctx, "getChat", tgbotapi.Params{"chat_id": dest.Channel}, &c); err != nil {
		fix := "add @" + me.UserName + " to the group; /nod who there shows the ID of the group"
		if !strings.HasPrefix(dest.Channel, "-") {
			fix = "have the person click Start in a chat with @" + me.UserName
		}
		r.Fail(check, err, fix)
		return
	}
	if c.IsPrivate() {
		r.Add(check, bridge.FindingOK, "a chat with "+c.FirstName, "")
		return
	}
	var m tgbotapi.ChatMember
	to := d.successor(ctx, c)
	err := d.client.call(ctx, "getChatMember", tgbotapi.Params{"chat_id": dest.Channel, "user_id": strconv.FormatInt(me.ID, 10)}, &m)
	switch {
	case to != "":
		r.Add(check, bridge.FindingWarning, c.Title+" became the supergroup "+to, "replace "+dest.Channel+" with "+to+" in the config")
	case err != nil:
		r.Fail(check, err, "add @"+me.UserName+" to the group")
	case m.HasLeft() || m.WasKicked():
		r.Add(check, bridge.FindingFailed, "the bot is not in "+c.Title, "add @"+me.UserName+" to the group")
	case m.Status == "restricted" && !m.CanSendMessages:
		r.Add(check, bridge.FindingFailed, "the bot may not send messages in "+c.Title,
			"allow it at the group > Edit > Permissions, or make it an administrator")
	default:
		r.Add(check, bridge.FindingOK, "the bot is in "+c.Title, "")
	}
}
