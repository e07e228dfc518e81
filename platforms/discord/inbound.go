// Path of a click: this file → click.go of bridge/engine.

package discord

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/discordmsg"
)

// inbound handles authenticated interactions: it passes them to the sink and
// replies to the person.
type inbound struct {
	platform string
	api      *api
	sink     bridge.Sink
	commands *commands
	forms    forms
	poster   *poster // closes cards that the record does not list
	health   *platforms.HealthBox
	seen     *platforms.Seen // interactions
	log      *slog.Logger
}

// handle applies an authenticated interaction. It returns a function that
// replies to the person, or nil. The click is stored before handle returns.
func (ib *inbound) handle(ctx context.Context, raw []byte) (then func(context.Context)) {
	var in interaction
	if err := json.Unmarshal(raw, &in); err != nil || !in.known() {
		ib.log.Warn("interaction cannot be read", "type", in.Type, "error", err)
		return nil
	}
	if !ib.seen.First(in.ID, seenFor) {
		return nil
	}
	work, cancel := context.WithTimeout(ctx, platforms.ClickTimeout)
	defer cancel()
	r, after := ib.respond(work, in)
	return func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, afterwards)
		defer cancel()
		ib.reply(ctx, in, r)
		if after != nil {
			after(ctx)
		}
	}
}

const (
	// seenFor is the time for which nod recognizes a repeated interaction.
	seenFor = 15 * time.Minute
	// afterwards is the time limit for everything that follows a recorded click.
	afterwards = 10 * time.Second
	// replyWait is the time for which nod retries a reply. The reply is still
	// in time.
	replyWait = 1500 * time.Millisecond
	// rivalFor is the time for which the health reports another program.
	rivalFor = time.Hour
)

// reply responds to an interaction. If the person would not see the response,
// it sends the same text in another way.
func (ib *inbound) reply(ctx context.Context, in interaction, r reply) {
	endpoint := discordgo.EndpointInteractionResponse(in.ID, in.Token)
	err := platforms.Told(ctx, replyWait, func(unclear bool) error {
		err := ib.api.send(ctx, http.MethodPost, endpoint, r, r.file, nil)
		if unclear && platforms.Is(err, platforms.AboutRival) {
			return nil // nod itself responded before
		}
		return err
	})
	if r.file != nil && r.text != "" && platforms.Final(err) && !platforms.Is(err, platforms.AboutLate) { // the bot may not attach files here
		err = ib.api.do(ctx, http.MethodPost, endpoint, r.short(), nil)
	}
	switch {
	case platforms.Is(err, platforms.AboutRival): // the person sees the response of the other program
		ib.health.Warn("another program uses the token of this bot, and responds to some of the clicks", rivalFor)
		if data, shows := r.followUp(); shows {
			err = ib.api.send(ctx, http.MethodPost, discordgo.EndpointWebhookToken(in.Application, in.Token), data, r.file, nil)
		} else {
			err = nil
		}
	case platforms.Is(err, platforms.AboutLate) && r.text != "":
		err = ib.poster.tell(ctx, in.click(ib.platform).Actor.User, r.text)
	}
	if err != nil { // the click is recorded, and a job updates the card
		ib.log.Warn("interaction not answered", "error", err)
	}
}

// respond applies the interaction. It returns the reply, and a function to call
// after the reply is sent, or nil. The reply never changes a card. The poster
// changes cards and verifies the result, and a late reply would overwrite its
// changes.
func (ib *inbound) respond(ctx context.Context, in interaction) (reply, func(context.Context)) {
	c := in.click(ib.platform)
	list, page, turned := in.turned()
	switch action := bridge.PeekAction(c.Token); {
	case in.Type == discordgo.InteractionApplicationCommand:
		return ib.commands.run(ctx, ib.sink, in, c.Actor), nil
	case in.Type == discordgo.InteractionApplicationCommandAutocomplete:
		return ib.commands.suggest(ctx, ib.sink, in, c.Actor), nil
	case in.Type == discordgo.InteractionMessageComponent && turned:
		return ib.commands.turn(ctx, ib.sink, in, c.Actor, list, page), nil
	case in.Type == discordgo.InteractionModalSubmit:
		return ib.forms.submitted(ctx, in, c), nil
	case action == bridge.ActionInput, action == bridge.ActionMore:
		return ib.forms.open(ctx, c), nil
	case action == bridge.ActionPick:
		c.Inputs = map[int]bridge.Input{bridge.PeekQuestion(c.Token): {Options: indexes(in.Data.Values)}}
	}
	v, err := ib.sink.Click(ctx, c)
	if err != nil {
		ib.log.Error("click not recorded", "error", err)
		return note(bridge.NotRecorded(err)), nil
	}
	return ib.afterClick(in, c, v)
}

// afterClick returns the reply to a click with a verdict.
func (ib *inbound) afterClick(in interaction, c bridge.Click, v bridge.Verdict) (reply, func(context.Context)) {
	switch v.Kind {
	case bridge.VerdictSettled:
		if in.private() { // the review of a form; the card shows this in a moment
			return redraw(discordmsg.Note(v.Note)), nil
		}
		return deferred, nil
	case bridge.VerdictInvalid:
		if in.private() && v.View != nil {
			return redraw(discordmsg.Progress(*v.View, v.Note, firstPage(v))), nil
		}
	case bridge.VerdictSign:
		if in.private() { // the review of a form
			return redraw(discordmsg.Offer(v.Note, v.Link)), nil
		}
		return private(discordmsg.Offer(v.Note, v.Link)), nil
	case bridge.VerdictDraft:
		return deferred, nil
	case bridge.VerdictLate:
		// The clicked message may be one that the record does not list.
		return note(v.Note), func(ctx context.Context) {
			if in.private() || v.View == nil {
				return
			}
			if err := platforms.Redraw(ctx, ib.sink, c.Ref, *v.View, ib.poster.update); err != nil {
				ib.log.Warn("stale card not closed", "error", err)
			}
		}
	}
	return note(v.Note), nil
}
