package redis

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker/brokertest"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// clocked returns a store whose scripts read the time from a key.
func clocked(t *testing.T) brokertest.Clocked {
	t.Helper()
	c := redistest.Shared(t).Client(t)
	s := newInternal(t, c)
	s.scripts = loadScripts(func(_ bool, parts ...string) *rdb.Script {
		text, err := source(parts)
		changed := strings.Replace(text, "call('TIME')", "cjson.decode(call('GET', 'clock'))", 1)
		if err != nil || changed == text {
			t.Fatalf("no script reads the time: %v", err)
		}
		return rdb.NewScript(changed)
	})
	return brokertest.Clocked{Turns: s, Set: func(now time.Time) {
		t.Helper()
		at := fmt.Sprintf("[%d, %d]", now.Unix(), now.Nanosecond()/1000)
		if err := c.Set(t.Context(), "clock", at, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}}
}

// TestTurns checks what is promised about turns.
func TestTurns(t *testing.T) {
	t.Parallel()
	brokertest.Turns(t, clocked)
}

// TestTurnsAfterClockJumps does the same after the clock of the server was set back.
func TestTurnsAfterClockJumps(t *testing.T) {
	t.Parallel()
	brokertest.AfterClockJumps(t, clocked)
}

// TestTurnsAtOnce checks that many workers of two daemons together get as many turns
// as the limit has.
func TestTurnsAtOnce(t *testing.T) {
	t.Parallel()
	c := redistest.Shared(t).Client(t)
	daemons := []*Store{newInternal(t, c), newInternal(t, c)}
	var wg sync.WaitGroup
	var mu sync.Mutex
	turns := 0
	for n := range 60 {
		wg.Go(func() {
			wait, err := daemons[n%2].Turn(t.Context(), bridge.Call{
				Platform: "chat", Key: string(rune('A' + n)), Limits: []bridge.Limit{
					{Line: "C", Calls: 10, Period: time.Hour}, {Line: "all", Calls: 50, Period: time.Hour, Steady: true},
				},
			})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if wait <= bridge.WaitForTurn {
				turns++
			}
		})
	}
	wg.Wait()
	if turns != 10 {
		t.Errorf("%d calls got a turn, want 10", turns)
	}
}
