package daemon_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// breaks returns the faults that a platform has, one after another.
func breaks(service string) []sandbox.Fault {
	return []sandbox.Fault{
		{Service: service, Kind: "delay", Delay: 300 * time.Millisecond, Count: 5},
		{Service: service, Kind: "drop", Count: 3},
		{Service: service, Kind: "drop_after", Count: 3},
		{Service: service, Kind: "half", Count: 3},
		{Service: service, Kind: "rate_limit", RetryAfter: 1, Count: 2},
		{Service: service, Kind: "rate_limit", Count: 2},
		{Service: service, Kind: "error", Status: http.StatusBadGateway, Count: 4},
		{Service: service, Kind: "event_drop", Count: 2},
		{Service: service, Kind: "event_duplicate", Count: 4},
		{Service: service, Kind: "event_delay", Delay: 200 * time.Millisecond, Count: 1}, // so that the next event overtakes it
	}
}

// TestPlatformFaults checks two daemons on three platforms that fail in every
// way while people click. Each request is resolved once, its agent gets the
// outcome that people see, and every card shows it in the end.
func TestPlatformFaults(t *testing.T) {
	level.CI(t)
	t.Parallel()
	r := rig.New(t, rig.Options{Daemons: 2})
	ctx, heal := context.WithTimeout(t.Context(), redistest.ChaosSpan(t, 4*time.Second))
	defer heal()
	random := seed.Rand(t)
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; bridge.Pause(ctx, 80*time.Millisecond); n++ {
			service := rig.Services[random.IntN(3)]
			faults := breaks(service)
			r.Sandbox.AddFault(faults[random.IntN(len(faults))])
			if n%8 == 7 && service != "telegram" {
				if err := r.Sandbox.Disconnect(service, 0); err != nil {
					t.Error(err)
				}
			}
			if n%25 == 24 {
				r.Sandbox.ClearFaults()
				r.Sandbox.AddFault(sandbox.Fault{Service: service, Kind: "revoke", Count: 3})
			}
		}
	})
	var mu sync.Mutex
	var ids []bridge.ID
	for n := range 4 {
		wg.Go(func() {
			for bridge.Pause(ctx, 120*time.Millisecond) {
				rec, err := r.Agent.Open(r.Ctx, bridge.Request{Ask: bridge.Ask{
					Prompt: fmt.Sprintf("Chaos of %d", n), Approval: &bridge.Approval{Tool: "chaos"},
				}}, "")
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				ids = append(ids, rec.Interaction.ID)
				mu.Unlock()
			}
		})
	}
	for n, who := range []string{"ana", "bo", "cy"} {
		wg.Go(func() {
			for bridge.Pause(ctx, 100*time.Millisecond) {
				pressAny(r, random, ctx, who, rig.Services[n], func() []bridge.ID { mu.Lock(); defer mu.Unlock(); return slices.Clone(ids) }())
			}
		})
	}
	wg.Wait()
	r.Sandbox.ClearFaults()
	r.Connected()
	ends := map[bridge.State]int{}
	for _, id := range ids {
		ends[endTruthfully(r, id).State]++
	}
	t.Logf("%d requests: %v", len(ids), ends)
	if ends[bridge.StateApproved]+ends[bridge.StateDenied] == 0 {
		t.Error("no one decided anything")
	}
}

// pressAny clicks a control of one of the latest requests on a platform, if
// there is any. The daemon may be stopped.
func pressAny(r *rig.Rig, random *rand.Rand, ctx context.Context, who, service string, ids []bridge.ID) {
	if len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	rec, err := r.Daemons[0].Engine().Get(ctx, ids[max(0, len(ids)-1-random.IntN(10))])
	if err != nil {
		return
	}
	for n, d := range rec.Interaction.Destinations {
		if ref, ok := rec.Messages[n]; ok && d.Platform == service {
			_, _ = r.Sandbox.Person(who).Press(ctx, sandbox.Place{Service: service, Channel: ref.Channel, Message: ref.Message}, []string{"Call tool", "Deny"}[random.IntN(2)])
		}
	}
}

// endTruthfully resolves a request if it is still pending, and checks that the
// agent, the events and every card report the same outcome.
func endTruthfully(r *rig.Rig, id bridge.ID) bridge.Record {
	r.T.Helper()
	if _, err := r.Person.Respond(r.Ctx, id, rig.AnswerOnce); err != nil && bridge.ErrorCode(err) != bridge.CodeConflict {
		r.T.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(r.Ctx, await.Limit)
	defer cancel()
	rec, err := r.Agent.Wait(ctx, id)
	if err != nil {
		r.T.Fatal(err)
	}
	word := map[bridge.State]string{bridge.StateApproved: "Approved", bridge.StateDenied: "Denied"}[rec.State]
	if word == "" {
		return rec // undeliverable: it never had a card
	}
	r.Eventually(fmt.Sprintf("every card of %s says %s", id, word), func() bool {
		now, err := r.Daemons[0].Engine().Get(ctx, id)
		if err != nil || len(now.Messages)+len(now.Failures) < len(now.Interaction.Destinations) && !now.State.Final() {
			return false
		}
		for n, ref := range now.Messages {
			service := now.Interaction.Destinations[n].Platform
			m := r.Sandbox.Message(sandbox.Place{Service: service, Channel: ref.Channel, Message: ref.Message})
			if len(sandbox.Controls(service, m)) > 0 || !strings.Contains(sandbox.Texts(m), word) {
				return false
			}
		}
		return true
	})
	return rec
}

// TestAway checks a daemon that starts after an hour in which people clicked
// and some deadlines passed. It updates every card, and pending requests can be
// answered.
func TestAway(t *testing.T) {
	t.Parallel()
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r, now := clocked(t, rig.Options{Config: rig.Only(s)})
			short, long := samples.Approval(bridge.ScopeOnce), samples.Approval(bridge.ScopeOnce)
			short.Timeout, long.Timeout = bridge.Duration(30*time.Minute), bridge.Duration(5*time.Hour)
			expired, open := r.Ask(short), r.Ask(long)
			r.Daemons[0].Stop()
			left, leave := context.WithCancel(r.Ctx)
			leave()
			_, _ = r.Sandbox.Person("bo").Press(left, expired.On(s), "Run command") // no daemon receives it
			now.jump(time.Hour)
			r.Start(rig.Listen(t))
			r.Daemons = r.Daemons[1:]
			r.Agent, r.Person = rig.NewClient(r.Daemons[0].URL, rig.TestAgentToken), rig.NewClient(r.Daemons[0].URL, rig.AnaToken)
			r.Connected()
			if rec := expired.End(); rec.State != bridge.StateExpired {
				t.Errorf("a click before the deadline that arrives after it: %s", rec.State)
			}
			expired.Closed("Expired")
			r.Press("ana", open.On(s), "Run command")
			if rec := open.End(); rec.State != bridge.StateApproved || rec.Response.Actor.Person != "ana" {
				t.Errorf("%s by %+v", rec.State, rec.Response.Actor)
			}
			open.Closed("ana")
		})
	}
}
