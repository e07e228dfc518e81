package slack

import (
	"context"
	"slices"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/slackmsg"
)

var (
	_ bridge.Grouper   = (*Platform)(nil)
	_ bridge.Mailer    = (*Platform)(nil)
	_ bridge.Reminding = (*Platform)(nil)
)

// Remind implements bridge.Reminding: a reply that the channel sees too.
func (p *Platform) Remind(ctx context.Context, _ bridge.Destination, card bridge.MessageRef, r bridge.Reminder) error {
	thread := card.Message
	if card.Thread != "" {
		thread = card.Thread
	}
	text := ""
	for _, u := range r.Users {
		text += "<@" + slackmsg.Escape(u) + "> "
	}
	if err := p.pacer.Wait(ctx, card.Channel, platforms.Turn{Key: card.Message + r.Text, Rank: platforms.RankAsk}); err != nil {
		return err
	}
	_, _, _, err := p.reply(ctx, card.Channel, thread, []slack.MsgOption{
		slack.MsgOptionText(text+slackmsg.Escape(r.Text), false), slack.MsgOptionParse(false),
		slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
	})
	return p.classify(card.Channel, err)
}

// Belongs implements bridge.Grouper: a group is a user group's id. It needs
// the scope usergroups:read.
func (p *Platform) Belongs(ctx context.Context, group, user string) (bool, error) {
	members, err := p.api.GetUserGroupMembersContext(ctx, group)
	if err != nil {
		return false, bridge.Wrap(bridge.CodeUnavailable, err, "slack: user group %s", group).WithHint("the app needs the scope usergroups:read")
	}
	return slices.Contains(members, user), nil
}

// Email implements bridge.Mailer. It needs the scope users:read.email.
func (p *Platform) Email(ctx context.Context, user string) (string, error) {
	u, err := p.api.GetUserInfoContext(ctx, user)
	if err != nil {
		return "", bridge.Wrap(bridge.CodeUnavailable, err, "slack: e-mail of %s", user).WithHint("the app needs the scopes users:read and users:read.email")
	}
	// Guests from elsewhere, and addresses that nobody confirmed, prove nothing.
	if u.Deleted || u.IsBot || u.IsStranger || !u.IsEmailConfirmed {
		return "", nil
	}
	return u.Profile.Email, nil
}
