package broker_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// TestTurnsAfterClockJumps checks that no call waits for the time by which the
// clock of Redis was set back, as after a failover to a replica with another
// clock: neither for turns that were given before, nor for a hold, nor for calls
// that will not ask again before the clock has caught up.
func TestTurnsAfterClockJumps(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]bridge.Limit{
		"window": {Line: "C", Calls: 2, Period: time.Minute},
		"steady": {Line: "C", Calls: 2, Period: time.Minute, Steady: true},
		"held":   {Line: "C"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPace(t, 2)
			limits := []bridge.Limit{limit, {Line: "all", Calls: 100, Period: time.Second}}
			for n := range 8 { // most of them wait
				c := bridge.Call{Platform: "chat", Key: fmt.Sprint("before ", n), Edit: n%2 == 0, Limits: limits}
				if _, err := p.daemons[n%2].Turn(t.Context(), c); err != nil {
					t.Fatal(err)
				}
			}
			if name == "held" {
				c := bridge.Call{Platform: "chat", Limits: limits}
				if err := p.daemons[0].HoldTurns(t.Context(), c, 0, time.Minute); err != nil {
					t.Fatal(err)
				}
			}
			now := paceBegan.Add(-5 * time.Hour)
			for tries := 0; ; tries++ {
				p.server.SetTime(now)
				c := bridge.Call{Platform: "chat", Key: "after", Limits: limits}
				wait, err := p.daemons[1].Turn(t.Context(), c)
				if err != nil {
					t.Fatal(err)
				}
				if wait <= bridge.WaitForTurn {
					break
				}
				if wait > 2*time.Minute || tries > 30 {
					t.Fatalf("it waits for another %s after %d tries", wait, tries)
				}
				now = now.Add(bridge.AskAgain(wait))
			}
			if waited := now.Sub(paceBegan.Add(-5 * time.Hour)); waited > 2*time.Minute {
				t.Errorf("it waited for %s", waited)
			}
		})
	}
}
