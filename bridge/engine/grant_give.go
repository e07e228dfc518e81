package engine

import (
	"context"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// remember stores the grants that an approval gave, and releases the pending
// requests that they cover. It can be repeated: a grant that was revoked since
// is not given again, and one that was not stored the first time is.
func (e *Engine) remember(ctx context.Context, r bridge.Record) error {
	given := r.Given()
	news := false
	for _, g := range given {
		if !time.Now().Before(g.Expires) {
			continue
		}
		e.proveGrant(&g)
		stored, err := e.store.PutGrant(ctx, g)
		if err != nil {
			return err
		}
		if !stored {
			continue
		}
		news = true
		if err := e.audit(ctx, bridge.AuditGrant, r.Interaction, g); err != nil {
			e.log.Error("grant not in the audit log", "id", r.Interaction.ID, "error", err)
		}
	}
	if !news {
		return nil
	}
	return e.release(ctx, given[0])
}

// release approves what is pending and covered now that a grant was given. Each
// request is evaluated again first, and has to meet the current policy.
func (e *Engine) release(ctx context.Context, given bridge.Grant) error {
	agent := given.Agent
	if given.Session == "" {
		agent = "" // of any session
	}
	ids, err := e.store.Pending(ctx, agent, given.Session)
	if err != nil {
		return err
	}
	for _, id := range ids {
		r, err := e.store.Load(ctx, id)
		if bridge.ErrorCode(err) == bridge.CodeNotFound {
			continue
		}
		if err != nil {
			return err
		}
		if r.State.Final() || r.Interaction.Agent != given.Agent || id == given.Origin {
			continue
		}
		if r.Interaction.Redacted > 0 {
			continue // its exact request is not stored
		}
		now, err := e.rejudge(ctx, r)
		if err != nil {
			return err
		}
		if now.denied != nil || now.ruling.Effect != bridge.EffectAsk {
			continue
		}
		// It was asked under its own requirements, which may be stricter.
		asked, err := e.covering(ctx, r.Interaction)
		if err != nil {
			return err
		}
		i := now.now
		all, err := e.covering(ctx, i)
		if err != nil {
			return err
		}
		if len(asked) == 0 || len(all) == 0 {
			continue
		}
		resp := covered(i, all)
		resp.At = time.Now().UTC().Truncate(time.Millisecond)
		if _, _, err := e.store.Settle(ctx, bridge.Settlement{ID: id, Response: *resp, Nonce: "grant:" + string(given.Origin), Expect: &r.Amended}); err != nil {
			return err
		}
	}
	return nil
}
