package engine

import (
	"context"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/journal"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/people"
	"github.com/nodbridge/nod/bridge/words"
)

// withdrawals cancels requests.
type withdrawals struct {
	records  core.Interactions
	redactor *Redactor
	people   *people.People
	journal  *journal.Journal
	presence Presence
	reach    *reach
}

// checkReason returns an error unless a caller may cancel a request with a
// reason. nod itself cancels with some reasons, which have a meaning for
// agents.
func checkReason(reason string) error {
	if reason == bridge.ReasonLeft {
		return bridge.Errorf(bridge.CodeInvalid, "reason: %q is reserved", reason).WithHint("use another text")
	}
	return bridge.CheckText("reason", reason, bridge.MaxText)
}

// cancel implements Engine.Cancel.
func (w *withdrawals) cancel(ctx context.Context, id bridge.ID, reason string) (bridge.Record, error) {
	if err := checkReason(reason); err != nil {
		return bridge.Record{}, err
	}
	r, err := w.records.Load(ctx, id)
	if err != nil || r.State.Final() {
		return r, err
	}
	r, _, err = w.records.Resolve(ctx, life.Resolution{ID: id, Nonce: "cancel", Response: w.cancelled(reason)})
	return r, err
}

// cancelled returns the response of a request that a caller cancels. The store adds its
// time and its digest.
func (w *withdrawals) cancelled(reason string) bridge.Response {
	return bridge.Response{State: bridge.StateCancelled, Reason: w.redactor.Text(reason), Annotations: map[string]bridge.Annotation{}}
}

// leave implements Engine.Leave and Engine.Disconnected.
func (w *withdrawals) leave(ctx context.Context, id bridge.ID, caller, reason string, cut bool) (bridge.Record, error) {
	if err := checkReason(reason); err != nil {
		return bridge.Record{}, err
	}
	return w.records.Abandon(ctx, id, caller, cut, w.cancelled(reason))
}

// withdraw implements Engine.Withdraw.
func (w *withdrawals) withdraw(ctx context.Context, id bridge.ID, by bridge.Actor, reason string) (bridge.Record, error) {
	if err := checkReason(reason); err != nil {
		return bridge.Record{}, err
	}
	r, err := w.records.Load(ctx, id)
	if err != nil {
		return r, err
	}
	if !w.people.MayRead(ctx, r.Interaction, by) {
		w.journal.Refuse(ctx, r.Interaction, by, people.WhyNobody)
		return bridge.Record{}, bridge.NotFound(id)
	}
	actor, no := w.people.Eligible(ctx, r.Interaction, by)
	if (no.Why == people.WhyNobody || no.Why == people.WhyUnread) && !w.people.Owns(r.Interaction, actor) {
		w.journal.Refuse(ctx, r.Interaction, actor, no.Why)
		return bridge.Record{}, bridge.Errorf(no.Code(), "you may not cancel this: %s", no.Reason()).
			WithHint("ask a responder or an owner of the agent: %s", words.Responders(r.Interaction))
	}
	if r.State.Final() {
		return r, nil
	}
	r, _, err = w.records.Resolve(ctx, life.Resolution{ID: id, Nonce: "withdrawn by " + actor.Voter(), Response: bridge.Response{
		State: bridge.StateCancelled, Reason: w.redactor.Text(reason), WithdrawnBy: &actor, Annotations: map[string]bridge.Annotation{},
		At: time.Now().UTC().Truncate(time.Millisecond), Digest: r.Interaction.Digest,
	}})
	return r, err
}

// reasonUnattended is the reason for cancelling a request that no one can
// answer anymore.
const reasonUnattended = "the client disconnected while the request was pending, and no chat accepts answers"

// releaseUnattended implements Engine.ReleaseUnattended.
func (w *withdrawals) releaseUnattended(ctx context.Context, session string) error {
	_, enabled, err := w.presence.Present(ctx, session)
	if err != nil || enabled > 0 {
		return err
	}
	ids, err := w.records.Pending(ctx, "", session) // without a session, the requests of all sessions
	if err != nil {
		return err
	}
	for _, id := range ids {
		r, err := w.records.Load(ctx, id)
		if bridge.ErrorCode(err) == bridge.CodeNotFound || err == nil && (!r.Interaction.CancelOnDisconnect || !r.Queued.IsZero()) {
			continue
		}
		if err == nil && !w.reach.inChat(r.Interaction) {
			err = w.release(ctx, r.Interaction)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// release cancels a request that no chat can answer, unless a front end can.
func (w *withdrawals) release(ctx context.Context, i bridge.Interaction) error {
	_, enabled, err := w.presence.Present(ctx, i.Session)
	if err == nil && enabled == 0 {
		_, err = w.cancel(ctx, i.ID, reasonUnattended)
	}
	return err
}

// decidedElsewhere implements Engine.DecidedElsewhere.
func (w *withdrawals) decidedElsewhere(
	ctx context.Context, agent, session, reason string, decides func([]bridge.Interaction) ([]bridge.Interaction, bool),
) error {
	if session == "" {
		return nil
	}
	ids, err := w.records.Pending(ctx, agent, session)
	if err != nil {
		return err
	}
	var pending []bridge.Interaction // the oldest first
	for _, id := range slices.Backward(ids) {
		r, err := w.records.Load(ctx, id)
		if bridge.ErrorCode(err) == bridge.CodeNotFound || err == nil && r.Over() {
			continue
		}
		if err != nil {
			return err
		}
		pending = append(pending, r.Interaction)
	}
	decided, one := decides(pending)
	for _, i := range decided {
		if one {
			_, err = w.leave(ctx, i.ID, bridge.Anyone, reason, false)
		} else {
			_, err = w.cancel(ctx, i.ID, reason)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
