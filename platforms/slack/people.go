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

// Remind implements bridge.Reminding. It replies to the card, and the channel
// sees the reply too.
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

// Belongs implements bridge.Grouper. Group is the ID of a user group. The app
// needs the scope usergroups:read.
func (p *Platform) Belongs(ctx context.Context, group, user string) (bool, error) {
	members, err := p.api.GetUserGroupMembersContext(ctx, group)
	if err != nil {
		return false, bridge.Wrap(bridge.CodeUnavailable, err, "slack: user group %s", group).WithHint("add the scope usergroups:read to the app")
	}
	return slices.Contains(members, user), nil
}

// Email implements bridge.Mailer. The app needs the scope users:read.email.
func (p *Platform) Email(ctx context.Context, user string) (string, error) {
	u, err := p.api.GetUserInfoContext(ctx, user)
	if err != nil {
		return "", bridge.Wrap(bridge.CodeUnavailable, err, "slack: email address of %s", user).WithHint("add the scopes users:read and users:read.email to the app")
	}
	// Neither an account of another workspace nor an unconfirmed address proves
	// who the person is.
	if u.Deleted || u.IsBot || u.IsStranger || !u.IsEmailConfirmed {
		return "", nil
	}
	return u.Profile.Email, nil
}
