package telegram

import (
	"context"
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

// Remind implements bridge.Reminding: a reply to the card that mentions only
// the users of the reminder, whatever its text contains.
func (p *Platform) Remind(ctx context.Context, _ bridge.Destination, card bridge.MessageRef, r bridge.Reminder) error {
	if err := p.pace(ctx, card.Channel, platforms.Turn{Key: card.Message + r.Text, Rank: platforms.RankAsk}); err != nil {
		return err
	}
	params := answering(card)
	params["chat_id"] = p.current(ctx, card.Channel)
	_, err := p.send(ctx, params, telegrammsg.Reminder(r))
	return err
}

// Belongs implements bridge.Grouper: a group is a chat, and those in it are
// its administrators.
func (p *Platform) Belongs(ctx context.Context, group, user string) (bool, error) {
	var m struct {
		Status string `json:"status"`
	}
	err := p.call(ctx, "getChatMember", tgbotapi.Params{"chat_id": p.current(ctx, group), "user_id": user}, &m)
	if err != nil && strings.Contains(err.Error(), "user not found") {
		return false, nil
	}
	return m.Status == "creator" || m.Status == "administrator", err
}
