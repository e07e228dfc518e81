package slack

import (
	"context"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/slackmsg"
)

// ephemeral sends replies that only one person sees.
type ephemeral struct{ *workspace }

// Notify implements bridge.Notifier. Slack does not guarantee that an
// ephemeral message arrives.
func (e ephemeral) Notify(ctx context.Context, ref bridge.MessageRef, user, text string) error {
	return e.notify(ctx, ref, user, text, "")
}

// notify sends a note with a link, which may be empty.
func (e ephemeral) notify(ctx context.Context, ref bridge.MessageRef, user, text, link string) error {
	notice, blocks := slackmsg.Offer(text, link)
	opts := []slack.MsgOption{slack.MsgOptionText(notice, false), slack.MsgOptionBlocks(blocks...), slack.MsgOptionParse(false)}
	if ref.Thread != "" {
		opts = append(opts, slack.MsgOptionTS(ref.Thread))
	}
	_, err := e.api.PostEphemeralContext(ctx, ref.Channel, user, opts...)
	return e.classify(ref.Channel, err)
}

// Tell implements bridge.DirectMessenger.
func (e ephemeral) Tell(ctx context.Context, user, text string) error {
	said, blocks := slackmsg.Note(text)
	return e.direct(ctx, user, said, blocks)
}

// direct sends a person a direct message.
func (e ephemeral) direct(ctx context.Context, user, text string, blocks []slack.Block) error {
	return e.posts.Do(ctx, user, platforms.Turn{Key: user + text, Rank: platforms.RankAsk}, func() error {
		_, _, err := e.api.PostMessageContext(ctx, user, append(literal(text), slack.MsgOptionBlocks(blocks...))...)
		return e.classify(user, err)
	})
}

// tell sends a note to the person who clicked. The url is the response URL of
// the click, or empty.
func (e ephemeral) tell(ctx context.Context, c bridge.Click, url, note string) {
	e.offer(ctx, c, url, note, "")
}

// offer sends a note with a link, which may be empty, to the person who
// clicked.
func (e ephemeral) offer(ctx context.Context, c bridge.Click, url, note, link string) {
	if note == "" {
		return
	}
	within := platforms.ToldWithin
	if url != "" {
		within = 0 // another way to reach the person is left
	}
	err := platforms.Told(ctx, within, func(bool) error { return e.notify(ctx, c.Ref, c.Actor.User, note, link) })
	if err != nil { // the person may not be in the channel
		text, blocks := slackmsg.Offer(note, link)
		if url != "" {
			err = platforms.Told(ctx, platforms.ToldWithin, func(bool) error { return e.respond(ctx, url, c.Ref.Thread, text, blocks) })
		} else if platforms.Final(err) {
			err = e.direct(ctx, c.Actor.User, text, blocks)
		}
	}
	if err != nil {
		e.log.Warn("ephemeral reply not sent", "platform", e.name, "error", err)
	}
}

// respond sends a note to the response URL of a click or a command. A URL works up
// to five times within 30 minutes.
func (e ephemeral) respond(ctx context.Context, url, thread, text string, blocks []slack.Block) error {
	return e.classify("", slack.PostWebhookCustomHTTPContext(ctx, url, e.http, &slack.WebhookMessage{
		ResponseType: slack.ResponseTypeEphemeral, ThreadTimestamp: thread, Text: text, Blocks: &slack.Blocks{BlockSet: blocks},
	}))
}
