package telegram

import (
	"context"
	"html"
	"strconv"
	"strings"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/telegrammsg"
)

var (
	_ bridge.Grouper   = (*Platform)(nil)
	_ bridge.Reminding = (*Platform)(nil)
)

// Remind implements bridge.Reminding: a reply to the card. Only those whom it is
// for are mentioned, whatever its text says.
func (p *Platform) Remind(ctx context.Context, d bridge.Destination, card bridge.MessageRef, r bridge.Reminder) error {
	text := ""
	for _, u := range r.Users {
		if _, err := strconv.ParseInt(u, 10, 64); err == nil {
			text += `<a href="tg://user?id=` + u + `">👤</a> `
		}
	}
	params := tgbotapi.Params{
		"chat_id": p.current(card.Channel), "text": text + html.EscapeString(telegrammsg.Unlinked(r.Text)), "parse_mode": "HTML", "link_preview_options": `{"is_disabled":true}`,
		"reply_parameters": `{"message_id":` + card.Message + `,"allow_sending_without_reply":true}`,
	}
	if topic, _, _ := strings.Cut(d.Thread, "#"); topic != "" {
		params["message_thread_id"] = topic
	}
	if err := p.pace(ctx, card.Channel, platforms.Turn{Key: card.Message + r.Text, Rank: platforms.RankAsk}); err != nil {
		return err
	}
	return p.call(ctx, "sendMessage", params, nil)
}

// Belongs implements bridge.Grouper: a group is a chat, and those in it are
// its administrators.
func (p *Platform) Belongs(ctx context.Context, group, user string) (bool, error) {
	var m struct {
		Status string `json:"status"`
	}
	err := p.call(ctx, "getChatMember", tgbotapi.Params{"chat_id": group, "user_id": user}, &m)
	if err != nil && strings.Contains(err.Error(), "user not found") {
		return false, nil
	}
	return m.Status == "creator" || m.Status == "administrator", err
}
