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

// mentions limits the users that a message pings. Its zero value pings no one.
// Discord needs it on every create and edit.
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

// edit is a body that replaces the content of a message, such as an opening or an
// embed that an earlier version of nod posted. Discord adds the flag for
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

// bodyOf returns the body of a message. The argument kept is the ID of an
// attachment that the message has already. If it is empty, the file is uploaded.
func bodyOf(m discordmsg.Message, kept string) body {
	b := body{
		Components: m.Components, AllowedMentions: silent, Flags: discordgo.MessageFlagsIsComponentsV2,
		Attachments: []attachment{},
	}
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

// notice is a message of components in one request, without a notification,
// which would have no text.
type notice struct {
	body
	Nonce        string `json:"nonce"`
	EnforceNonce bool   `json:"enforce_nonce"`
}

// Post implements bridge.Platform. It is idempotent: the message is recorded
// in parts before it gets its card, and for a few minutes Discord answers a
// repeated nonce with the first message. A notice is complete after one request.
func (p *Platform) Post(
	ctx context.Context, d bridge.Destination, v bridge.View, parts *bridge.Parts,
) (bridge.MessageRef, error) {
	m, err := discordmsg.Build(v)
	if err != nil {
		return bridge.MessageRef{}, err
	}
	for _, ref := range parts.Sent() {
		if !strings.Contains(ref.Message, "/") {
			return ref, p.show(ctx, ref, v, m, parts)
		}
	}
	ref, raw, err := p.announce(ctx, d, v, m)
	notice := v.Record.Interaction.Kind == bridge.KindNotice
	if notice && m.File != nil && final(err) { // the channel takes no files
		if m, err = discordmsg.BuildShort(v); err == nil {
			ref, raw, err = p.announce(ctx, d, v, m)
		}
	}
	if err != nil {
		return bridge.MessageRef{}, err
	}
	if err := parts.Add(ctx, ref); err != nil {
		return ref, err
	}
	if notice {
		return ref, p.check(ctx, ref, m, raw, m.File != nil, parts)
	}
	return ref, p.show(ctx, ref, v, m, parts)
}

// announce posts the message: a notice, or the text of a card's notification.
// It also returns Discord's answer.
func (p *Platform) announce(
	ctx context.Context, d bridge.Destination, v bridge.View, m discordmsg.Message,
) (bridge.MessageRef, json.RawMessage, error) {
	ref, raw, err := p.push(ctx, d, v, m)
	if p.ofSession(d.Thread) && closedToUs(err) {
		p.log.Warn("thread of the session takes no messages, posting to the channel",
			"platform", p.name, "thread", d.Thread, "error", err)
		d.Thread = ""
		return p.push(ctx, d, v, m)
	}
	return ref, raw, err
}

func (p *Platform) push(
	ctx context.Context, d bridge.Destination, v bridge.View, m discordmsg.Message,
) (bridge.MessageRef, json.RawMessage, error) {
	channel, err := p.channel(ctx, d)
	if err != nil {
		return bridge.MessageRef{}, nil, err
	}
	i := v.Record.Interaction
	if err := p.pacer.Wait(ctx, channel, platforms.Turn{Key: string(i.ID), Rank: platforms.RankOf(i)}); err != nil {
		return bridge.MessageRef{}, nil, err
	}
	sum := sha256.Sum256([]byte(string(i.ID) + channel))
	nonce := hex.EncodeToString(sum[:12])
	var b any = opening{Content: m.Push, AllowedMentions: silent, Nonce: nonce, EnforceNonce: true}
	var file *discordmsg.File
	if i.Kind == bridge.KindNotice {
		n := notice{bodyOf(m, ""), nonce, true}
		n.Flags |= discordgo.MessageFlagsSuppressNotifications
		b, file = n, m.File
	}
	var raw json.RawMessage
	if err := p.send(ctx, http.MethodPost, discordgo.EndpointChannelMessages(channel), b, file, &raw); err != nil {
		return bridge.MessageRef{}, nil, err
	}
	var out struct {
		ID      string `json:"id"`
		Channel string `json:"channel_id"`
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return bridge.MessageRef{}, nil, bridge.Wrap(bridge.CodeUnavailable, err, "discord: invalid response")
	}
	return bridge.MessageRef{Channel: out.Channel, Message: out.ID}, raw, nil
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
func (p *Platform) show(
	ctx context.Context, ref bridge.MessageRef, v bridge.View, m discordmsg.Message, parts *bridge.Parts,
) error {
	kept := attached(ref, m, parts)
	err := p.put(ctx, ref, m, kept, parts)
	if kept != "" && final(err) { // someone removed the file
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
func (p *Platform) put(
	ctx context.Context, ref bridge.MessageRef, m discordmsg.Message, kept string, parts *bridge.Parts,
) error {
	file := m.File
	if kept != "" {
		file = nil
	}
	var raw json.RawMessage
	if err := p.change(ctx, ref, editOf(m, kept), file, &raw); err != nil {
		return err
	}
	return p.check(ctx, ref, m, raw, file != nil, parts)
}

// check compares Discord's answer with the message that was sent. It records
// the file that was sent with it.
func (p *Platform) check(
	ctx context.Context, ref bridge.MessageRef, m discordmsg.Message, raw []byte, sent bool, parts *bridge.Parts,
) error {
	id, err := delivered(m, raw)
	if err != nil && m.Closed { // nothing on it can be approved
		p.log.Warn("closed card not shown as sent", "platform", p.name, "message", ref.Message, "error", err)
		return nil
	}
	if err != nil || !sent || id == "" {
		return err
	}
	return parts.Add(ctx, bridge.MessageRef{Channel: ref.Channel, Message: ref.Message + "/" + id + "/" + digest(m)})
}

// withhold removes the controls from a message that does not show the request.
func (p *Platform) withhold(ctx context.Context, ref bridge.MessageRef, cause error) {
	if bridge.ErrorCode(cause) == bridge.CodeNotFound {
		return // the message was deleted
	}
	withheld := discordmsg.Withheld(bridge.PublicError(cause).Message)
	if err := p.change(ctx, ref, editOf(withheld, ""), nil, nil); err != nil {
		p.log.Error("message without its request keeps its controls", "platform", p.name, "message", ref.Message, "error", err)
	}
}

// attached returns the ID of the file of m if the message has it already. A
// closed card keeps the file that the decision was made on.
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

// final reports whether an error is permanent.
func final(err error) bool {
	if err == nil {
		return false
	}
	code := bridge.ErrorCode(err)
	return code != bridge.CodeUnavailable && code != bridge.CodeRateLimited && code != bridge.CodeInternal
}
