package engine

import (
	"context"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/life"
)

// permit returns an error for a request that the agent may not send, and
// removes scopes that the agent may not offer. A request with a gate counts
// only if it is stored; see open.
func (op *Openings) permit(ctx context.Context, a bridge.Agent, r *bridge.Request) error {
	if len(a.Kinds) > 0 && !slices.Contains(a.Kinds, r.Kind) {
		return bridge.Errorf(bridge.CodeForbidden, "kind: agent %s may not send kind %q", a.Name, r.Kind).WithHint("use one of %s", bridge.Listed(a.Kinds))
	}
	if len(a.Scopes) > 0 && r.Approval != nil {
		limited := *r.Approval
		limited.Limit(a.Scopes)
		r.Approval = &limited
	}
	if r.Gate != "" {
		return nil
	}
	return op.countRequest(ctx, a)
}

// countRequest counts a request. It returns an error if the agent sends too many
// requests in a minute. The store checks the number of pending requests.
func (op *Openings) countRequest(ctx context.Context, a bridge.Agent) error {
	if a.PerMinute == 0 {
		return nil
	}
	now := time.Now()
	n, err := op.db.Tally(ctx, "requests:"+a.Name+":"+now.UTC().Format("1504"), 2*time.Minute)
	if err != nil || n <= a.PerMinute {
		return documents.Public(err)
	}
	limit := bridge.Errorf(bridge.CodeRateLimited, "agent %s exceeds its limit of %d requests per minute", a.Name, a.PerMinute)
	limit.RetryAfter = now.Truncate(time.Minute).Add(time.Minute).Sub(now)
	return limit
}

// ungated returns the record of a request that no gate and no rule selects.
// Such a request is not stored, and has no ID. It returns false if
// there is no such record, as in a stopped session.
func (op *Openings) ungated(ctx context.Context, i bridge.Interaction, ruling bridge.Ruling) (bridge.Record, bool, error) {
	if ruling.Demands() {
		return bridge.Record{}, false, nil
	}
	d := Draft{Opening: life.Opening{Interaction: i, Response: left(i)}, Again: true}
	err := op.seams.open(ctx, &d)
	return bridge.Record{Interaction: i, State: bridge.StateCancelled, Response: d.Response}, err == nil && !d.Response.Stops(), err
}
