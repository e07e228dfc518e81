package broker_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
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

// TestTurnsOfAnyCalls checks with random limits, calls that are given up, holds and
// orders that every call that keeps asking is made, without much more delay than the
// limits require, and that no limit is exceeded.
func TestTurnsOfAnyCalls(t *testing.T) {
	t.Parallel()
	first := seed.Of(t)
	for run := range uint64(level.Often(6, 2)) {
		r := rand.New(rand.NewPCG(first, run))
		p := newPace(t, 1+r.IntN(3))
		limit := func(line string) bridge.Limit {
			return bridge.Limit{
				Line: line, Calls: 2 + r.IntN(6), Period: time.Duration(1+r.IntN(60)) * time.Second, Steady: r.IntN(2) == 0,
				Margin: time.Duration(r.IntN(3)) * 50 * time.Millisecond,
			}
		}
		all, channels := limit("all"), []bridge.Limit{limit("A"), limit("B")}
		slowest := 0.0
		for _, l := range append(channels, all) { // before a call that counts twice, one place can stay empty
			slowest = max(slowest, (l.Period+l.Margin).Seconds()/float64(l.Calls-1))
		}
		weight := 0
		for n := range 20 + r.IntN(60) {
			c := bridge.Call{
				Class: r.IntN(3), Edit: r.IntN(3) == 0, Calls: r.IntN(3), Limits: []bridge.Limit{channels[r.IntN(2)], all},
			}
			weight += max(1, c.Calls)
			if r.IntN(5) == 0 { // it asks once, and never again
				c.Platform, c.Key = "chat", fmt.Sprint("gone ", n)
				if _, err := p.daemons[0].Turn(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				continue
			}
			p.add(c, time.Duration(r.IntN(30_000))*time.Millisecond)
		}
		held := time.Duration(r.IntN(40)) * time.Second
		holding := bridge.Call{Platform: "chat", Limits: []bridge.Limit{channels[0], all}}
		if err := p.daemons[0].HoldTurns(t.Context(), holding, r.IntN(2), held); err != nil {
			t.Fatal(err)
		}
		p.run()
		for _, l := range append(channels, all) {
			var calls []*asker
			for _, a := range p.made {
				if a.Limits[0].Line == l.Line || l.Line == "all" {
					for range max(1, a.Calls) {
						calls = append(calls, a)
					}
				}
			}
			if !l.Steady {
				p.within(l, calls)
			}
		}
		if most := held + 3*time.Minute + time.Duration(2*slowest*float64(weight))*time.Second; p.last() > most {
			t.Errorf("run %d: the last call was made after %s, at most %s is expected", run, p.last(), most)
		}
		// Where calls of several limits wait for a long time, each asks every few seconds.
		if most := (40 + int(p.last().Seconds())/4) * len(p.made); p.tries > most {
			t.Errorf("run %d: %d tries for %d calls, at most %d are expected", run, p.tries, len(p.made), most)
		}
	}
}
