package discord

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/discordmsg"
)

// mentions says whom a message pings; its zero value nobody. Discord wants it
// on every create and edit.
type mentions struct {
	Parse []string `json:"parse"`
}

var silent = mentions{Parse: []string{}}

// opening is a message of plain text. A card begins as one, because the
// notification of a message made of components has no text
// (github.com/discord/discord-api-docs/issues/7854).
type opening struct {
	Content         string   `json:"content"`
	AllowedMentions mentions `json:"allowed_mentions"`
	Nonce           string   `json:"nonce"`
	EnforceNonce    bool     `json:"enforce_nonce"`
}

// body is a message made of components.
type body struct {
	Components      []discordgo.MessageComponent `json:"components"`
	AllowedMentions mentions                     `json:"allowed_mentions"`
	Flags           discordgo.MessageFlags       `json:"flags"`
	Attachments     []attachment                 `json:"attachments"`
}

// edit is a body that replaces whatever the message was, such as an opening or the
// embed that earlier versions of nod posted. Discord adds the flag for
// components only to a message whose text and embeds are cleared in the same
// request.
type edit struct {
	body
	Content *string                   `json:"content"`
	Embeds  []*discordgo.MessageEmbed `json:"embeds"`
}

// attachment is a file that the message has after the request: one sent with
// it, by its index, or one that stays, by its ID.
type attachment struct {
	ID       string `json:"id"`
	Filename string `json:"filename,omitempty"`
}

// bodyOf writes a message that has the attachment kept already. An empty kept
// means that the file is sent with it.
func bodyOf(m discordmsg.Message, kept string) body {
	b := body{Components: m.Components, AllowedMentions: silent, Flags: discordgo.MessageFlagsIsComponentsV2, Attachments: []attachment{}}
	switch {
	case m.File == nil:
	case kept == "":
		b.Attachments = append(b.Attachments, attachment{ID: "0", Filename: m.File.Name})
	default:
		b.Attachments = append(b.Attachments, attachment{ID: kept})
	}
	return b
}

func editOf(m discordmsg.Message, kept string) edit {
	return edit{body: bodyOf(m, kept), Embeds: []*discordgo.MessageEmbed{}}
}

// Post implements bridge.Platform. It is idempotent: the message is recorded
// in parts before it gets its card, and for a few minutes Discord answers a
// repeated nonce with the first message.
func (p *Platform) Post(ctx context.Context, d bridge.Destination, v bridge.View, parts *bridge.Parts) (bridge.MessageRef, error) {
	m, err := discordmsg.Build(v)
	if err != nil {
		return bridge.MessageRef{}, err
	}
	ref, err := p.announce(ctx, d, v, m, parts)
	if err != nil {
		return bridge.MessageRef{}, err
	}
	return ref, p.show(ctx, ref, v, m, parts)
}

// announce posts the message without its card, unless that was done before.
func (p *Platform) announce(ctx context.Context, d bridge.Destination, v bridge.View, m discordmsg.Message, parts *bridge.Parts) (bridge.MessageRef, error) {
	for _, ref := range parts.Sent() {
		if !strings.Contains(ref.Message, "/") {
			return ref, nil
		}
	}
	ref, err := p.push(ctx, d, v, m)
	if p.ofSession(d.Thread) && closedToUs(err) {
		p.log.Warn("thread of the session takes no messages, posting to the channel",
			"platform", p.name, "thread", d.Thread, "error", err)
		d.Thread = ""
		ref, err = p.push(ctx, d, v, m)
	}
	if err != nil {
		return bridge.MessageRef{}, err
	}
	return ref, parts.Add(ctx, ref)
}

// push posts the text of the notification.
func (p *Platform) push(ctx context.Context, d bridge.Destination, v bridge.View, m discordmsg.Message) (bridge.MessageRef, error) {
	channel, err := p.channel(ctx, d)
	if err != nil {
		return bridge.MessageRef{}, err
	}
	if err := p.pacer.Wait(ctx, channel, platforms.Turn{Key: string(v.Record.Interaction.ID), Rank: platforms.RankOf(v.Record.Interaction)}); err != nil {
		return bridge.MessageRef{}, err
	}
	sum := sha256.Sum256([]byte(string(v.Record.Interaction.ID) + channel))
	var out struct {
		ID      string `json:"id"`
		Channel string `json:"channel_id"`
	}
	b := opening{Content: m.Push, AllowedMentions: silent, Nonce: hex.EncodeToString(sum[:12]), EnforceNonce: true}
	if err := p.do(ctx, http.MethodPost, discordgo.EndpointChannelMessages(channel), b, &out); err != nil {
		return bridge.MessageRef{}, err
	}
	return bridge.MessageRef{Channel: out.Channel, Message: out.ID}, nil
}

// Update implements bridge.Platform.
func (p *Platform) Update(ctx context.Context, ref bridge.MessageRef, v bridge.View, parts *bridge.Parts) error {
	m, err := discordmsg.Build(v)
	if err != nil {
		return err
	}
	return p.show(ctx, ref, v, m, parts)
}

// show turns a message into the card, and checks that Discord shows all of it.
// If it does not, the message loses its controls.
func (p *Platform) show(ctx context.Context, ref bridge.MessageRef, v bridge.View, m discordmsg.Message, parts *bridge.Parts) error {
	kept := attached(ref, m, parts)
	err := p.put(ctx, ref, m, kept, parts)
	if kept != "" && final(err) { // somebody removed the file
		err = p.put(ctx, ref, m, "", parts)
	}
	if m.Closed && m.File != nil && final(err) {
		if m, err = discordmsg.BuildShort(v); err == nil {
			err = p.put(ctx, ref, m, "", parts)
		}
	}
	if !m.Closed && final(err) {
		p.withhold(ctx, ref, err)
	}
	return err
}

// put edits a message into the card, with a file that is kept or sent with it.
func (p *Platform) put(ctx context.Context, ref bridge.MessageRef, m discordmsg.Message, kept string, parts *bridge.Parts) error {
	file := m.File
	if kept != "" {
		file = nil
	}
	var raw json.RawMessage
	if err := p.change(ctx, ref, editOf(m, kept), file, &raw); err != nil {
		return err
	}
	id, err := delivered(m, raw)
	if err != nil && m.Closed { // nothing on it can be approved
		p.log.Warn("closed card not shown as sent", "platform", p.name, "message", ref.Message, "error", err)
		return nil
	}
	if err != nil || file == nil || id == "" {
		return err
	}
	return parts.Add(ctx, bridge.MessageRef{Channel: ref.Channel, Message: ref.Message + "/" + id + "/" + digest(m)})
}

// withhold takes the controls from a message that does not show the request.
func (p *Platform) withhold(ctx context.Context, ref bridge.MessageRef, cause error) {
	if bridge.ErrorCode(cause) == bridge.CodeNotFound {
		return // there is no message
	}
	withheld := discordmsg.Withheld(bridge.PublicError(cause).Message)
	if err := p.change(ctx, ref, editOf(withheld, ""), nil, nil); err != nil {
		p.log.Error("message without its request keeps its controls", "platform", p.name, "message", ref.Message, "error", err)
	}
}

// attached is the ID of the file of m if the message has it already. A closed
// card keeps the file that was decided on.
func attached(ref bridge.MessageRef, m discordmsg.Message, parts *bridge.Parts) string {
	if m.File == nil {
		return ""
	}
	found := ""
	for _, part := range parts.Sent() {
		fields := strings.Split(part.Message, "/")
		if part.Channel == ref.Channel && len(fields) == 3 && fields[0] == ref.Message {
			found = ""
			if m.Closed || fields[2] == digest(m) {
				found = fields[1]
			}
		}
	}
	return found
}

func digest(m discordmsg.Message) string {
	sum := sha256.Sum256(m.File.Data)
	return hex.EncodeToString(sum[:8])
}

// final reports whether an error will not pass.
func final(err error) bool {
	if err == nil {
		return false
	}
	code := bridge.ErrorCode(err)
	return code != bridge.CodeUnavailable && code != bridge.CodeRateLimited && code != bridge.CodeInternal
}
