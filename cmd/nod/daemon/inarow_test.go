package daemon_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// step matches the command of a request of TestFourInARow.
var step = regexp.MustCompile(`echo (tester|other) round (\d+) step (\d)`)

// TestFourInARow lets an agent send four requests in a row, many times, next to
// another agent. On each service, the cards of an agent are in the order
// of its requests, and each card exists once, although services are slow at times
// and some requests have a long text.
func TestFourInARow(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	rounds, others := level.Often(100, 10), level.Often(10, 2)
	var wg sync.WaitGroup
	row := func(agent *client.Client, name string, rounds int) {
		for n := 0; n < rounds && fourInARow(r, agent, name, n); n++ {
		}
	}
	wg.Go(func() { row(r.Agent, "tester", rounds) })
	wg.Go(func() { row(rig.NewClient(r.Daemons[0].URL, rig.OtherAgentToken), "other", others) })
	wg.Wait()
	r.NoComplaints()
	for _, s := range rig.Services {
		cards := map[string]bool{}
		for place, all := range steps(r, s) {
			if !slices.IsSorted(all) {
				t.Errorf("the cards of %s on %s are out of order: %q", place, s, firstOutOfOrder(all))
			}
			agent, _, _ := strings.Cut(place, " ")
			for _, step := range all {
				if cards[agent+step] {
					t.Errorf("step %s of %s is on %s twice", step, agent, s)
				}
				cards[agent+step] = true
			}
		}
		if want := 4 * (rounds + others); len(cards) != want {
			t.Errorf("%d cards on %s, want %d", len(cards), s, want)
		}
	}
}

// fourInARow opens four requests without waiting between them, and then waits
// for their cards. It returns false if one of them failed.
func fourInARow(r *rig.Rig, agent *client.Client, name string, n int) bool {
	if n%10 == 4 {
		r.Sandbox.AddFault(sandbox.Fault{Service: rig.Services[n/10%3], Kind: "delay", Delay: 30 * time.Millisecond, Count: 3})
	}
	var ids []bridge.ID
	for k := range 4 {
		line := fmt.Sprintf("echo %s round %03d step %d", name, n, k)
		if n%10 == 7 && k == 1 {
			line += strings.Repeat("; sleep 1", 700)
		}
		rec, err := agent.Open(r.Ctx, command(line, fmt.Sprint("s-", n)), "")
		if err != nil {
			r.T.Error(err)
			return false
		}
		ids = append(ids, rec.Interaction.ID)
	}
	ok := true
	r.Eventually(fmt.Sprintf("round %d of %s is posted", n, name), func() bool {
		for len(ids) > 0 && ok {
			rec, err := r.Daemons[0].Engine().Get(r.Ctx, ids[0])
			if err != nil || len(rec.Failures) > 0 {
				r.T.Errorf("round %d of %s: %v %v", n, name, rec.Failures, err)
				ok = false
			}
			if len(rec.Messages) < len(rig.Services) {
				break
			}
			ids = ids[1:]
		}
		return len(ids) == 0 || !ok
	})
	return ok
}

// steps returns the rounds and steps that the cards on a service show, by agent
// and channel, in the order of the messages. A thread is a channel on Discord.
func steps(r *rig.Rig, service string) map[string][]string {
	out := map[string][]string{}
	for _, c := range r.Sandbox.Chats(service) {
		for _, m := range c.Messages {
			if len(sandbox.Controls(service, m)) == 0 {
				continue // a part of a long text
			}
			if hit := step.FindStringSubmatch(rig.ShownIn(m)); hit != nil {
				place := hit[1] + " in " + c.ID
				out[place] = append(out[place], hit[2]+"."+hit[3])
			}
		}
	}
	return out
}

// firstOutOfOrder returns the first steps that are not in order.
func firstOutOfOrder(all []string) []string {
	for n := 1; n < len(all); n++ {
		if all[n] <= all[n-1] {
			return all[max(0, n-3):min(len(all), n+3)]
		}
	}
	return nil
}
