package telegram

import (
	"context"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/platforms"
)

// people looks up the members of groups.
type people struct {
	client *client
	chats  *chats
}

// belongs reports whether a user is an administrator of a chat.
func (p *people) belongs(ctx context.Context, group, user string) (bool, error) {
	var m struct {
		Status string `json:"status"`
	}
	params := tgbotapi.Params{"chat_id": p.chats.current(ctx, group), "user_id": user}
	err := p.client.call(ctx, "getChatMember", params, &m)
	if platforms.Is(err, platforms.AboutPerson) {
		return false, nil
	}
	return m.Status == "creator" || m.Status == "administrator", err
}
