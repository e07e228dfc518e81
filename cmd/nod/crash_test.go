package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestKilledBetweenAnySteps runs one request from its creation to the last edit
// of its cards. It kills the daemon with kill -9 before or after each step and
// restarts it. Nothing is lost or duplicated, and every card shows the outcome.
func TestKilledBetweenAnySteps(t *testing.T) {
	t.Parallel()
	type run struct {
		service string
		rounds  int // with 2, the agent sends a follow-up after the first answer
	}
	runs, ways := []run{{"telegram", 1}, {"slack", 1}, {"discord", 1}, {"slack", 2}}, []bool{false, true}
	if testing.Short() {
		runs, ways = runs[:1], ways[:1]
	}
	for _, v := range runs {
		t.Run(fmt.Sprintf("%s %d", v.service, v.rounds), func(t *testing.T) {
			t.Parallel()
			total := crashOnce(t, v.service, v.rounds, 0, false)
			t.Logf("%d steps", total)
			for at := 1; at <= total; at++ {
				for _, before := range ways {
					t.Run(fmt.Sprintf("step %d before %v", at, before), func(t *testing.T) {
						t.Parallel()
						crashOnce(t, v.service, v.rounds, at, before)
					})
				}
			}
		})
	}
}

// crashOnce returns the number of steps that a request with follow-ups took.
func crashOnce(t *testing.T, s string, rounds, at int, before bool) int {
	c := rig.NewCrash(t, s)
	c.ConnectedOn(s)
	c.KillAt(at, "", before)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(stop)
	wg.Go(func() { supervise(c, stop) })
	ctx, cancel := context.WithTimeout(c.Ctx, await.Limit)
	defer cancel()
	rec, err := c.Agent.Open(ctx, crashing(), "the-key")
	if err != nil {
		t.Fatalf("open: %v\n%s", err, c.Log)
	}
	done := make(chan bridge.Record, 1)
	wg.Go(func() { done <- waitRounds(ctx, c, rec.Interaction.ID, rounds) })
	var card sandbox.Place
	for round := 1; round <= rounds; round++ {
		card = approves(c, s, rec.Interaction.ID, round)
	}
	final := await.Receive(t, "the response of the last round", done)
	if final.State != bridge.StateApproved || final.Response.Actor.Person != "ana" {
		t.Fatalf("the request ended as %s %+v, want approved by ana\n%s", final.State, final.Response, c.Log)
	}
	cardsClose(c, s, card)
	again, err := c.Agent.Open(ctx, crashing(), "the-key")
	if err != nil || again.Interaction.ID != rec.Interaction.ID {
		t.Errorf("the key names %s, %v; want %s", again.Interaction.ID, err, rec.Interaction.ID)
	}
	// Reading again returns the answer, even if nod forgot that it was read.
	if _, err := c.Agent.Wait(ctx, final.Interaction.ID); err != nil {
		t.Error(err)
	}
	eventsOnce(ctx, c, rounds)
	c.K.Mu.Lock()
	defer c.K.Mu.Unlock()
	if at == 0 {
		t.Logf("steps: %v", c.K.Names)
	}
	return c.K.Steps
}

// crashing returns the request during which the daemon is killed.
func crashing() bridge.Request {
	return bridge.Request{CallID: bridge.CallID{Caller: "the-caller"}, Ask: bridge.Ask{Prompt: "Crash?", Approval: &bridge.Approval{Tool: "t"}}}
}

// supervise restarts the daemon once it was killed.
func supervise(c *rig.Crash, stop <-chan struct{}) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !c.K.Killed.Load() {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
	}
	c.Restart()
}

// waitRounds waits for the response, and for those of the follow-ups that it
// sends. It returns the last record.
func waitRounds(ctx context.Context, c *rig.Crash, id bridge.ID, rounds int) bridge.Record {
	final, err := c.Agent.Wait(ctx, id)
	for round := 1; round < rounds && err == nil; round++ {
		var next bridge.Record
		again := bridge.Request{CallID: bridge.CallID{Caller: "the-caller"}, Ask: bridge.Ask{Error: "try again"}}
		if next, err = c.Agent.Reprompt(ctx, final.Interaction.ID, again, "the-next-key"); err == nil {
			final, err = c.Agent.Wait(ctx, next.Interaction.ID)
		}
	}
	if err != nil {
		c.T.Errorf("wait: %v", err)
	}
	return final
}

// approves lets ana approve a round in the message that nod knows, and returns its
// place. She clicks again only if the daemon died before it answered.
func approves(c *rig.Crash, s string, id bridge.ID, round int) sandbox.Place {
	c.T.Helper()
	var at sandbox.Place
	c.Eventually(fmt.Sprintf("round %d asks", round), func() bool {
		rec, err := c.Agent.Get(c.Ctx, id)
		ref := rec.Messages[0]
		at = sandbox.Place{Service: s, Channel: ref.Channel, Message: ref.Message}
		m := c.Sandbox.Message(at)
		return err == nil && len(sandbox.Controls(s, m)) > 0 && strings.Contains(sandbox.Texts(m), "try again") == (round > 1)
	})
	c.ConnectedOn(s)
	c.Press("ana", at, "Call tool")
	return at
}

// cardsClose checks that every card shows the outcome. One that the daemon lost
// track of in the crash closes when someone clicks it.
func cardsClose(c *rig.Crash, s string, known sandbox.Place) {
	c.T.Helper()
	for _, p := range c.Cards(s) {
		if p != known && len(sandbox.Controls(s, c.Sandbox.Message(p))) > 0 {
			_, _ = c.Sandbox.Person("ana").Press(c.Ctx, p, "Deny") // too late to count
		}
	}
	c.Eventually("every card shows the outcome", func() bool {
		for _, p := range c.Cards(s) {
			m := c.Sandbox.Message(p)
			if len(sandbox.Controls(s, m)) > 0 || !strings.Contains(sandbox.Texts(m), "Approved by") && !strings.Contains(sandbox.Texts(m), "ana") {
				return false
			}
		}
		return true
	})
	most := 2
	if s == "discord" { // posts to Discord are idempotent
		most = 1
	}
	if n := len(c.Cards(s)); n < 1 || n > most {
		c.T.Errorf("%d cards on %s, want 1 to %d", n, s, most)
	}
}

// eventsOnce checks that each round has each of its events once.
func eventsOnce(ctx context.Context, c *rig.Crash, rounds int) {
	c.T.Helper()
	events := map[bridge.EventType]int{}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	err := c.Agent.Events(ctx, "0", "", func(e bridge.Event) error {
		events[e.Type]++
		if e.Type == bridge.EventDelivered && events[e.Type] == rounds {
			stop()
		}
		return nil
	})
	for _, kind := range []bridge.EventType{bridge.EventRequest, bridge.EventResponse, bridge.EventDelivered} {
		if events[kind] != rounds {
			c.T.Errorf("%d events of type %s, want %d (%v)", events[kind], kind, rounds, err)
		}
	}
}
