package slack

import (
	"context"
	"encoding/json"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render/slackmsg"
)

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
