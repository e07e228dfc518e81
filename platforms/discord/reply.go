package discord

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/discordmsg"
)

// intents are those of the messages that replies to cards are among. None of
// them is privileged. Without the privileged intent, Discord sends the text of a
// message only if it is a direct message or mentions the bot, as a reply does
// unless its author turned the mention off:
// docs.discord.com/developers/events/gateway.
const intents = discordgo.IntentGuildMessages | discordgo.IntentDirectMessages

// heard is the part of a message that nod reads.
type heard struct {
	ID        string                `json:"id"`
	ChannelID string                `json:"channel_id"`
	Type      discordgo.MessageType `json:"type"`
	Content   string                `json:"content"`
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

// parseReply reads a message that a person wrote in reply to one of the bot. It
// returns false for any other message.
func parseReply(raw []byte, bot string) (heard, bool) {
	var m heard
	if json.Unmarshal(raw, &m) != nil || m.Type != discordgo.MessageTypeReply || m.Author.Bot || m.Webhook != "" {
		return m, false
	}
	return m, m.To != nil && bot != "" && m.To.Author.ID == bot
}

// said returns the reply. Its text lacks a mention of the bot.
func (m heard) said(platform, bot string) bridge.Said {
	text := strings.NewReplacer("<@"+bot+">", "", "<@!"+bot+">", "").Replace(m.Content)
	return bridge.Said{
		Actor:   bridge.Actor{Platform: platform, User: m.Author.ID, Name: platforms.DisplayName(m.Author.GlobalName, m.Author.Username)},
		Card:    bridge.MessageRef{Channel: m.ChannelID, Message: m.To.ID},
		Message: m.ID, Text: strings.TrimSpace(text), At: sentAt(m.ID),
		After: func(bridge.MessageRef) bool { return true }, // it names the card
	}
}

// replied passes a reply to a card to the sink, and tells the person what it
// did not do.
func (ib *inbound) replied(ctx context.Context, m heard, bot string) {
	listener, ok := ib.sink.(bridge.Listener)
	if !ok {
		return
	}
	work, cancel := context.WithTimeout(ctx, platforms.ClickTimeout)
	defer cancel()
	v, err := listener.Reply(work, m.said(ib.platform, bot))
	if err != nil {
		ib.log.Error("reply not recorded", "error", err)
		v.Note = bridge.NoteNotRecorded
	}
	if v.Note == "" || v.Kind == bridge.VerdictSettled { // the card shows the answer in a moment
		return
	}
	if err := ib.poster.answer(ctx, m, v.Note); err != nil {
		ib.log.Warn("author of a reply not told", "error", err)
	}
}

// answer sends a text to the author of a message: in a direct message, or as a
// reply if the person takes none from the bot.
func (po *poster) answer(ctx context.Context, m heard, text string) error {
	err := po.tell(ctx, m.Author.ID, text)
	if !final(err) {
		return err
	}
	return po.api.do(ctx, http.MethodPost, discordgo.EndpointChannelMessages(m.ChannelID), map[string]any{
		"content":           render.Cut(discordmsg.Escape(render.Clean(text)), maxContent, render.Runes),
		"allowed_mentions":  discordgo.MessageAllowedMentions{Parse: silent.Parse, RepliedUser: true},
		"message_reference": map[string]any{"message_id": m.ID, "fail_if_not_exists": false},
	}, nil)
}
