// Path of a click: this file → click.go of bridge/engine.

package slack

import (
	"context"

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

// handle records one authenticated interaction. The click is stored before
// handle returns, and no call to Slack has started by then.
func (i inbound) handle(ctx context.Context, in payload) reaction {
	ctx, cancel := context.WithTimeout(ctx, platforms.ClickTimeout)
	defer cancel()
	return i.fitting(in, i.record(ctx, in))
}

// record passes an interaction to the function for its kind. It returns nod's
// reaction, which is empty for an interaction that does not concern nod.
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

// actor returns the person who clicked.
func (i inbound) actor(in payload) bridge.Actor {
	return bridge.Actor{Platform: i.name, User: in.User.ID, Name: platforms.DisplayName(in.User.Name, in.User.Username)}
}
