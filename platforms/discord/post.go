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
	posts  *platforms.Pacer
	edits  *platforms.Pacer
	old    *platforms.Pacer // edits of old messages
	log    *slog.Logger
}

// newPoster returns a poster. Discord limits each method on the messages of a
// channel. Its headers have the limit, which is five calls in five seconds; see
// [poster.metered]. A bot may make 50 calls per second:
// docs.discord.com/developers/topics/rate-limits.
func newPoster(a *api, pl *places, o Options, log *slog.Logger) *poster {
	of := func(channel ...bridge.Limit) *platforms.Pacer {
		return platforms.NewPacer(platforms.Pace{
			Platform: o.Name, Turns: o.Turns, Off: o.NoPacing, Log: log,
			Channel: channel, All: []bridge.Limit{{Line: "all", Calls: 50, Period: time.Second}},
		})
	}
	edits := bridge.Limit{Line: "edit ", Calls: 5, Period: 5 * time.Second}
	return &poster{
		api: a, places: pl, log: log,
		posts: of(bridge.Limit{Line: "post ", Calls: 5, Period: 5 * time.Second}),
		edits: of(edits), old: of(bridge.Limit{Line: "old edit ", Calls: oldEdits, Period: oldEditsIn}, edits),
	}
}

// metered makes a call when it is its turn. Later calls wait if the response
// headers say that no calls are left.
func (po *poster) metered(
	ctx context.Context, p *platforms.Pacer, channel string, turn platforms.Turn, call func(context.Context) error,
) error {
	var used meter
	err := p.Do(ctx, channel, turn, func() error { return call(withMeter(ctx, &used)) })
	if err == nil && used.empty {
		p.Hold(ctx, channel, used.reset)
	}
	return err
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
			return ref, po.show(ctx, ref, v, m, completing(ref), parts)
		}
	}
	ref, raw, err := po.announce(ctx, d, v, m)
	notice := v.Record.Interaction.Kind == bridge.KindNotice
	if notice && m.File != nil && platforms.Final(err) { // the channel does not accept files
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
	return ref, po.show(ctx, ref, v, m, completing(ref), parts)
}

// completing is the rate limit turn of the edit that turns a new message into
// the card.
func completing(ref bridge.MessageRef) platforms.Turn {
	return platforms.Turn{Key: "card " + ref.Message, Rank: platforms.RankRest}
}

// announce posts the message: a notice, or the text of a card's notification.
// It also returns Discord's response.
func (po *poster) announce(
	ctx context.Context, d bridge.Destination, v bridge.View, m discordmsg.Message,
) (bridge.MessageRef, json.RawMessage, error) {
	ref, raw, err := po.push(ctx, d, v, m)
	if po.places.ofSession(d.Thread) && closedToUs(err) {
		po.log.Warn("thread of the session takes no messages; posting to the channel",
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
	sum := sha256.Sum256([]byte(string(i.ID) + channel))
	nonce := hex.EncodeToString(sum[:12])
	var b any = opening{Content: m.Push, AllowedMentions: mentions(m), Nonce: nonce, EnforceNonce: true}
	var file *discordmsg.File
	if i.Kind == bridge.KindNotice {
		// A notice needs no answer, so it is sent without a notification.
		n := notice{bodyOf(m, ""), nonce, true}
		n.Flags |= discordgo.MessageFlagsSuppressNotifications
		b, file = n, m.File
	}
	var raw json.RawMessage
	turn := platforms.Turn{Key: string(i.ID), Rank: platforms.RankOf(i)}
	err = po.metered(ctx, po.posts, channel, turn, func(ctx context.Context) error {
		return po.api.send(ctx, http.MethodPost, discordgo.EndpointChannelMessages(channel), b, file, &raw)
	})
	if err != nil {
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
	return po.show(ctx, ref, v, m, platforms.Turn{Key: ref.Message, Rank: platforms.RankEdit}, parts)
}

// show turns a message into the card, and checks that Discord shows all of the
// card. If it does not, show removes the controls.
func (po *poster) show(
	ctx context.Context, ref bridge.MessageRef, v bridge.View, m discordmsg.Message, turn platforms.Turn, parts *bridge.Parts,
) error {
	kept := attached(ref, m, parts)
	err := po.put(ctx, ref, m, kept, turn, parts)
	if kept != "" && platforms.Final(err) { // someone removed the file
		err = po.put(ctx, ref, m, "", turn, parts)
	}
	if m.Closed && m.File != nil && platforms.Final(err) {
		if m, err = discordmsg.BuildShort(v); err == nil {
			err = po.put(ctx, ref, m, "", turn, parts)
		}
	}
	if !m.Closed && platforms.Final(err) {
		po.withhold(ctx, ref, v, err)
	}
	return err
}

// put edits a message into the card, with a new file or the existing one.
func (po *poster) put(
	ctx context.Context, ref bridge.MessageRef, m discordmsg.Message, kept string, turn platforms.Turn, parts *bridge.Parts,
) error {
	file := m.File
	if kept != "" {
		file = nil
	}
	var raw json.RawMessage
	pacer := po.edits
	if old(ref.Message, time.Now()) {
		pacer = po.old
	}
	err := po.metered(ctx, pacer, ref.Channel, turn, func(ctx context.Context) error {
		return po.change(ctx, ref, editOf(m, kept), file, &raw)
	})
	if err != nil {
		return err
	}
	return po.check(ctx, ref, m, raw, file != nil, parts)
}

// check compares Discord's response with the message that was sent. It records
// the file of the message.
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
func (po *poster) withhold(ctx context.Context, ref bridge.MessageRef, v bridge.View, cause error) {
	if platforms.Is(cause, platforms.AboutDeleted) {
		return // the message was deleted
	}
	withheld, err := discordmsg.Build(v.Withhold(bridge.PublicError(cause).Hint))
	if err == nil {
		err = po.change(ctx, ref, editOf(withheld, ""), nil, nil)
	}
	if err != nil {
		po.log.Error("card without the text of its request still has its controls", "message", ref.Message, "error", err)
	}
}

// attached returns the ID of the file of m if the message already has it. A
// closed card keeps the file that people saw when they decided.
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
