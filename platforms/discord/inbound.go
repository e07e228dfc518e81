package discord

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/discordmsg"
)

// Types of interactions and of responses to them.
const (
	typePing      = 1
	typeCommand   = 2
	typeComponent = 3
	typeModal     = 5

	respondMessage = 4
	respondDefer   = 6 // a click that changes nothing to see
	respondUpdate  = 7 // of a private message; a card is only changed by Update
	respondModal   = 9

	flagEphemeral  = 64
	flagComponents = 32768
)

// interaction is the part of an interaction that nod reads.
type interaction struct {
	ID        string `json:"id"`
	Token     string `json:"token"`
	Type      int    `json:"type"`
	ChannelID string `json:"channel_id"`
	Member    *struct {
		User user `json:"user"`
	} `json:"member"`
	User    *user `json:"user"`
	Message *struct {
		ID    string `json:"id"`
		Flags int    `json:"flags"`
	} `json:"message"`
	Data struct {
		Name    string `json:"name"` // of a command
		Options []struct {
			Name    string `json:"name"`
			Options []struct {
				Value string `json:"value"`
			} `json:"options"`
		} `json:"options"`
		CustomID   string   `json:"custom_id"`
		Values     []string `json:"values"`
		Components []struct {
			Component field `json:"component"`
		} `json:"components"`
	} `json:"data"`
}

type user struct {
	ID         string `json:"id"`
	Username   string `json:"username"`
	GlobalName string `json:"global_name"`
}

// field is an input of a submitted modal.
type field struct {
	CustomID string   `json:"custom_id"`
	Value    *string  `json:"value"`
	Values   []string `json:"values"`
}

// reply is a response to an interaction.
type reply struct {
	Type int              `json:"type"`
	Data any              `json:"data,omitempty"`
	file *discordmsg.File // sent with it
	text string           // of a note
}

// note returns a text reply that only the person who clicked sees.
func note(text string) reply {
	r := private(discordmsg.Note(text))
	r.text = text
	return r
}

// short returns a note without its file.
func (r reply) short() reply { return private(discordmsg.NoteShort(r.text)) }

// private returns a new message that only the person who clicked sees.
func private(m discordmsg.Message) reply {
	b := bodyOf(m, "")
	b.Flags |= flagEphemeral
	return reply{Type: respondMessage, Data: b, file: m.File}
}

// redraw returns a reply that replaces the ephemeral message that was clicked.
func redraw(m discordmsg.Message) reply {
	return reply{Type: respondUpdate, Data: editOf(m, ""), file: m.File}
}

func (in interaction) private() bool { return in.Message != nil && in.Message.Flags&flagEphemeral != 0 }

func (p *Platform) click(in interaction) bridge.Click {
	u := user{}
	switch {
	case in.Member != nil:
		u = in.Member.User
	case in.User != nil:
		u = *in.User
	}
	c := bridge.Click{
		Token: in.Data.CustomID, Ref: bridge.MessageRef{Channel: in.ChannelID},
		Actor: bridge.Actor{Platform: p.name, User: u.ID, Name: platforms.DisplayName(u.GlobalName, u.Username)},
	}
	if in.Message != nil {
		c.Ref.Message = in.Message.ID
	}
	return c
}

// handle processes an authenticated interaction. It stores the click before it
// responds to Discord.
func (p *Platform) handle(ctx context.Context, sink bridge.Sink, raw []byte) {
	var in interaction
	if err := json.Unmarshal(raw, &in); err != nil || in.Type != typeComponent && in.Type != typeModal && in.Type != typeCommand {
		p.log.Warn("interaction can not be read", "platform", p.name, "type", in.Type, "error", err)
		return
	}
	work, cancel := context.WithTimeout(ctx, platforms.ClickTimeout)
	defer cancel()
	r, after := p.respond(work, sink, in)
	callCtx, cancelCall := context.WithTimeout(ctx, platforms.ClickTimeout)
	defer cancelCall()
	endpoint := discordgo.EndpointInteractionResponse(in.ID, in.Token)
	err := p.send(callCtx, http.MethodPost, endpoint, r, r.file, nil)
	if r.file != nil && r.text != "" && final(err) { // the bot may not attach files here
		err = p.do(callCtx, http.MethodPost, endpoint, r.short(), nil)
	}
	if isCode(err, codeAcked) {
		err = nil
	}
	if err != nil {
		// The click is recorded, and a job updates the card.
		p.log.Warn("interaction not answered", "platform", p.name, "late", isCode(err, codeUnknown), "error", err)
	}
	if after != nil {
		after(callCtx)
	}
}

// respond applies the interaction. It returns the reply, and a function to call
// after the reply is sent, which may be nil. The reply never changes a card:
// Update does that and verifies the result, and a late reply would overwrite it.
func (p *Platform) respond(ctx context.Context, sink bridge.Sink, in interaction) (reply, func(context.Context)) {
	c := p.click(in)
	if in.Type == typeCommand {
		return p.commanded(ctx, sink, in, c.Actor), nil
	}
	if in.Type == typeModal {
		return p.submitted(ctx, sink, in, c), nil
	}
	if bridge.PeekAction(c.Token) == bridge.ActionInput {
		return p.form(ctx, sink, c), nil
	}
	if bridge.PeekAction(c.Token) == bridge.ActionPick {
		c.Inputs = map[int]bridge.Input{bridge.PeekQuestion(c.Token): {Options: indexes(in.Data.Values)}}
	}
	v, err := sink.Click(ctx, c)
	if err != nil {
		p.log.Error("click not recorded", "platform", p.name, "error", err)
		return note(bridge.NoteNotRecorded), nil
	}
	return p.afterClick(in, c, v)
}

// afterClick returns the reply to a click with a verdict.
func (p *Platform) afterClick(in interaction, c bridge.Click, v bridge.Verdict) (reply, func(context.Context)) {
	switch v.Kind {
	case bridge.VerdictSettled:
		if in.private() { // the review of a form; the card itself says so in a moment
			return redraw(discordmsg.Note(v.Note)), nil
		}
		return reply{Type: respondDefer}, nil
	case bridge.VerdictInvalid:
		if in.private() && v.View != nil {
			return redraw(discordmsg.Progress(*v.View, v.Note, firstPage(v))), nil
		}
	case bridge.VerdictDraft:
		return reply{Type: respondDefer}, nil
	case bridge.VerdictLate:
		// The clicked message may be one that the record does not list.
		return note(v.Note), func(ctx context.Context) {
			if in.private() || v.View == nil {
				return
			}
			if err := p.Update(ctx, c.Ref, *v.View, v.View.Delivered()); err != nil {
				p.log.Warn("stale card not closed", "platform", p.name, "error", err)
			}
		}
	}
	return note(v.Note), nil
}

func (p *Platform) form(ctx context.Context, sink bridge.Sink, c bridge.Click) reply {
	f, v, err := sink.Form(ctx, c)
	if err != nil {
		p.log.Error("form not opened", "platform", p.name, "error", err)
		return note(bridge.NoteNotRecorded)
	}
	if v.Kind != "" {
		return note(v.Note)
	}
	m, err := discordmsg.BuildModal(f, submitToken(f))
	if err != nil {
		p.log.Error("form not built", "platform", p.name, "error", err)
		return note(bridge.PublicError(err).Message)
	}
	return reply{Type: respondModal, Data: m}
}

// submitToken returns the token of a modal, which submits the whole answer or
// one page of it.
func submitToken(f bridge.Form) string {
	i := f.View.Record.Interaction
	action := bridge.ActionSubmit
	if _, lone := i.Lone(); f.Control.Option >= bridge.OptionPage && !lone {
		if pages, err := discordmsg.Pages(i); err == nil && len(pages) > 1 {
			action = bridge.ActionPick // what is submitted is the review behind the last page
		}
	}
	return f.View.Token(action, f.Control.Question, f.Control.Option)
}

func indexes(values []string) []int {
	out := []int{}
	for _, v := range values {
		n, err := strconv.Atoi(v)
		if err != nil {
			n = -1 // no question has it
		}
		out = append(out, n)
	}
	return out
}

func (p *Platform) submitted(ctx context.Context, sink bridge.Sink, in interaction, c bridge.Click) reply {
	c.Inputs = map[int]bridge.Input{}
	for _, label := range in.Data.Components {
		f := label.Component
		if f.CustomID == discordmsg.TypedField && f.Value != nil {
			c.Typed = *f.Value
			continue
		}
		at, ok := discordmsg.ParseField(f.CustomID)
		if !ok {
			continue
		}
		got := c.Inputs[at.Question]
		switch {
		case at.Other && f.Value != nil:
			got.Other = *f.Value
		case at.Other:
		case f.Values != nil:
			got.Options = append(got.Options, indexes(f.Values)...)
		case f.Value != nil:
			// A radio group and a text input both have a single value. The engine
			// reads the one that the question takes.
			got.Text = *f.Value
			if n, err := strconv.Atoi(*f.Value); err == nil {
				got.Options = append(got.Options, n)
			}
		}
		c.Inputs[at.Question] = got
	}
	v, err := sink.Click(ctx, c)
	if err != nil {
		p.log.Error("form not recorded", "platform", p.name, "error", err)
		return note(bridge.NoteNotRecorded)
	}
	return p.afterForm(in, v)
}

// afterForm returns the reply to a submitted modal. A modal cannot show errors
// or open another modal, so the reply is an ephemeral message with a button. The
// draft keeps the values.
func (p *Platform) afterForm(in interaction, v bridge.Verdict) reply {
	page := discordmsg.PageOf(bridge.PeekOption(in.Data.CustomID))
	var m discordmsg.Message
	switch {
	case v.Kind == bridge.VerdictSettled && in.Message != nil && !in.private():
		return reply{Type: respondDefer}
	case v.Kind == bridge.VerdictDraft:
		m = discordmsg.Progress(*v.View, "Saved. Nothing is sent before you submit it all.", page+1)
	case v.Kind == bridge.VerdictInvalid && v.View != nil:
		m = discordmsg.Progress(*v.View, v.Note, firstPage(v))
	default:
		m = discordmsg.Note(v.Note)
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
	pages, err := discordmsg.Pages(i)
	if err != nil {
		return 0
	}
	for n, page := range pages {
		for _, f := range page.Fields {
			if f.Question == question {
				return n
			}
		}
	}
	return 0
}
