package engine

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
)

const (
	aloneLease = 5 * time.Second
	alonePoll  = 20 * time.Millisecond
)

// alone stores a request unless another request of its session is pending. If
// the draft has sameTool, only requests of the same tool count.
func (op *Openings) alone(ctx context.Context, d *Draft) (bridge.Record, error) {
	i := d.Interaction
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
			op.log.Warn("lease not released; it will expire", "lease", lease, "error", err)
		}
	}()
	fence, err := op.leases.Fence(ctx, lease, holder)
	if err != nil {
		return bridge.Record{}, err
	}
	d.If = append(d.If, fence) // a slow store can take longer than the lease
	if known, err := op.records.Known(ctx, d.Opening); err != nil {
		return bridge.Record{}, err
	} else if known {
		return op.store(ctx, d) // a repeated call gets the first record, which may be the pending request itself
	}
	pending, err := op.records.Pending(ctx, i.Agent, i.Session)
	if err != nil {
		return bridge.Record{}, err
	}
	for _, id := range pending {
		rec, err := op.records.Load(ctx, id)
		if err == nil && (rec.Over() || d.sameTool && rec.Interaction.ToolName != i.ToolName) {
			continue
		}
		if d.sameTool {
			return bridge.Record{}, bridge.Errorf(bridge.CodeConflict, "another call of %s is pending in this conversation", i.ToolName).
				WithHint("wait for its answer")
		}
		return bridge.Record{}, bridge.Errorf(bridge.CodeConflict, "one_at_a_time: interaction %s of this session is pending", id).
			WithHint("wait for its response, or cancel it")
	}
	return op.store(ctx, d)
}
