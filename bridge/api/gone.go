package api

import (
	"context"

	"github.com/nodbridge/nod/bridge"
)

// abandoned is called when a caller that waits for a request disconnects. The
// request stays pending unless cancels is set, which is its CancelOnDisconnect.
func (s shared) abandoned(id bridge.ID, cancels bool, caller string) {
	if !cancels || s.closing.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), abandonTimeout)
	defer cancel()
	if err := s.engine.Disconnected(ctx, id, bridge.CallerName(caller)); err != nil {
		s.log.Warn("abandoned interaction not cancelled", "id", id, "error", err)
	}
}

// releaseUnattended cancels requests that no one can answer anymore. It does
// nothing while the daemon stops, because its front ends will reconnect.
func (s shared) releaseUnattended(ctx context.Context, session string) {
	if s.closing.Err() != nil {
		return
	}
	if err := s.engine.ReleaseUnattended(ctx, session); err != nil && ctx.Err() == nil {
		s.log.Warn("requests without a front end not cancelled", "session", session, "error", err)
	}
}
