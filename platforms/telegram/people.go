package telegram

import (
	"context"
	"strings"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
)

var _ bridge.Grouper = (*Platform)(nil)

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
