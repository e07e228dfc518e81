package discord

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"

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
	log      *slog.Logger
}

// handle processes an authenticated interaction. It stores the click before it
// responds to Discord.
func (ib *inbound) handle(ctx context.Context, raw []byte) {
	var in interaction
	if err := json.Unmarshal(raw, &in); err != nil || !in.known() {
		ib.log.Warn("interaction cannot be read", "type", in.Type, "error", err)
		return
	}
	work, cancel := context.WithTimeout(ctx, platforms.ClickTimeout)
	defer cancel()
	r, after := ib.respond(work, in)
	callCtx, cancelCall := context.WithTimeout(ctx, platforms.ClickTimeout)
	defer cancelCall()
	endpoint := discordgo.EndpointInteractionResponse(in.ID, in.Token)
	err := ib.api.send(callCtx, http.MethodPost, endpoint, r, r.file, nil)
	if r.file != nil && r.text != "" && final(err) { // the bot may not attach files here
		err = ib.api.do(callCtx, http.MethodPost, endpoint, r.short(), nil)
	}
	if isCode(err, discordgo.ErrCodeInteractionHasAlreadyBeenAcknowledged) {
		err = nil
	}
	if err != nil {
		// The click is recorded, and a job updates the card.
		ib.log.Warn("interaction not answered", "late", isCode(err, discordgo.ErrCodeUnknownInteraction), "error", err)
	}
	if after != nil {
		after(callCtx)
	}
}

// respond applies the interaction. It returns the reply, and a function to call
// after the reply is sent, which may be nil. The reply never changes a card:
// the poster does that and verifies the result, and a late reply would overwrite it.
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
		return note(bridge.NoteNotRecorded), nil
	}
	return ib.afterClick(in, c, v)
}

// afterClick returns the reply to a click with a verdict.
func (ib *inbound) afterClick(in interaction, c bridge.Click, v bridge.Verdict) (reply, func(context.Context)) {
	switch v.Kind {
	case bridge.VerdictSettled:
		if in.private() { // the review of a form; the card itself says so in a moment
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
