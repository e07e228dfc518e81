package grant

import (
	"context"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Resolve stores the grants that an approval creates, and approves the pending
// requests that they cover. It is safe to repeat: a repeat stores only grants
// that were not stored before, and never a revoked one.
func (gr *Room) Resolve(ctx context.Context, r bridge.Record) error {
	given := r.Given()
	news := false
	for _, g := range given {
		stored, err := gr.store.PutGrant(ctx, g)
		if err != nil {
			return err
		}
		if !stored {
			continue
		}
		news = true
		if err := gr.engine.Journal.Write(ctx, bridge.AuditGrant, r.Interaction, g); err != nil {
			gr.log.Error("grant not written to the audit log", "id", r.Interaction.ID, "error", err)
		}
	}
	if !news {
		return nil
	}
	return gr.release(ctx, given[0])
}

// release approves the pending requests that a new grant covers. Each is
// evaluated again first, and must meet the current policy.
func (gr *Room) release(ctx context.Context, given bridge.Grant) error {
	agent := given.Agent
	if given.Session == "" {
		agent = "" // of any session
	}
	ids, err := gr.records.Pending(ctx, agent, given.Session)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := gr.releaseOne(ctx, id, given); err != nil {
			return err
		}
	}
	return nil
}

// releaseOne approves a pending request if grants cover it both with its stored
// requirements, which may be stricter, and under the current policy.
func (gr *Room) releaseOne(ctx context.Context, id bridge.ID, given bridge.Grant) error {
	r, err := gr.records.Load(ctx, id)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if r.State.Final() || r.Interaction.Agent != given.Agent || id == given.Origin {
		return nil
	}
	if r.Interaction.Redacted > 0 {
		return nil // the exact request is not stored
	}
	now, err := gr.engine.Rejudge(ctx, r)
	if err != nil || now.Denied != nil || now.Ruling.Effect != bridge.EffectAsk {
		return err
	}
	asked, err := gr.covering(ctx, r.Interaction)
	if err != nil || len(asked) == 0 {
		return err
	}
	i := now.Now
	all, err := gr.covering(ctx, i)
	if err != nil || len(all) == 0 {
		return err
	}
	resp := covered(i, all)
	resp.At = time.Now().UTC().Truncate(time.Millisecond)
	_, _, err = gr.outcomes.Settle(ctx, bridge.Settlement{
		ID: id, Response: *resp, Nonce: "grant:" + string(given.Origin), Expect: &r.Amended,
	})
	return err
}
