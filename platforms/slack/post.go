package slack

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/slackmsg"
)

// poster sends and edits cards and reminders.
type poster struct {
	*workspace
	lost    *lost
	homes   *pages // called after cards change
	natives *natives
}

// Check implements bridge.Platform.
func (p poster) Check(i bridge.Interaction) error {
	v := bridge.NewView(bridge.Record{Interaction: i, State: bridge.StatePending}, 0, nil, func(bridge.Control) string {
		return fmt.Sprintf("%0*d", bridge.TokenLength, 0)
	})
	m, err := p.build(v)
	if err == nil && !p.console {
		return m.Refused
	}
	return err
}

// build writes a view, with the console as the other place to answer.
func (p poster) build(v bridge.View) (slackmsg.Message, error) {
	v.Console, v.ConsoleURL = p.console, p.consoleURL
	return slackmsg.Build(v)
}

// Post implements bridge.Platform. If the response to a post was lost, a
// repeated post updates the message. If nod cannot find the first message, it
// posts a second one.
//
// A card has no parts: its dialogs show a text that is too long for it.
func (p poster) Post(ctx context.Context, d bridge.Destination, v bridge.View, _ *bridge.Parts) (bridge.MessageRef, error) {
	defer p.homes.changed()
	m, err := p.build(v)
	if err != nil {
		return bridge.MessageRef{}, err
	}
	ref, err := p.send(ctx, d, v, m)
	if err == nil {
		p.natives.show(ctx, ref, v)
	}
	return ref, err
}

// Update implements bridge.Platform.
func (p poster) Update(ctx context.Context, ref bridge.MessageRef, v bridge.View, _ *bridge.Parts) error {
	defer p.homes.changed()
	m, err := p.build(v)
	if err != nil {
		return err
	}
	if err := p.edit(ctx, ref, v, m); err != nil {
		return err
	}
	p.natives.show(ctx, ref, v)
	return nil
}

// Thread implements bridge.Threader. The first message of a session is the root
// of its thread.
func (p poster) Thread(_ context.Context, d bridge.Destination, first bridge.MessageRef, _ string) (bridge.Destination, error) {
	d.Thread = cmp.Or(first.Thread, first.Message)
	return d, nil
}

// Remind implements bridge.ReminderPoster. It replies to the card, and the channel
// sees the reply too.
func (p poster) Remind(ctx context.Context, _ bridge.Destination, card bridge.MessageRef, r bridge.Reminder) error {
	turn := platforms.Turn{Key: card.Message + r.Text, Rank: platforms.RankAsk}
	return p.posts.Do(ctx, card.Channel, turn, func() error {
		_, _, _, err := p.reply(ctx, card.Channel, cmp.Or(card.Thread, card.Message), literal(slackmsg.Reminder(r, slackmsg.Link(p.url(ctx), card))))
		return p.classify(card.Channel, err)
	})
}

// Direct implements bridge.Mentioner.
func (p poster) Direct(d bridge.Destination) bool { return isDirect(d) }

// DirectChannel implements bridge.Mentioner.
func (p poster) DirectChannel(user string) string { return user }

// Pings implements bridge.Mentioner. Slack notifies the members of any user
// group.
func (p poster) Pings(context.Context, string) bool { return true }

// message returns the options that send or edit a message.
func message(m slackmsg.Message) []slack.MsgOption {
	return append(literal(m.Text), slack.MsgOptionBlocks(m.Blocks...))
}

// literal returns the options for a text in which Slack does not detect links
// or names, and for links without previews.
func literal(text string) []slack.MsgOption {
	return []slack.MsgOption{
		slack.MsgOptionText(text, false), slack.MsgOptionParse(false),
		slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
	}
}

// sendTime is the time limit for one message. A job with less time left stops
// and is retried, because the response to a message must not be lost.
const sendTime = 4 * time.Second

// send posts a card when the pacer permits it. If the message does not show
// everything, send takes it back.
func (p poster) send(ctx context.Context, d bridge.Destination, v bridge.View, m slackmsg.Message) (bridge.MessageRef, error) {
	var ref bridge.MessageRef
	var got slack.Message
	id := markOf(v)
	err := p.posts.Do(ctx, d.Channel, platforms.NextTurn(v.Record.Interaction, 0), func() (err error) {
		ref, got, err = p.deliver(ctx, d, append(message(m), id.option()), id)
		return err
	})
	if err != nil {
		return bridge.MessageRef{}, err
	}
	p.lost.posted(id)
	if hidden := slackmsg.Hidden(m.Blocks, got.Blocks.BlockSet); hidden != "" {
		p.takeBack(ctx, ref, v)
		return bridge.MessageRef{}, incomplete(hidden)
	}
	return ref, nil
}

// takeBack deletes a message. If Slack refuses the deletion, it removes the
// controls.
func (p poster) takeBack(ctx context.Context, ref bridge.MessageRef, v bridge.View) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterwards)
	defer cancel()
	_, _, err := p.api.DeleteMessageContext(ctx, ref.Channel, ref.Message)
	if err == nil {
		return
	}
	p.log.Warn("incomplete message not deleted", "platform", p.name, "error", p.classify(ref.Channel, err))
	bare, err := p.build(v.Unfinished())
	if err == nil {
		_, err = p.change(ctx, ref, message(bare))
	}
	if err != nil {
		p.log.Error("incomplete message still has its controls", "platform", p.name, "message", ref.Message, "error", err)
	}
}

// deliver posts a message, or updates the message that a failed post has left.
func (p poster) deliver(
	ctx context.Context, d bridge.Destination, opts []slack.MsgOption, id mark,
) (bridge.MessageRef, slack.Message, error) {
	earlier, found := p.lost.find(ctx, d, id)
	if end, ok := ctx.Deadline(); ok && time.Until(end) < sendTime {
		return bridge.MessageRef{}, slack.Message{},
			bridge.Errorf(bridge.CodeUnavailable, "slack: not enough time left for the next message")
	}
	if found {
		got, err := p.change(ctx, earlier, opts)
		if !platforms.Is(err, platforms.AboutDeleted, platforms.AboutFrozen) { // gone, or from another app
			return earlier, got, err
		}
	}
	channel, ts, got, err := p.reply(ctx, d.Channel, d.Thread, opts)
	if err = p.classify(d.Channel, err); err != nil {
		p.lost.failed(id, err)
	}
	return bridge.MessageRef{Channel: channel, Message: ts, Thread: got.ThreadTimestamp}, got, err
}

// reply posts a message to a thread and also shows it in the channel, because
// only people who follow the thread see its replies. If the thread does not
// accept the message, it posts to the channel only.
func (p poster) reply(
	ctx context.Context, channel, thread string, opts []slack.MsgOption,
) (in, ts string, got slack.Message, err error) {
	if thread == "" {
		return p.api.PostMessageWithResponseContext(ctx, channel, opts...)
	}
	inThread := append(slices.Clone(opts), slack.MsgOptionTS(thread), slack.MsgOptionBroadcast())
	in, ts, got, err = p.api.PostMessageWithResponseContext(ctx, channel, inThread...)
	if !platforms.Is(p.classify(channel, err), platforms.AboutThread) {
		return in, ts, got, err
	}
	p.log.Warn("thread does not accept messages; posting to the channel", "platform", p.name, "channel", channel, "error", err)
	return p.api.PostMessageWithResponseContext(ctx, channel, opts...)
}

// edit changes a card. If the card does not show everything, it removes the
// controls.
func (p poster) edit(ctx context.Context, ref bridge.MessageRef, v bridge.View, m slackmsg.Message) error {
	var got slack.Message
	turn := platforms.Turn{Key: ref.Channel + "/" + ref.Message, Rank: platforms.RankEdit}
	err := p.edits.Do(ctx, "", turn, func() (err error) {
		got, err = p.change(ctx, ref, message(m))
		return err
	})
	if err != nil {
		return err
	}
	hidden := slackmsg.Hidden(m.Blocks, got.Blocks.BlockSet)
	if hidden == "" {
		return nil
	}
	bare, err := p.build(v.Unfinished())
	if err != nil {
		return err
	}
	if _, err := p.change(ctx, ref, message(bare)); err != nil {
		return err
	}
	return incomplete(hidden)
}

// change replaces the content of one message.
func (p poster) change(ctx context.Context, ref bridge.MessageRef, opts []slack.MsgOption) (slack.Message, error) {
	opts = append([]slack.MsgOption{slack.MsgOptionUpdate(ref.Message)}, opts...)
	_, _, got, err := p.api.PostMessageWithResponseContext(ctx, ref.Channel, opts...)
	return got, p.classify(ref.Channel, err)
}

func incomplete(hidden string) error {
	return bridge.Errorf(bridge.CodeUnsupported, "slack: the message was accepted, but %s", hidden)
}
