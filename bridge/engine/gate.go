package engine

import (
	"context"

	"github.com/nodbridge/nod/bridge"
)

// ungated returns the record of a request that no gate and no rule selects.
// Such a request is not stored, and has no ID. In a stopped session, it returns
// no record.
func (op *Openings) ungated(ctx context.Context, i bridge.Interaction, ruling bridge.Ruling) (bridge.Record, bool, error) {
	if ruling.Demands() {
		return bridge.Record{}, false, nil
	}
	d := Draft{Opening: bridge.Opening{Interaction: i, Response: left(i)}, Again: true}
	err := op.seams.open(ctx, &d)
	return bridge.Record{Interaction: i, State: bridge.StateCancelled, Response: d.Response}, err == nil && !d.Response.Stops(), err
}
