package engine

import (
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/words"
	"github.com/nodbridge/nod/platforms/platformtest/fake"
)

// TestTimeLeft checks that a reminder says how much time is left when it is sent.
func TestTimeLeft(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 14, 0, 0, 0, time.UTC)
	approval := fake.Question("Ship it?")
	approval.Kind, approval.Approval = bridge.KindApproval, &bridge.Approval{Tool: "shell", Input: []byte(`{"command":"x"}`)}
	for _, x := range []struct {
		i    bridge.Interaction
		left time.Duration
		want string
	}{
		{approval, 10*time.Minute - 2*time.Second, "10 min left to decide (until 2026-11-26 14:09 UTC): Run x?"},
		{fake.Question("Ship it?"), 95 * time.Second, "1 min 35 s left to answer (until 2026-11-26 14:01 UTC): Ship it?"},
		{fake.Question("Ship it?"), 50*time.Hour + 20*time.Minute, "50 h left to answer (until 2026-11-28 16:20 UTC): Ship it?"},
		{fake.Question("Ship it?"), -time.Second, "0 s left to answer (until 2026-11-26 13:59 UTC): Ship it?"},
	} {
		x.i.Deadline = now.Add(x.left)
		if got := words.StillWaiting(bridge.Record{Interaction: x.i}, now); got != x.want {
			t.Errorf("%q; want %q", got, x.want)
		}
	}
}

// TestRemindBy checks when requests of a route remind by default.
func TestRemindBy(t *testing.T) {
	t.Parallel()
	m := routes{bridge.DefaultRoute: {
		Destinations: []bridge.Destination{{Platform: "chat", Channel: "C"}},
		Responders:   []bridge.Responder{{Person: "ana", Platform: "chat", User: "U-ana"}},
		Remind:       bridge.RemindAfter{Percent: 75},
	}}
	i := fake.Question("Ship it?")
	i.Deadline = i.Created.Add(time.Hour)
	if err := m.address(&i, bridge.Agent{}, bridge.OnTimeoutExpire, []string{bridge.DefaultRoute}); err != nil {
		t.Fatal(err)
	}
	if len(i.Steps) != 1 || !i.Steps[0].Remind || time.Duration(i.Steps[0].After) != 45*time.Minute {
		t.Errorf("the steps are %+v", i.Steps)
	}
}
