package discord

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/discordmsg"
)

// intents are the intents for replies to cards. None of them is privileged.
// Without the privileged intent, Discord sends the text of a message only if it
// is a direct message or mentions the bot. A reply mentions the bot unless its
// author turned the mention off: docs.discord.com/developers/events/gateway.
const intents = discordgo.IntentGuildMessages | discordgo.IntentDirectMessages

// heard is the part of a message that nod reads.
type heard struct {
	ID        string                `json:"id"`
	ChannelID string                `json:"channel_id"`
	Guild     string                `json:"guild_id"`
	Type      discordgo.MessageType `json:"type"`
	Content   string                `json:"content"`
	Edited    string                `json:"edited_timestamp"`
	Files     []json.RawMessage     `json:"attachments"`
	Stickers  []json.RawMessage     `json:"sticker_items"`
	Webhook   string                `json:"webhook_id"`
	Author    struct {
		user
		Bot bool `json:"bot"`
	} `json:"author"`
	To *struct {
		ID     string `json:"id"`
		Author user   `json:"author"`
	} `json:"referenced_message"`
}

// parseSaid reads a message that a person wrote: in reply to a message of the
// bot, to the bot alone, or in a channel of the server that may be the thread
// of a session. It returns false for any other message.
func parseSaid(raw []byte, bot string) (heard, bool) {
	var m heard
	if json.Unmarshal(raw, &m) != nil || m.Author.Bot || m.Webhook != "" || bot == "" {
		return m, false
	}
	if m.Type == discordgo.MessageTypeReply && m.To != nil && m.To.Author.ID == bot {
		return m, true
	}
	talk := m.Type == discordgo.MessageTypeDefault || m.Type == discordgo.MessageTypeReply
	m.To = nil
	return m, talk
}

// toBot reports whether a message is meant for the bot but is not a reply to a
// card.
func (m heard) toBot(bot string) bool {
	if m.Guild == "" {
		return m.Edited == ""
	}
	return m.To == nil && m.Edited == "" && (strings.Contains(m.Content, "<@"+bot+">") || strings.Contains(m.Content, "<@!"+bot+">"))
}

// noteMention is added to a note about a reply whose text Discord may have
// hidden from the bot.
const noteMention = " In a server, a reply must mention the bot. It does so by default."

// withheld reports whether Discord may have hidden the text of a message from
// the bot.
func (m heard) withheld() bool {
	return m.Guild != "" && m.Content == "" && len(m.Files)+len(m.Stickers) == 0
}

// said returns the reply without a mention of the bot.
func (m heard) said(platform, bot string) bridge.Said {
	text := strings.NewReplacer("<@"+bot+">", "", "<@!"+bot+">", "").Replace(m.Content)
	s := bridge.Said{
		Actor:   bridge.Actor{Platform: platform, User: m.Author.ID, Name: platforms.DisplayName(m.Author.GlobalName, m.Author.Username)},
		Message: m.ID, Text: strings.TrimSpace(text), At: sentAt(m.ID),
	}
	if m.Edited != "" {
		s.Standing = bridge.StandingEdited
	}
	if m.To != nil { // the reply names the card
		s.Card, s.In = bridge.MessageRef{Channel: m.ChannelID, Message: m.To.ID}, m.ChannelID
		s.After = func(bridge.MessageRef) bool { return true }
		return s
	}
	s.Card = bridge.MessageRef{Channel: m.ChannelID, Thread: m.ChannelID}
	s.After = func(card bridge.MessageRef) bool { return later(m.ID, card.Message) }
	return s
}

// later reports whether a message was written after another, because IDs
// increase with time.
func later(message, than string) bool {
	a, err := strconv.ParseUint(message, 10, 64)
	b, err2 := strconv.ParseUint(than, 10, 64)
	return err == nil && err2 == nil && a > b
}

// replied passes a reply to a card to the sink. It returns a function that
// informs the person of anything that the reply could not do, or nil.
func (ib *inbound) replied(ctx context.Context, m heard, bot string) func(context.Context) {
	var v bridge.Verdict
	if listener, ok := ib.sink.(bridge.Listener); ok && (m.Guild != "" || m.To != nil) {
		work, cancel := context.WithTimeout(ctx, platforms.ClickTimeout)
		defer cancel()
		var err error
		if v, err = listener.Reply(work, m.said(ib.platform, bot)); err != nil {
			ib.log.Error("reply not recorded", "error", err)
			v.Note = bridge.NotRecorded(err)
		}
	}
	switch {
	case v.Note != "" && m.withheld():
		v.Note += noteMention
	case v.Note == "" && v.Kind == "" && m.toBot(bot):
		v.Note = bridge.NoteToBot
	}
	if v.Note == "" || v.Kind == bridge.VerdictSettled { // the card will show the answer soon
		return nil
	}
	return func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, afterwards)
		defer cancel()
		if err := ib.poster.answer(ctx, m, v.Note); err != nil {
			ib.log.Warn("author of a reply not told", "error", err)
		}
	}
}

// deleted returns a function that reports deleted messages to the sink.
func (ib *inbound) deleted(channel string, messages []string) func(context.Context) {
	remover, ok := ib.sink.(bridge.Remover)
	if !ok {
		return nil
	}
	return func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, afterwards)
		defer cancel()
		for _, id := range messages {
			if err := remover.Deleted(ctx, ib.platform, bridge.MessageRef{Channel: channel, Message: id}); err != nil {
				ib.log.Warn("deletion of a message not recorded", "error", err)
			}
		}
	}
}

// answer sends a text to the author of a message: as a direct message, or as a
// reply if the person does not accept direct messages from the bot.
func (po *poster) answer(ctx context.Context, m heard, text string) error {
	err := po.tell(ctx, m.Author.ID, text)
	if !platforms.Final(err) {
		return err
	}
	return po.api.do(ctx, http.MethodPost, discordgo.EndpointChannelMessages(m.ChannelID), map[string]any{
		"content":           render.Cut(discordmsg.Escape(render.Clean(text)), maxContent, render.Runes),
		"allowed_mentions":  discordgo.MessageAllowedMentions{Parse: silent.Parse, RepliedUser: true},
		"message_reference": map[string]any{"message_id": m.ID, "fail_if_not_exists": false},
	}, nil)
}
