package daemon_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/person"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestRaces lets three people on three platforms answer requests at the same
// moment, with two daemons on one Redis.
func TestRaces(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Daemons: 2})
	r.Connected()
	slots := make(chan struct{}, 10) // as many races at once
	var wg sync.WaitGroup
	winners := map[string]int{}
	var mu sync.Mutex
	for n := range level.Often(200, 20) {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			winner := raceOnce(t, r, n)
			mu.Lock()
			winners[winner]++
			mu.Unlock()
		})
	}
	wg.Wait()
	t.Logf("winners: %v", winners)
}

// raceOnce returns the platform that won.
func raceOnce(t *testing.T, r *rig.Rig, n int) string {
	a := r.Ask(bridge.Request{Ask: bridge.Ask{
		Prompt: fmt.Sprintf("Race %d", n), Approval: &bridge.Approval{Tool: "race"},
	}})
	people := map[string]string{"slack": "ana", "discord": "bo", "telegram": "cy"}
	acts := map[string]sandbox.Action{}
	for _, s := range rig.Services {
		acts[s] = holding(r, a, s, []string{"Call tool", "Deny"}[(n+len(s))%2], people[s])
	}
	reactions := map[string]sandbox.Reaction{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, s := range rig.Services {
		wg.Go(func() {
			reaction, err := r.Sandbox.Act(r.Ctx, acts[s])
			if err != nil && strings.Contains(err.Error(), "no control") {
				return // the card was closed before this client sent anything
			}
			if err != nil || reaction.Warning != "" {
				t.Errorf("race %d on %s: %v %s", n, s, err, reaction.Warning)
			}
			mu.Lock()
			reactions[s] = reaction
			mu.Unlock()
		})
	}
	wg.Wait()
	rec := a.End()
	winner := rec.Response.Actor
	if people[winner.Platform] != winner.Person {
		t.Errorf("race %d: the winner is %+v", n, winner)
	}
	if said := reactions["telegram"].Toast; winner.Platform != "telegram" && reactions["telegram"].OK && !strings.Contains(said, winner.Person+" already") {
		t.Errorf("race %d: cy was told %q", n, said)
	}
	a.Closed(winner.Person, "in "+strings.ToUpper(winner.Platform[:1])+winner.Platform[1:])
	return winner.Platform
}

// TestEveryLoserIsTold checks that each click that lost a race on Slack or
// Discord gets one ephemeral reply.
func TestEveryLoserIsTold(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Daemons: 2})
	lost := map[string]int{}
	for n := range level.Often(20, 5) {
		a := r.Ask(bridge.Request{Ask: bridge.Ask{
			Prompt: fmt.Sprintf("Race %d", n), Approval: &bridge.Approval{Tool: "race"},
		}})
		var wg sync.WaitGroup
		var mu sync.Mutex
		pressed := map[string]bool{}
		for s, who := range map[string]string{"slack": "ana", "discord": "bo"} {
			act := holding(r, a, s, "Call tool", who)
			wg.Go(func() {
				if reaction, err := r.Sandbox.Act(r.Ctx, act); err == nil && reaction.OK {
					mu.Lock()
					pressed[s] = true
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		winner := a.End().Response.Actor.Platform
		for s := range pressed {
			if s != winner {
				lost[s]++
			}
		}
	}
	for s, who := range map[string]string{"slack": "ana", "discord": "bo"} {
		r.Eventually(fmt.Sprintf("%s is told %d times on %s", who, lost[s], s), func() bool { return len(r.Sandbox.Person(who).Notes(s)) == lost[s] })
		for _, note := range r.Sandbox.Person(who).Notes(s) {
			if !strings.Contains(note, " already ") {
				t.Errorf("%s was told %q", who, note)
			}
		}
	}
}

// TestRedisAwayIsToldAndNothingIsLost checks that a person whose click Redis
// did not take reads that it was not recorded, and can click again.
func TestRedisAwayIsToldAndNothingIsLost(t *testing.T) {
	t.Parallel()
	for _, s := range rig.Services[:level.Often(3, 1)] {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Config: rig.Only(s), OwnRedis: true, Faulty: true})
			a := r.Ask(samples.Approval())
			press := holding(r, a, s, "Run command", "ana")
			r.Redis.Kill()
			reaction, err := r.Sandbox.Act(r.Ctx, press)
			if s != "slack" { // Slack's ephemeral reply comes a moment later
				person.Answered(t, reaction, err)
			}
			r.Told("ana", s, reaction, "Not recorded. Click again")
			r.Redis.Restart()
			r.Eventually("the daemon reaches Redis", func() bool {
				_, err := r.Agent.Get(r.Ctx, a.Interaction.ID)
				return err == nil
			})
			r.Press("ana", a.On(s), "Run command")
			if got := a.End(); got.State != bridge.StateApproved {
				t.Errorf("state %s", got.State)
			}
			a.Closed("ana")
		})
	}
}

// TestTypedReplyOutlivesRedis checks that a text typed in Telegram is confirmed
// only after it is stored, so that it outlives an outage of Redis.
func TestTypedReplyOutlivesRedis(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("telegram"), OwnRedis: true})
	a := r.Ask(samples.One(bridge.WidgetText))
	r.Press("ana", a.On("telegram"), "Answer")
	r.Eventually("the prompt is remembered", func() bool {
		keys, err := r.Client.Keys(r.Ctx, "nod:{nod}:d:note:open:*").Result()
		return err == nil && len(keys) == 1
	})
	r.Redis.Kill()
	handed := r.Sandbox.State().Telegram.Handed
	reaction, err := r.Sandbox.Person("ana").Reply(r.Ctx, a.On("telegram").Channel, "written during the outage")
	person.Did(t, reaction, err)
	r.Eventually("nod has the reply, and cannot store it", func() bool {
		return r.Sandbox.State().Telegram.Handed > handed || r.Daemons[0].Engine().Health()["telegram"].State != bridge.HealthUp
	})
	r.Redis.Restart()
	wantAnswer(a, bridge.TextAnswer("written during the outage"))
}

// TestStandbyTakesOver checks that another daemon takes over the poll of
// Telegram.
func TestStandbyTakesOver(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Daemons: 2, Config: rig.Only("telegram")})
	holder, other := r.Daemons[0], r.Daemons[1]
	if other.Engine().Health()["telegram"].State == bridge.HealthUp {
		holder, other = other, holder
	}
	r.Eventually("the other daemon stands by", func() bool { return other.Engine().Health()["telegram"].State == bridge.HealthStandby })
	holder.Stop()
	r.Eventually("the other one takes over", func() bool { return other.Engine().Health()["telegram"].State == bridge.HealthUp })
	r.Daemons = []*rig.Running{other}
	r.Agent = rig.NewClient(other.URL, rig.TestAgentToken)
	a := r.Ask(samples.Approval())
	r.Press("ana", a.On("telegram"), "Run command")
	if got := a.End(); got.State != bridge.StateApproved {
		t.Errorf("state %s", got.State)
	}
}

// TestFatalClose checks that nod does not connect again after the gateway
// refused its token.
func TestFatalClose(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("discord")})
	r.Sandbox.AddFault(sandbox.Fault{Service: "discord", Kind: "revoke"})
	if err := r.Sandbox.Disconnect("discord", 4004); err != nil {
		t.Fatal(err)
	}
	r.Eventually("health says down", func() bool {
		return r.Daemons[0].Engine().Health()["discord"].State == bridge.HealthDown
	})
}
