// Path of a click: this file → rooms.go of bridge/rooms.

package slack

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/slackmsg"
)

// inbound applies the events that Slack delivers, by either transport.
type inbound struct {
	*workspace
	sink     bridge.Sink
	cards    poster
	replies  ephemeral
	forms    forms
	commands commands
	home     home
}

// reaction is the result of an interaction.
type reaction struct {
	// first does work that needs Slack before the acknowledgment, such as
	// opening a modal, whose trigger expires. It returns the rest of the
	// reaction. It may be nil.
	first func(context.Context) reaction
	reply any                   // acknowledges it
	then  func(context.Context) // runs after the acknowledgment; may be nil
}

// afterwards is the time limit for all work after an acknowledgment.
const afterwards = 10 * time.Second

// begin runs the work before the acknowledgment, in time for it.
func (r reaction) begin(ctx context.Context) reaction {
	if r.first == nil {
		return r
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), platforms.ClickTimeout)
	defer cancel()
	return r.first(ctx)
}

// finish runs the work after the acknowledgment. It has its own time limit,
// because the click is already stored.
func (r reaction) finish(ctx context.Context) {
	if r.then == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterwards)
	defer cancel()
	r.then(ctx)
}

// challenge is the response that proves to Slack that a URL belongs to nod.
type challenge struct {
	Challenge string `json:"challenge"`
}

// read decodes an authenticated interaction. If the interaction cannot be read,
// it returns the zero value, which causes no reaction.
func (i inbound) read(raw []byte) payload {
	var in payload
	if err := json.Unmarshal(raw, &in); err != nil {
		i.log.Warn("interaction cannot be read", "platform", i.name, "error", err)
		return payload{}
	}
	return in
}

// handle records one authenticated interaction. The click is stored before
// handle returns, and no call to Slack has started by then.
func (i inbound) handle(ctx context.Context, in payload) reaction {
	ctx, cancel := context.WithTimeout(ctx, platforms.ClickTimeout)
	defer cancel()
	return i.fitting(in, i.record(ctx, in))
}

func (i inbound) record(ctx context.Context, in payload) reaction {
	switch {
	case in.Command != "":
		return reaction{reply: i.commands.run(ctx, in)}
	case in.Type == "url_verification":
		return reaction{reply: challenge{in.Challenge}}
	case in.Event.Type == "app_home_opened" && in.Event.Tab == "home":
		return reaction{first: func(ctx context.Context) reaction {
			i.home.show(ctx, in.Event.User, "")
			return reaction{}
		}}
	case in.Event.isStop():
		return reaction{then: i.stopped(ctx, in.Event)}
	case in.Event.Type == "message":
		return reaction{then: i.message(ctx, in.Event)}
	case in.Type == "block_actions" && in.View.Type == "home":
		return i.clickedHome(ctx, in)
	case in.Type == "block_actions" && in.View.Type == "modal":
		return i.clickedModal(ctx, in)
	case in.Type == "block_actions":
		return i.clicked(ctx, in)
	case in.Type == "view_submission" && in.View.CallbackID == slackmsg.CallbackID:
		return i.submitted(ctx, in)
	}
	return reaction{}
}

// maxReply is the size of a reply, in bytes, that Slack certainly accepts in an
// acknowledgment. Over Socket Mode, Slack silently drops an envelope with a
// reply of 20 KiB: github.com/slack-go/slack/issues/1196.
const maxReply = 16 << 10

// fitting returns a reaction whose reply Slack accepts. A longer reply is sent
// in a call after the acknowledgment.
func (i inbound) fitting(in payload, r reaction) reaction {
	raw, err := json.Marshal(r.reply)
	if err != nil || len(raw) <= maxReply {
		return r
	}
	switch long := r.reply.(type) {
	case told:
		return reaction{then: func(ctx context.Context) {
			if err := i.replies.respond(ctx, in.ResponseURL, "", long.Text, long.Blocks); err != nil {
				i.log.Warn("reply to a command not sent", "platform", i.name, "error", err)
			}
		}}
	case *answer:
		if long.View == nil {
			break
		}
		loading := closed(noteLoading)
		loading.View.ExternalID = uuid.NewString()
		return reaction{reply: loading, then: func(ctx context.Context) {
			i.forms.replace(ctx, in.View.ID, loading.View.ExternalID, *long.View)
			reaction{then: r.then}.finish(ctx)
		}}
	}
	return r
}

// clicked applies a click on a message.
func (i inbound) clicked(ctx context.Context, in payload) reaction {
	token, picked := in.control()
	if token == "" {
		return reaction{}
	}
	c := bridge.Click{
		Token: token, Actor: i.actor(in), Inputs: inputs(in.State), Picked: picked,
		Ref: bridge.MessageRef{
			Channel: in.Container.ChannelID, Message: in.Container.MessageTS, Thread: in.Container.ThreadTS,
		},
	}
	note := func(text string) reaction {
		return reaction{then: func(ctx context.Context) { i.replies.tell(ctx, c, in.ResponseURL, text) }}
	}
	if bridge.PeekAction(c.Token) == bridge.ActionInput {
		return i.forms.opening(ctx, c, in.TriggerID, false, note)
	}
	v, err := i.sink.Click(ctx, c)
	if err != nil {
		i.log.Error("click not recorded", "platform", i.name, "error", err)
		return note(bridge.NotRecorded(err))
	}
	return reaction{then: func(ctx context.Context) {
		if v.Kind != bridge.VerdictSettled { // otherwise, the card shows it in a moment
			i.replies.offer(ctx, c, in.ResponseURL, v.Note, v.Link)
		}
		i.closeStale(ctx, c.Ref, v)
	}}
}

// clickedModal applies a click on a control of a modal that shows a private
// request. The modal then shows the result of the click.
func (i inbound) clickedModal(ctx context.Context, in payload) reaction {
	token, picked := in.control()
	var meta metadata
	if err := json.Unmarshal([]byte(in.View.Metadata), &meta); err != nil || token == "" {
		return reaction{}
	}
	c := bridge.Click{Token: token, Actor: i.actor(in), Ref: meta.Ref, Picked: picked}
	shows := func(v bridge.Verdict) reaction {
		return reaction{then: func(ctx context.Context) {
			if _, err := i.api.UpdateViewContext(ctx, slackmsg.Closed(v.Note, v.Link), "", "", in.View.ID); err != nil {
				i.log.Warn("modal not updated", "platform", i.name, "error", err)
			}
			i.closeStale(ctx, c.Ref, v)
		}}
	}
	if bridge.PeekAction(token) == bridge.ActionInput {
		return i.forms.opening(ctx, c, in.TriggerID, true, func(note string) reaction {
			if note == "" {
				return reaction{}
			}
			return shows(bridge.Verdict{Note: note})
		})
	}
	v, err := i.sink.Click(ctx, c)
	if err != nil {
		i.log.Error("click not recorded", "platform", i.name, "error", err)
		v.Note = bridge.NotRecorded(err)
	}
	return shows(v)
}

// submitted applies the submission of a form.
func (i inbound) submitted(ctx context.Context, in payload) reaction {
	var meta metadata
	if err := json.Unmarshal([]byte(in.View.Metadata), &meta); err != nil {
		return reaction{reply: closed("This form does not belong to nod.")}
	}
	if meta.Always != "" && denyAlways(in.View.State) {
		meta.Token = meta.Always
	}
	c := bridge.Click{
		Token: meta.Token, Actor: i.actor(in), Ref: meta.Ref, Inputs: inputs(in.View.State), Typed: typed(in.View.State),
		Nonce: in.View.ID,
	}
	v, err := i.sink.Click(ctx, c)
	if err != nil {
		i.log.Error("form not recorded", "platform", i.name, "error", err)
		return reaction{reply: fieldErrors(in.View.State, nil, bridge.NotRecorded(err))}
	}
	r := reaction{then: func(ctx context.Context) { i.closeStale(ctx, c.Ref, v) }}
	switch v.Kind {
	case bridge.VerdictNoted:
		if v.Note != "" {
			r.reply = closed(v.Note)
		}
	case bridge.VerdictSettled: // without a reply, the form closes
		if meta.Pushed {
			r.reply = &answer{Action: "clear"}
		}
	case bridge.VerdictReview:
		r.reply = i.forms.review(*v.Review, meta)
	case bridge.VerdictInvalid:
		r.reply = fieldErrors(in.View.State, v.Problems, v.Note)
	default:
		r.reply = concluded(v)
	}
	return r
}

// actor returns the person who clicked.
func (i inbound) actor(in payload) bridge.Actor {
	return bridge.Actor{Platform: i.name, User: in.User.ID, Name: platforms.DisplayName(in.User.Name, in.User.Username)}
}

// closeStale redraws a clicked card that the outbox does not redraw. Either its
// request was closed earlier, or the record names another card because the
// response to the first post was lost and nod posted a second card.
func (i inbound) closeStale(ctx context.Context, clicked bridge.MessageRef, v bridge.Verdict) {
	if v.View == nil || clicked == (bridge.MessageRef{}) {
		return
	}
	known := v.View.Record.Messages[v.View.Destination]
	if v.Kind != bridge.VerdictLate && (v.Kind != bridge.VerdictSettled || known.Message == clicked.Message) {
		return
	}
	if err := platforms.Redraw(ctx, i.sink, clicked, *v.View, i.cards.Update); err != nil {
		i.log.Warn("stale card not closed", "platform", i.name, "error", err)
	}
}
