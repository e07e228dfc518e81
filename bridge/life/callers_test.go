package life_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
)

// callers is the number of callers that join, in addition to the one that opened the
// interaction.
const callers = 1000

// waitedFor returns a turn of a pending interaction, for which its first caller waits.
func waitedFor(t *testing.T) *life.Turn {
	t.Helper()
	now := time.UnixMilli(1_800_000_000_000).UTC()
	i := bridge.Interaction{ID: "01J0000000000000000000000", Agent: "ci", Schedule: bridge.Schedule{Created: now, Deadline: now.Add(time.Minute)}}
	return opened(t, life.Opening{Interaction: i}, now).Begin(now, retention)
}

// TestUnnamedCallers checks that callers without a name take the space of one in the
// documents, and that the interaction ends when the last of them leaves.
func TestUnnamedCallers(t *testing.T) {
	t.Parallel()
	turn := waitedFor(t)
	caller := life.Caller{Name: bridge.Anyone}
	for range callers {
		turn.Join(caller, false)
	}
	if n := len(turn.Life.Callers); n != 1 {
		t.Errorf("%d callers are noted", n)
	}
	for n := range callers {
		if v := turn.Leave(caller, false, false, expired()); v != life.Done {
			t.Fatalf("the verdict is %s with %d others", v, callers-n)
		}
	}
	if v := turn.Leave(caller, false, false, expired()); v != life.Won {
		t.Errorf("the verdict is %s for the last one", v)
	}
}

// TestManyCallers checks that the documents do not grow with each caller that has a
// name, and that the interaction ends when the last of them leaves.
func TestManyCallers(t *testing.T) {
	t.Parallel()
	turn := waitedFor(t)
	caller := func(n int) life.Caller { return life.Caller{Name: strconv.Itoa(n), Node: strconv.Itoa(n % 2)} }
	for n := range callers {
		turn.Join(caller(n), false)
	}
	if n := len(turn.Life.Callers); n > 70 {
		t.Errorf("%d callers are noted", n)
	}
	for n := range callers {
		if v := turn.Leave(caller(n), false, false, expired()); v != life.Done {
			t.Fatalf("the verdict is %s after %d", v, n)
		}
	}
	if v := turn.Leave(life.Caller{Name: bridge.Anyone}, false, false, expired()); v != life.Won {
		t.Errorf("the verdict is %s for the last one", v)
	}
}

// TestLeaveDeferred checks that a deferred interaction stays open when the connection of
// its last caller is cut, because the agent may come back, and closes when the caller
// cancels.
func TestLeaveDeferred(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_000).UTC()
	for name, c := range map[string]struct {
		cut  bool
		left time.Duration // after the opening
		want bridge.State
	}{
		"cut while it is pending": {true, 0, bridge.StateCancelled},
		"cut at the deadline":     {true, time.Minute, ""},
		"cut later":               {true, 2 * time.Minute, ""},
		"cancelled later":         {false, 2 * time.Minute, bridge.StateCancelled},
	} {
		i := bridge.Interaction{ID: "01J0000000000000000000000", Agent: "ci", Schedule: bridge.Schedule{Created: now, Deadline: now.Add(time.Minute)}}
		i.OnTimeout, i.Hold = bridge.OnTimeoutPending, bridge.Duration(time.Hour)
		turn := opened(t, life.Opening{Interaction: i}, now).Begin(now.Add(c.left), retention)
		turn.Leave(life.Caller{Name: bridge.Anyone}, c.cut, false, bridge.Response{State: bridge.StateCancelled})
		if turn.Life.State != c.want {
			t.Errorf("%s: it is %q, want %q", name, turn.Life.State, c.want)
		}
	}
}
