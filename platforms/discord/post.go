package discord

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/discordmsg"
)

// poster sends and edits cards, at the pace that Discord allows.
type poster struct {
	api    *api
	places *places
	pacer  *platforms.Pacer
	edits  *platforms.Pacer // of old messages
	log    *slog.Logger
}

func newPoster(a *api, pl *places, unpaced bool, log *slog.Logger) *poster {
	return &poster{
		api: a, places: pl, log: log,
		// A channel takes about five messages in five seconds. The headers have
		// the exact limit; the pacer avoids most rate-limited requests.
		pacer: platforms.NewPacer(time.Second, 5, unpaced),
		edits: platforms.NewPacer(oldEditsEvery, oldEdits, unpaced),
	}
}

// post sends a card: first a message with the text of the notification, which
// is recorded in parts, and then an edit that turns it into the card.
func (po *poster) post(
	ctx context.Context, d bridge.Destination, v bridge.View, parts *bridge.Parts,
) (bridge.MessageRef, error) {
	m, err := discordmsg.Build(v)
	if err != nil {
		return bridge.MessageRef{}, err
	}
	for _, ref := range parts.Sent() {
		if !strings.Contains(ref.Message, "/") {
			return ref, po.show(ctx, ref, v, m, parts)
		}
	}
	ref, raw, err := po.announce(ctx, d, v, m)
	notice := v.Record.Interaction.Kind == bridge.KindNotice
	if notice && m.File != nil && final(err) { // the channel takes no files
		if m, err = discordmsg.BuildShort(v); err == nil {
			ref, raw, err = po.announce(ctx, d, v, m)
		}
	}
	if err != nil {
		return bridge.MessageRef{}, err
	}
	if err := parts.Add(ctx, ref); err != nil {
		return ref, err
	}
	if notice {
		return ref, po.check(ctx, ref, m, raw, m.File != nil, parts)
	}
	return ref, po.show(ctx, ref, v, m, parts)
}

// announce posts the message: a notice, or the text of a card's notification.
// It also returns Discord's answer.
func (po *poster) announce(
	ctx context.Context, d bridge.Destination, v bridge.View, m discordmsg.Message,
) (bridge.MessageRef, json.RawMessage, error) {
	ref, raw, err := po.push(ctx, d, v, m)
	if po.places.ofSession(d.Thread) && closedToUs(err) {
		po.log.Warn("thread of the session takes no messages, posting to the channel",
			"thread", d.Thread, "error", err)
		d.Thread = ""
		return po.push(ctx, d, v, m)
	}
	return ref, raw, err
}

func (po *poster) push(
	ctx context.Context, d bridge.Destination, v bridge.View, m discordmsg.Message,
) (bridge.MessageRef, json.RawMessage, error) {
	channel, err := po.places.channel(ctx, d)
	if err != nil {
		return bridge.MessageRef{}, nil, err
	}
	i := v.Record.Interaction
	if err := po.pacer.Wait(ctx, channel, platforms.Turn{Key: string(i.ID), Rank: platforms.RankOf(i)}); err != nil {
		return bridge.MessageRef{}, nil, err
	}
	sum := sha256.Sum256([]byte(string(i.ID) + channel))
	nonce := hex.EncodeToString(sum[:12])
	var b any = opening{Content: m.Push, AllowedMentions: mentions(m), Nonce: nonce, EnforceNonce: true}
	var file *discordmsg.File
	if i.Kind == bridge.KindNotice {
		n := notice{bodyOf(m, ""), nonce, true}
		if !i.NoticeSound {
			n.Flags |= discordgo.MessageFlagsSuppressNotifications
		}
		b, file = n, m.File
	}
	var raw json.RawMessage
	if err := po.api.send(ctx, http.MethodPost, discordgo.EndpointChannelMessages(channel), b, file, &raw); err != nil {
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

// update draws the card of a posted message again.
func (po *poster) update(ctx context.Context, ref bridge.MessageRef, v bridge.View, parts *bridge.Parts) error {
	m, err := discordmsg.Build(v)
	if err != nil {
		return err
	}
	return po.show(ctx, ref, v, m, parts)
}

// show turns a message into the card, and checks that Discord shows all of it.
// If it does not, the message loses its controls.
func (po *poster) show(
	ctx context.Context, ref bridge.MessageRef, v bridge.View, m discordmsg.Message, parts *bridge.Parts,
) error {
	kept := attached(ref, m, parts)
	err := po.put(ctx, ref, m, kept, parts)
	if kept != "" && final(err) { // someone removed the file
		err = po.put(ctx, ref, m, "", parts)
	}
	if m.Closed && m.File != nil && final(err) {
		if m, err = discordmsg.BuildShort(v); err == nil {
			err = po.put(ctx, ref, m, "", parts)
		}
	}
	if !m.Closed && final(err) {
		po.withhold(ctx, ref, err)
	}
	return err
}

// put edits a message into the card, with a file that is kept or sent with it.
func (po *poster) put(
	ctx context.Context, ref bridge.MessageRef, m discordmsg.Message, kept string, parts *bridge.Parts,
) error {
	file := m.File
	if kept != "" {
		file = nil
	}
	var raw json.RawMessage
	if err := po.change(ctx, ref, editOf(m, kept), file, &raw); err != nil {
		return err
	}
	return po.check(ctx, ref, m, raw, file != nil, parts)
}

// check compares Discord's answer with the message that was sent. It records
// the file that was sent with it.
func (po *poster) check(
	ctx context.Context, ref bridge.MessageRef, m discordmsg.Message, raw []byte, sent bool, parts *bridge.Parts,
) error {
	id, err := delivered(m, raw)
	if err != nil && m.Closed { // nothing on it can be approved
		po.log.Warn("closed card not shown as sent", "message", ref.Message, "error", err)
		return nil
	}
	if err != nil || !sent || id == "" {
		return err
	}
	return parts.Add(ctx, bridge.MessageRef{Channel: ref.Channel, Message: ref.Message + "/" + id + "/" + digest(m)})
}

// withhold removes the controls from a message that does not show the request.
func (po *poster) withhold(ctx context.Context, ref bridge.MessageRef, cause error) {
	if bridge.ErrorCode(cause) == bridge.CodeNotFound {
		return // the message was deleted
	}
	withheld := discordmsg.Withheld(bridge.PublicError(cause).Message)
	if err := po.change(ctx, ref, editOf(withheld, ""), nil, nil); err != nil {
		po.log.Error("message without its request keeps its controls", "message", ref.Message, "error", err)
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
