package slack

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

// reaction is the result of an interaction.
type reaction struct {
	// first does work that needs Slack before the acknowledgment, such as
	// opening a modal, whose trigger expires. It returns the rest of the
	// reaction. It may be nil.
	first func(context.Context) reaction
	reply any                   // acknowledges the interaction
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
