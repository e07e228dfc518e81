package daemon_test

import (
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// TestAttention checks that nod notifies people no more often than necessary.
func TestAttention(t *testing.T) {
	t.Parallel()
	for _, service := range rig.Services {
		t.Run(service, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Config: rig.Only(service), Daemons: 2})
			for _, c := range []struct {
				name string
				test func(r *rig.Rig, service string)
			}{
				{"grace holds the card back", grace}, {"identical requests are asked once", duplicates},
			} {
				t.Run(c.name, func(t *testing.T) {
					sub := *r
					sub.T = t
					c.test(&sub, service)
				})
			}
		})
	}
}

func grace(r *rig.Rig, s string) {
	req := samples.Approval(bridge.ScopeOnce)
	req.Prompt, req.Grace = "Answered at the keyboard", bridge.Duration(time.Minute)
	quick, err := r.Agent.Open(r.Ctx, req, "")
	if err != nil {
		r.T.Fatal(err)
	}
	if _, err := r.Agent.Cancel(r.Ctx, quick.Interaction.ID, "answered at the terminal"); err != nil {
		r.T.Fatal(err)
	}
	req.Prompt, req.Session = "No one at the keyboard", "s-"+rand.Text()[:8]
	held, err := r.Agent.Open(r.Ctx, req, "")
	if err != nil {
		r.T.Fatal(err)
	}
	r.Ask(samples.Approval(bridge.ScopeOnce)) // returns once its card is posted
	if got, err := r.Agent.Get(r.Ctx, held.Interaction.ID); err != nil || len(got.Messages) > 0 {
		r.T.Errorf("a card was posted in the grace period: %v, %v", got.Messages, err)
	}
	r.Due(life.JobPost, quick.Interaction.ID, 0)
	r.Due(life.JobPost, held.Interaction.ID, 0)
	a := r.Card(req.Session)
	if got, err := r.Agent.Get(r.Ctx, quick.Interaction.ID); err != nil || len(got.Messages) > 0 {
		r.T.Errorf("a card was posted for a request that was already closed: %v, %v", got.Messages, err)
	}
	r.Press("ana", a.On(s), "Deny")
	a.End()
}

func duplicates(r *rig.Rig, s string) {
	req := samples.Approval(bridge.ScopeOnce)
	req.Join = true
	a := r.Ask(req)
	ids := make(chan bridge.ID, 3)
	var wg sync.WaitGroup
	for n := range 3 {
		wg.Go(func() {
			rec, err := r.Agent.Open(r.Ctx, req, fmt.Sprintf("duplicate-%s-%d", req.Session, n))
			if err != nil {
				r.T.Error(err)
			}
			ids <- rec.Interaction.ID
		})
	}
	wg.Wait()
	for range 3 {
		if id := <-ids; id != a.Interaction.ID {
			r.T.Errorf("asked twice: %s and %s", id, a.Interaction.ID)
		}
	}
	if again, err := r.Agent.Open(r.Ctx, req, "duplicate-"+req.Session+"-1"); err != nil || again.Joined != 3 {
		r.T.Errorf("a repeat counts again: %d, %v", again.Joined, err)
	}
	r.Eventually("the card counts them", func() bool { return strings.Contains(a.Text(s), "4 identical requests") })
	other := req
	other.Session = "s-" + rand.Text()[:8]
	if rec, err := r.Agent.Open(r.Ctx, other, ""); err != nil || rec.Interaction.ID == a.Interaction.ID {
		r.T.Errorf("joined another session's: %v", err)
	} else if _, err := r.Agent.Cancel(r.Ctx, rec.Interaction.ID, ""); err != nil {
		r.T.Error(err)
	}
	r.Press("ana", a.On(s), "Run command")
	a.End()
	// The request is closed, so an identical one is asked again.
	if rec, err := r.Agent.Open(r.Ctx, req, ""); err != nil || rec.Interaction.ID == a.Interaction.ID || rec.State != bridge.StatePending {
		r.T.Errorf("an old answer was used: %s, %v", rec.State, err)
	}
}
