package daemon_test

import (
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/render"
)

// TestMenuOutlivesToken checks that a private menu on Discord decides after the token
// of the click that opened it has ended: the click in the menu has one of its own.
func TestMenuOutlivesToken(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("discord")})
	a := r.Ask(samples.Approval(bridge.ScopeOnce, bridge.ScopeSession))
	at := a.On("discord")
	r.Press("ana", at, render.LabelMore)
	menu := r.Menu("ana", at, render.LabelSession)
	r.Clock.Advance(20 * time.Minute)
	r.Press("ana", menu, render.LabelSession)
	if got := a.End(); got.State != bridge.StateApproved || got.Response.Scope != bridge.ScopeSession {
		t.Errorf("it is %s: %+v", got.State, got.Response)
	}
	a.Closed("Approved by ana, also for identical requests in this session")
}
