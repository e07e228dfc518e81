package discord

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/discordmsg"
)

// forms opens modals and handles their submissions.
type forms struct {
	sink bridge.Sink
	log  *slog.Logger
}

// open returns the modal or the private menu of a click, or a note that refuses
// it.
func (fs forms) open(ctx context.Context, c bridge.Click) reply {
	f, v, err := fs.sink.Form(ctx, c)
	if err != nil {
		fs.log.Error("form not opened", "error", err)
		return note(bridge.NotRecorded(err))
	}
	if v.Kind != "" {
		return note(v.Note)
	}
	if o := f.Control.Option; f.Control.Action == bridge.ActionInput && (o == bridge.OptionReview || o == bridge.OptionRead) {
		return fs.reveal(f.View)
	}
	if render.Opens(f) && !render.AsksReason(f) {
		m, err := discordmsg.Menu(f)
		if err != nil {
			fs.log.Error("menu not built", "error", err)
			return note(bridge.PublicError(err).Message)
		}
		return private(m)
	}
	m, err := discordmsg.BuildModal(f, submitToken(f))
	if err != nil {
		fs.log.Error("form not built", "error", err)
		return note(bridge.PublicError(err).Message)
	}
	return reply{Type: discordgo.InteractionResponseModal, Data: m}
}

// reveal returns the private message with a private request and its controls.
func (fs forms) reveal(v bridge.View) reply {
	v.Mentions = nil
	m, err := discordmsg.Build(v)
	if err != nil {
		fs.log.Error("private request not shown", "error", err)
		return note(bridge.PublicError(err).Message)
	}
	return private(m)
}

// submitToken returns the token of a modal, which submits the complete answer
// or one page of it.
func submitToken(f bridge.Form) string {
	i := f.View.Record.Interaction
	action := bridge.ActionSubmit
	if f.Control.Option >= bridge.OptionPage && discordmsg.Collects(i) {
		action = bridge.ActionPick // the submission is the review after the last page
	}
	return f.View.Token(action, f.Control.Question, f.Control.Option)
}

// submitted passes the values of a modal to the sink, and returns the reply.
func (fs forms) submitted(ctx context.Context, in interaction, c bridge.Click) reply {
	c.Inputs, c.Typed = inputs(in)
	c.Nonce = in.ID
	v, err := fs.sink.Click(ctx, c)
	if err != nil {
		fs.log.Error("form not recorded", "error", err)
		return note(bridge.NotRecorded(err))
	}
	return afterForm(in, v)
}

// inputs returns the values of a submitted modal by question, and the text of
// the typed confirmation.
func inputs(in interaction) (map[int]bridge.Input, string) {
	all, typed := map[int]bridge.Input{}, ""
	others := map[int]bool{} // whether the inputs include the text in addition to the options
	for _, label := range in.Data.Components {
		f := label.Component
		if f.CustomID == discordmsg.TypedField && f.Value != nil {
			typed = *f.Value
			continue
		}
		at, ok := discordmsg.ParseField(f.CustomID)
		if !ok {
			continue
		}
		got := all[at.Question]
		if at.Part && !at.Other {
			if got.To == 0 {
				got.From = at.From
			}
			got.From, got.To = min(got.From, at.From), max(got.To, at.To)
		}
		got.Part = got.Part || at.Part
		others[at.Question] = others[at.Question] || at.Other
		switch {
		case at.Other && f.Value != nil:
			got.Other = *f.Value
		case at.Other:
		case f.Values != nil:
			got.Options = append(got.Options, indexes(f.Values)...)
		case f.Value != nil:
			// A radio group and a text input both have a single value. The
			// engine uses the value that the question accepts.
			got.Text = *f.Value
			if n, err := strconv.Atoi(*f.Value); err == nil {
				got.Options = append(got.Options, n)
			}
		}
		all[at.Question] = got
	}
	for n, got := range all {
		got.KeepOther = got.Part && !others[n]
		all[n] = got
	}
	return all, typed
}

// afterForm returns the reply to a submitted modal. A modal cannot show errors
// or open another modal, so the reply is an ephemeral message with a button. The
// draft keeps the values.
func afterForm(in interaction, v bridge.Verdict) reply {
	page := discordmsg.PageOf(bridge.PeekOption(in.Data.CustomID))
	var m discordmsg.Message
	switch {
	case v.Kind == bridge.VerdictNoted && v.Note == "" && in.Message != nil:
		return deferred
	case v.Kind == bridge.VerdictSettled && in.Message != nil && !in.private():
		return deferred
	case v.Kind == bridge.VerdictReview:
		menu, err := discordmsg.Menu(*v.Review)
		if err != nil {
			menu = discordmsg.Note(bridge.PublicError(err).Message)
		}
		m = menu
	case v.Kind == bridge.VerdictDraft:
		m = discordmsg.Progress(*v.View, fmt.Sprintf("Page %d is saved. Nothing is sent yet.", page+1), page+1)
	case v.Kind == bridge.VerdictInvalid && v.View != nil:
		m = discordmsg.Progress(*v.View, v.Note, firstPage(v))
	default:
		m = discordmsg.Offer(v.Note, v.Link)
	}
	if in.private() {
		return redraw(m)
	}
	return private(m)
}

// firstPage returns the first page with a problem.
func firstPage(v bridge.Verdict) int {
	page := len(v.View.Record.Interaction.Fields())
	for n := range v.Problems {
		page = min(page, pageOf(v.View.Record.Interaction, n))
	}
	return page
}

func pageOf(i bridge.Interaction, question int) int {
	for n, page := range discordmsg.Pages(i) {
		for _, f := range page.Fields {
			if f.Question == question {
				return n
			}
		}
	}
	return 0
}

// indexes parses the values of a menu, which are indexes of options.
func indexes(values []string) []int {
	out := []int{}
	for _, v := range values {
		n, err := strconv.Atoi(v)
		if err != nil {
			n = -1 // no question has this index
		}
		out = append(out, n)
	}
	return out
}
