package telegram

import (
	"context"
	"strings"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

// accounts checks that people are in the first group. A bot cannot look up
// anyone else.
func (d *doctor) accounts(ctx context.Context, r *platforms.Report, needs bridge.Needs) {
	group := ""
	for _, to := range needs.Destinations {
		if group == "" && strings.HasPrefix(to.Channel, "-") {
			group = to.Channel
		}
	}
	for _, id := range needs.Accounts {
		check := "account." + id
		if group == "" {
			r.Add(check, bridge.FindingSkipped, "a bot can look up people only in a group", "")
			continue
		}
		var m tgbotapi.ChatMember
		err := d.client.call(ctx, "getChatMember", tgbotapi.Params{"chat_id": group, "user_id": id}, &m)
		fix := "add the person to the group; /nod who shows the ID there"
		switch {
		case platforms.Is(err, platforms.AboutPerson):
			r.Add(check, bridge.FindingFailed, "no one in the group has this ID", fix)
		case err != nil:
			r.Fail(check, err, "")
		case m.HasLeft() || m.WasKicked():
			r.Add(check, bridge.FindingFailed, "the person is not in the group", fix)
		case m.User != nil && m.User.IsBot:
			r.Add(check, bridge.FindingFailed, "the account is a bot, which cannot answer", fix)
		case m.User != nil:
			r.Add(check, bridge.FindingOK, strings.TrimSpace(m.User.FirstName+" "+m.User.LastName), "")
		default:
			r.Add(check, bridge.FindingOK, "the person is in the group", "")
		}
	}
}
