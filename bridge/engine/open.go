// Path of a request: requests.go of bridge/api → this file → rooms.go of bridge/rooms.

package engine

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// Openings opens requests. Its methods in the list of openers take part in each
// opening.
type Openings struct {
	limits   bridge.Limits
	openings bridge.Openings
	leases   bridge.Leases
	records  bridge.Records
	stops    bridge.Stops
	composer *composer
	reach    *reach
	seams    *Seams
	log      *slog.Logger
}

// open implements Engine.Open.
func (op *Openings) open(ctx context.Context, agent bridge.Agent, r bridge.Request, key string) (bridge.Record, error) {
	if err := r.Normalize(); err != nil {
		return bridge.Record{}, err
	}
	if err := bridge.CheckText("Idempotency-Key", key, 200); err != nil {
		return bridge.Record{}, err
	}
	identity, err := identify(agent, r, key, "")
	if err != nil {
		return bridge.Record{}, err
	}
	if err := op.permit(ctx, agent, &r); err != nil {
		return bridge.Record{}, err
	}
	i, ruling, err := op.composer.prepare(ctx, agent, r)
	if err != nil {
		return bridge.Record{}, err
	}
	if r.Gate != "" {
		if rec, isLeft, err := op.ungated(ctx, i, ruling); isLeft || err != nil {
			return rec, err
		}
		if err := op.within(ctx, agent); err != nil {
			return bridge.Record{}, err
		}
	}
	if i.ID, err = bridge.NewID(); err != nil {
		return bridge.Record{}, err
	}
	d := Draft{Opening: opening(i, identity), Ruling: ruling, OnlyRules: r.OnlyRules, Now: r.Now}
	d.Awaited, d.MaxPending = r.Awaited, agent.MaxPending
	if err := op.seams.open(ctx, &d); err != nil {
		return bridge.Record{}, err
	}
	if r.OneAtATime {
		return op.alone(ctx, d.Opening, r.SameTool)
	}
	return op.store(ctx, d.Opening)
}

// ungated returns the record of a request that no gate and no rule selects.
// Such a request is not stored, and has no ID. In a stopped session, there is
// no such record.
func (op *Openings) ungated(ctx context.Context, i bridge.Interaction, ruling bridge.Ruling) (bridge.Record, bool, error) {
	if ruling.Demands() {
		return bridge.Record{}, false, nil
	}
	_, stopped, err := op.stops.Stopped(ctx, i.Agent, i.Session)
	return bridge.Record{Interaction: i, State: bridge.StateCancelled, Response: left(i)}, err == nil && !stopped, err
}

// identify returns the identity of the call that sends a request. For a
// follow-up, previous is the interaction of the previous round.
func identify(agent bridge.Agent, r bridge.Request, key string, previous bridge.ID) (bridge.Identity, error) {
	c := r.CallID
	c.Key = key
	digest, err := proof.Sent(r.Ask, previous)
	return c.Identity(agent.Name, r.Session, digest), err
}

// Ruled answers a request that the policy or the agent decides. For any other
// request, it reads the state that the opening depends on.
func (op *Openings) Ruled(ctx context.Context, d *Draft) error {
	i := d.Interaction
	if d.OnlyRules && !d.Ruling.Demands() {
		d.Response = left(i)
		return nil
	}
	if d.Response = ruled(i, d.Ruling); d.Response != nil {
		return nil
	}
	var err error
	d.Setting, err = op.openings.Setting(ctx, bridge.SettingQuery{Agent: i.Agent, Session: i.Session, Grants: i.GrantKeys()})
	return err
}

// Reached determines who can be reached, and how. A follow-up in the same
// messages reaches the people of the previous round.
func (op *Openings) Reached(ctx context.Context, d *Draft) error {
	if d.Interaction.Root == "" {
		return op.reach.findPeople(ctx, &d.Opening, d.Setting, d.Now)
	}
	d.FrontEnds = d.Setting.FrontEnds
	var err error
	d.Failures, err = op.reach.failures(d.Interaction)
	return err
}

// Post opens a notice without asking the policy or the grants. The name
// identifies repeats.
func (op *Openings) Post(ctx context.Context, agent bridge.Agent, r bridge.Request, name string) (bridge.Record, error) {
	var none bridge.Record
	if err := op.permit(ctx, agent, &r); err != nil {
		return none, err
	}
	i, err := op.composer.interaction(ctx, agent, r, nil)
	if err != nil {
		return none, err
	}
	if err := op.composer.redactor.interaction(&i, nil); err != nil {
		return none, err
	}
	identity, err := identify(agent, r, name, "")
	if err != nil {
		return none, err
	}
	if i.ID, err = bridge.NewID(); err != nil {
		return none, err
	}
	d := Draft{Opening: opening(i, identity)}
	if err := op.Ruled(ctx, &d); err != nil {
		return none, err
	}
	if err := op.Reached(ctx, &d); err != nil {
		return none, err
	}
	return op.store(ctx, d.Opening)
}

// opening returns the arguments for storing an interaction, without the
// reachability.
func opening(i bridge.Interaction, id bridge.Identity) bridge.Opening {
	i.RequestKey = id.Key
	return bridge.Opening{Interaction: i, Identity: id, Timeout: timeoutResponse(i), AfterHold: bridge.Response{
		State: bridge.StateExpired, Annotations: map[string]bridge.Annotation{}, Digest: i.Digest, Reason: "no one answered while it was deferred",
	}}
}

func (op *Openings) store(ctx context.Context, o bridge.Opening) (bridge.Record, error) {
	content, err := proof.Content(o.Interaction)
	if err != nil {
		return bridge.Record{}, err
	}
	o.Interaction.Content = content
	i := o.Interaction
	o.Stoppable = i.Kind != bridge.KindNotice && (o.Response == nil || o.Response.State != bridge.StateDenied)
	rec, created, err := op.openings.Open(ctx, o)
	if stopped, ok := errors.AsType[*bridge.StoppedError](err); ok {
		refusal := stopped.Stop.Refusal(i)
		o.Response, o.Stoppable, o.Queued = &refusal, false, false
		rec, created, err = op.openings.Open(ctx, o)
	}
	if err == nil && created {
		op.log.Info("opened", "id", i.ID, "kind", i.Kind, "agent", i.Agent, "state", rec.State, "destinations", len(i.Destinations), "round", i.Round)
	}
	if err != nil {
		return rec, err
	}
	return rec, rec.Trusted()
}

const (
	aloneLease = 5 * time.Second
	alonePoll  = 20 * time.Millisecond
)

// alone stores a request unless another request of its session is pending. If
// sameTool is set, only requests of the same tool count.
func (op *Openings) alone(ctx context.Context, o bridge.Opening, sameTool bool) (bridge.Record, error) {
	i := o.Interaction
	lease, holder := "one:"+i.Agent+"/"+i.Session, uuid.NewString()
	for {
		held, err := op.leases.Hold(ctx, lease, holder, aloneLease)
		if err != nil {
			return bridge.Record{}, err
		}
		if held {
			break
		}
		if !bridge.Pause(ctx, alonePoll) {
			return bridge.Record{}, ctx.Err()
		}
	}
	defer func() {
		if err := op.leases.Release(context.WithoutCancel(ctx), lease, holder); err != nil {
			op.log.Warn("lease not released, it will expire", "lease", lease, "error", err)
		}
	}()
	if known, err := op.openings.Known(ctx, o); err != nil {
		return bridge.Record{}, err
	} else if known {
		return op.store(ctx, o) // a repeat returns the first record, even if that is the pending request
	}
	pending, err := op.records.Pending(ctx, i.Agent, i.Session)
	if err != nil {
		return bridge.Record{}, err
	}
	for _, id := range pending {
		rec, err := op.records.Load(ctx, id)
		if err == nil && sameTool && rec.Interaction.ToolName != i.ToolName {
			continue
		}
		if sameTool && (err != nil || !rec.Over()) {
			return bridge.Record{}, bridge.Errorf(bridge.CodeConflict, "another call of %s is pending in this conversation", i.ToolName).
				WithHint("wait for its answer")
		}
		if err != nil || !rec.Over() {
			return bridge.Record{}, bridge.Errorf(bridge.CodeConflict, "one_at_a_time: interaction %s of this session is pending", id).WithHint("wait for its response, or cancel it")
		}
	}
	return op.store(ctx, o)
}
