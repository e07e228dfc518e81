package daemon_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// TestEveryCardIsTruthful makes clicks of all kinds on each service. After the
// last step of a request, its card says the same as the record: the state, who decided, the answer, and whether the agent has it. Each
// person read what their click led to, and nothing else.
func TestEveryCardIsTruthful(t *testing.T) {
	t.Parallel()
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Config: func(c *config.Config) {
				rig.Only(s)(c)
				two := c.Routes[bridge.DefaultRoute]
				two.Quorum = 2
				c.Routes["two"] = two
			}})
			u := &clicker{Rig: r, service: s, notes: map[string]int{}}
			for n := 0; n < len(stories) || u.clicks < level.Often(200, 0); n++ {
				stories[n%len(stories)](u)
				if t.Failed() {
					t.Fatalf("story %d", n%len(stories))
				}
			}
			u.audit()
			r.NoComplaints()
			t.Logf("%d clicks on %d requests", u.clicks, len(u.checks))
		})
	}
}

// clicker is the people of one service, and what they have done.
type clicker struct {
	*rig.Rig
	service string
	clicks  int
	notes   map[string]int // private messages that a person must have been sent
	later   []func()       // steps that need time
	checks  []func() string
}

// TestTwoServicesAtOnce lets two people on two services click at the same
// moment. One of them decides, the other reads who was first, and the cards on
// all three services say the same.
func TestTwoServicesAtOnce(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	people := map[string]string{"slack": "ana", "discord": "bo", "telegram": "cy"}
	us := map[string]*clicker{}
	for _, s := range rig.Services {
		us[s] = &clicker{Rig: r, service: s, notes: map[string]int{}}
	}
	for n := range level.Often(30, 6) {
		pair := []*clicker{us[rig.Services[n%3]], us[rig.Services[(n+1)%3]]}
		a := r.Ask(samples.Approval())
		var acts []sandbox.Action
		for k, u := range pair {
			label := []string{u.ApprovingLabel(a.On(u.service)), render.LabelDeny}[(n/3+k)%2]
			acts = append(acts, holding(r, a, u.service, label, people[u.service]))
		}
		reactions := make([]sandbox.Reaction, 2)
		var wg sync.WaitGroup
		for k, u := range pair {
			u.clicks++
			wg.Go(func() { reactions[k], _ = r.Sandbox.Act(r.Ctx, acts[k]) }) // the card may be closed before the click
		}
		wg.Wait()
		winner := a.End().Response.Actor
		for k, u := range pair {
			if reactions[k].OK && u.service != winner.Platform {
				u.told(people[u.service], reactions[k], winner.Person+" already")
			}
		}
		pair[0].truthful(a)
	}
	r.NoComplaints()
	for _, u := range us {
		u.audit()
	}
}

// press clicks a control of a card.
func (u *clicker) press(who string, a rig.Asked, label string) sandbox.Reaction {
	u.T.Helper()
	u.clicks++
	return u.Press(who, a.On(u.service), label)
}

func (u *clicker) approve(who string, a rig.Asked) sandbox.Reaction {
	u.T.Helper()
	u.clicks++
	return u.Approve(who, a.On(u.service))
}

// typed clicks a control and types a text.
func (u *clicker) typed(who string, a rig.Asked, label, text string) sandbox.Reaction {
	u.T.Helper()
	u.clicks += 2
	return u.Typed(who, a.On(u.service), label, text)
}

// told checks what a person reads in private.
func (u *clicker) told(who string, reaction sandbox.Reaction, word string) {
	u.T.Helper()
	u.Told(who, u.service, reaction, word)
	if u.service != "telegram" && len(reaction.Errors) == 0 {
		u.notes[who]++
	}
}

// awaited waits for the response as an agent does. The returned function waits
// until the agent has it.
func (u *clicker) awaited(a rig.Asked) func() {
	got := make(chan error, 1)
	ctx, cancel := context.WithTimeout(u.Ctx, await.Limit)
	go func() {
		_, err := u.Agent.Wait(ctx, a.Interaction.ID)
		got <- err
	}()
	return func() {
		u.T.Helper()
		defer cancel()
		if err := <-got; err != nil {
			u.T.Error(err)
		}
	}
}

// record returns the record of a request.
func (u *clicker) record(id bridge.ID) bridge.Record {
	u.T.Helper()
	rec, err := u.Daemons[0].Engine().Get(u.Ctx, id)
	if err != nil {
		u.T.Fatal(err)
	}
	return rec
}

// truthful waits until the card of a request says what its record says.
func (u *clicker) truthful(a rig.Asked) {
	u.T.Helper()
	u.soon(func() string { return u.Untrue(u.record(a.Interaction.ID)) })
}

// soon waits until a check finds nothing, and keeps it for the audit.
func (u *clicker) soon(check func() string) {
	u.T.Helper()
	u.Clear(check)
	u.checks = append(u.checks, check)
}

// audit checks every card and every private message again, once nothing else
// happens.
func (u *clicker) audit() {
	u.T.Helper()
	for _, step := range u.later {
		step()
	}
	for _, check := range u.checks {
		if problem := check(); problem != "" {
			u.T.Errorf("in the end: %s", problem)
		}
	}
	for _, who := range []string{"ana", "bo", "cy", "mal"} {
		got := slices.DeleteFunc(u.Sandbox.Person(who).Notes(u.service), func(s string) bool {
			return strings.HasPrefix(strings.TrimSpace(s), "Recorded: ") // a menu that was used
		})
		if u.service != "telegram" && len(got) != u.notes[who] {
			u.T.Errorf("%s was sent %d private messages, want %d: %q", who, len(got), u.notes[who], got)
		}
	}
}

// chooses answers a question with a menu.
func (u *clicker) chooses(w bridge.Widget, labels ...string) {
	u.T.Helper()
	a := u.Ask(samples.One(w, samples.Choices("eu", "us", "ap")...))
	u.clicks += 1 + len(labels)
	u.Choose("bo", a.On(u.service), w, labels...)
	u.truthful(a)
}
