package bridge

import (
	"context"
	"encoding/json"
	"slices"
	"time"
)

// Limits counts what agents do.
type Limits interface {
	// Count counts one more request of an agent in the minute of at, and
	// returns how many there are.
	Count(ctx context.Context, agent string, at time.Time) (int, error)
	// PendingOf is how many requests of an agent are pending, of those that
	// were opened while it was limited.
	PendingOf(ctx context.Context, agent string) (int, error)
}

// permit refuses what an agent may not ask, and takes back the scopes that it
// may not offer.
func (e *Engine) permit(ctx context.Context, a Agent, r *Request) error {
	if len(a.Kinds) > 0 && !slices.Contains(a.Kinds, r.Kind) {
		return Errorf(CodeForbidden, "kind: agent %s may not send %q", a.Name, r.Kind).WithHint("its kinds are %v", a.Kinds)
	}
	if a.MaxBytes > 0 {
		raw, err := json.Marshal(r)
		if err != nil {
			return Wrap(CodeInternal, err, "request")
		}
		if len(raw) > a.MaxBytes {
			return Errorf(CodeInvalid, "the request has %d bytes; agent %s may send %d", len(raw), a.Name, a.MaxBytes)
		}
	}
	if len(a.Scopes) > 0 && r.Approval != nil {
		limited := *r.Approval
		limited.limit(a.Scopes)
		r.Approval = &limited
	}
	if a.PerMinute > 0 {
		now := time.Now()
		n, err := e.store.Count(ctx, a.Name, now)
		if err != nil {
			return err
		}
		if n > a.PerMinute {
			limit := Errorf(CodeRateLimited, "agent %s may send %d requests a minute", a.Name, a.PerMinute)
			limit.RetryAfter = now.Truncate(time.Minute).Add(time.Minute).Sub(now)
			return limit
		}
	}
	if a.MaxPending > 0 {
		n, err := e.store.PendingOf(ctx, a.Name)
		if err != nil {
			return err
		}
		if n >= a.MaxPending {
			return Errorf(CodeRateLimited, "agent %s has %d requests pending, and may have %d", a.Name, n, a.MaxPending).WithHint("wait for answers, or cancel some")
		}
	}
	return nil
}
