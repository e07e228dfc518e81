package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/rig"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestKilledBetweenAnySteps runs one request from its creation to the last edit
// of its cards. It kills the daemon with kill -9 before or after each step and
// restarts it. Nothing is lost or duplicated, and every card shows the outcome.
func TestKilledBetweenAnySteps(t *testing.T) {
	t.Parallel()
	slots := make(chan struct{}, 12) // each runs two processes, which mostly wait
	type run struct {
		service string
		rounds  int // with 2, the agent sends a follow-up after the first answer
	}
	for _, v := range []run{{"slack", 1}, {"discord", 1}, {"telegram", 1}, {"slack", 2}} {
		t.Run(fmt.Sprintf("%s %d", v.service, v.rounds), func(t *testing.T) {
			t.Parallel()
			total := crashOnce(t, v.service, v.rounds, 0, false)
			t.Logf("%d steps", total)
			for at := 1; at <= total; at++ {
				for _, before := range []bool{true, false} {
					t.Run(fmt.Sprintf("step %d before %v", at, before), func(t *testing.T) {
						t.Parallel()
						slots <- struct{}{}
						defer func() { <-slots }()
						crashOnce(t, v.service, v.rounds, at, before)
					})
				}
			}
		})
	}
}

// crashOnce returns how many steps the request took.
func crashOnce(t *testing.T, s string, rounds, at int, before bool) int {
	c := rig.NewCrash(t, s)
	c.ConnectedOn(s)
	c.K.Mu.Lock()
	c.K.At, c.K.Before = at, before
	c.K.Mu.Unlock()
	// A supervisor restarts the daemon.
	stop := make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(stop)
	wg.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		revived := false
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			if c.K.Killed.Load() && !revived {
				revived = true
				c.Kill()
				c.K.Mu.Lock()
				c.K.Killed.Store(false)
				c.K.At = 0
				c.K.Mu.Unlock()
				c.StartDaemon()
			}
		}
	})
	ctx, cancel := context.WithTimeout(c.Ctx, 40*time.Second)
	defer cancel()
	rec, err := c.Agent.Open(ctx, bridge.Request{Ask: bridge.Ask{
		Prompt: "Crash?", Approval: &bridge.Approval{Tool: "t"},
	}}, "the-key")
	if err != nil {
		t.Fatalf("open: %v\n%s", err, c.Log)
	}
	done := make(chan bridge.Record, 1)
	wg.Go(func() {
		final, err := c.Agent.Wait(ctx, rec.Interaction.ID)
		for round := 1; round < rounds && err == nil; round++ {
			var next bridge.Record
			if next, err = c.Agent.Reprompt(ctx, final.Interaction.ID, bridge.Request{Ask: bridge.Ask{
				Error: "try again",
			}}, "the-next-key"); err == nil {
				final, err = c.Agent.Wait(ctx, next.Interaction.ID)
			}
		}
		if err != nil {
			t.Errorf("wait: %v", err)
		}
		done <- final
	})
	// Ana clicks the control that she sees until the card is closed.
	var final bridge.Record
	press := time.NewTicker(50 * time.Millisecond)
	defer press.Stop()
	for final.State == "" {
		select {
		case final = <-done:
		case <-press.C:
			for _, p := range c.Cards(s) {
				pressCtx, cancelPress := context.WithTimeout(ctx, time.Second)
				_, _ = c.Sandbox.Person("ana").Press(pressCtx, p, "Call tool") // the control or the daemon may be gone
				cancelPress()
			}
		}
	}
	if final.State != bridge.StateApproved || final.Response.Actor.Person != "ana" {
		t.Fatalf("ended as %s %+v\n%s", final.State, final.Response, c.Log)
	}
	// Every visible card is closed. A card that the daemon lost track of in the
	// crash closes when someone clicks it.
	c.Eventually("every card shows the outcome", func() bool {
		for _, p := range c.Cards(s) {
			m := c.Sandbox.Message(p)
			if len(sandbox.Controls(s, m)) > 0 {
				pressCtx, cancelPress := context.WithTimeout(ctx, time.Second)
				_, _ = c.Sandbox.Person("ana").Press(pressCtx, p, "Deny") // too late to count
				cancelPress()
				return false
			}
			if !strings.Contains(sandbox.Texts(m), "Approved by") && !strings.Contains(sandbox.Texts(m), "ana") {
				return false
			}
		}
		return true
	})
	if s == "discord" && len(c.Cards(s)) != 1 {
		t.Errorf("%d cards on discord, whose posts are idempotent", len(c.Cards(s)))
	}
	if n := len(c.Cards(s)); n < 1 || n > 2 {
		t.Errorf("%d cards", n)
	}
	again, err := c.Agent.Open(ctx, bridge.Request{Ask: bridge.Ask{
		Prompt: "Crash?", Approval: &bridge.Approval{Tool: "t"},
	}}, "the-key")
	if err != nil || again.Interaction.ID != rec.Interaction.ID {
		t.Errorf("the key names %s, not %s: %v", again.Interaction.ID, rec.Interaction.ID, err)
	}
	// Reading again returns the answer, even if nod forgot that it was read.
	if _, err := c.Agent.Wait(ctx, final.Interaction.ID); err != nil {
		t.Error(err)
	}
	events := map[bridge.EventType]int{}
	evCtx, stopEvents := context.WithCancel(ctx)
	err = c.Agent.Events(evCtx, "0", "", func(e bridge.Event) error {
		events[e.Type]++
		if e.Type == bridge.EventDelivered && events[e.Type] == rounds {
			stopEvents()
		}
		return nil
	})
	stopEvents()
	if events[bridge.EventRequest] != rounds || events[bridge.EventResponse] != rounds || events[bridge.EventDelivered] != rounds {
		t.Errorf("events %v, %v", events, err)
	}
	c.K.Mu.Lock()
	defer c.K.Mu.Unlock()
	if at == 0 {
		t.Logf("steps: %v", c.K.Names)
	}
	return c.K.Steps
}
