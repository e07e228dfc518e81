package engine

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// permit refuses what an agent may not ask, and takes back the scopes that it
// may not offer.
func (op *opener) permit(ctx context.Context, a bridge.Agent, r *bridge.Request) error {
	if len(a.Kinds) > 0 && !slices.Contains(a.Kinds, r.Kind) {
		return bridge.Errorf(bridge.CodeForbidden, "kind: agent %s may not send %q", a.Name, r.Kind).WithHint("its kinds are %v", a.Kinds)
	}
	if a.MaxBytes > 0 {
		raw, err := json.Marshal(r)
		if err != nil {
			return bridge.Wrap(bridge.CodeInternal, err, "request")
		}
		if len(raw) > a.MaxBytes {
			return bridge.Errorf(bridge.CodeInvalid, "the request has %d bytes; agent %s may send %d", len(raw), a.Name, a.MaxBytes)
		}
	}
	if len(a.Scopes) > 0 && r.Approval != nil {
		limited := *r.Approval
		limited.Limit(a.Scopes)
		r.Approval = &limited
	}
	if a.PerMinute > 0 {
		now := time.Now()
		n, err := op.limits.Count(ctx, a.Name, now)
		if err != nil {
			return err
		}
		if n > a.PerMinute {
			limit := bridge.Errorf(bridge.CodeRateLimited, "agent %s may send %d requests a minute", a.Name, a.PerMinute)
			limit.RetryAfter = now.Truncate(time.Minute).Add(time.Minute).Sub(now)
			return limit
		}
	}
	if a.MaxPending > 0 {
		n, err := op.limits.PendingOf(ctx, a.Name)
		if err != nil {
			return err
		}
		if n >= a.MaxPending {
			return bridge.Errorf(bridge.CodeRateLimited, "agent %s has %d requests pending, and may have %d", a.Name, n, a.MaxPending).WithHint("wait for answers, or cancel some")
		}
	}
	return nil
}
