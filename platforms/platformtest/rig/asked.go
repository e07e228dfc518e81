package rig

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// StillPending fails the test if the request is no longer pending.
func (a Asked) StillPending() bridge.Record {
	a.R.T.Helper()
	rec, err := a.R.Daemons[0].Engine().Get(a.R.Ctx, a.Interaction.ID)
	if err != nil || rec.State != bridge.StatePending {
		a.R.T.Fatalf("state %s, %v; want pending", rec.State, err)
	}
	return rec
}

// Card waits for the card of a session's only pending request.
func (r *Rig) Card(session string) Asked {
	r.T.Helper()
	a := Asked{R: r}
	r.Eventually("the card is posted", func() bool {
		page, err := r.Agent.List(r.Ctx, bridge.ListFilter{Session: session, State: bridge.StatePending})
		if err != nil || len(page.Items) != 1 {
			return false
		}
		a.Record = page.Items[0]
		return len(a.Messages)+len(a.Failures) == len(a.Interaction.Destinations)
	})
	return a
}

// As returns a later round of the request. Its cards are the same messages.
func (a Asked) As(rec bridge.Record) Asked { return Asked{Record: rec, R: a.R} }

// Asked is a request whose cards are posted.
type Asked struct {
	bridge.Record
	R *Rig
}

// Ask opens a request and waits until its cards are posted.
func (r *Rig) Ask(req bridge.Request) Asked {
	r.T.Helper()
	if req.Prompt == "" {
		req.Prompt = "Please answer"
	}
	rec, err := r.Agent.Open(r.Ctx, req, "")
	if err != nil {
		r.T.Fatal(err)
	}
	a := Asked{Record: rec, R: r}
	r.Eventually("the cards are posted", func() bool {
		a.Record, err = r.Daemons[0].Engine().Get(r.Ctx, rec.Interaction.ID)
		return err == nil && len(a.Messages)+len(a.Failures) == len(a.Interaction.Destinations)
	})
	return a
}

// Due makes a job of a request due as soon as it exists. Tests use it instead
// of short delays, which a busy machine exceeds.
func (r *Rig) Due(kind life.JobKind, id bridge.ID, n int) {
	r.T.Helper()
	r.Eventually(fmt.Sprintf("there is the job %s %s %d", kind, id, n), func() bool { return r.MakeDue(kind, id, n) })
}

// MakeDue makes a job of a request due, and reports whether there is the job.
func (r *Rig) MakeDue(kind life.JobKind, id bridge.ID, n int) bool {
	job := fmt.Sprintf("%s:%s:%d", kind, id, n)
	made, err := due.Run(r.Ctx, r.Bare, []string{"nod:{nod}:jobs", "nod:{nod}:states"}, job, kind == life.JobStep).Bool()
	return err == nil && made
}

// due makes a job due, which may be in a queue. It skips a job that a daemon is
// working on, because that daemon sets the time of the next one at the end.
var due = redis.NewScript(`
for _, name in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  if name == ARGV[1] or name:sub(1, #ARGV[1] + 1) == ARGV[1] .. '@' then
    local state = redis.call('HGET', KEYS[2], name)
    if ARGV[2] == '1' and state and not state:find('|0$') then return 0 end
    return redis.call('ZADD', KEYS[1], 'XX', 'CH', 1, name)
  end
end
return 0`)

// On returns the place of the card on a platform.
func (a Asked) On(service string) sandbox.Place {
	for n, d := range a.Interaction.Destinations {
		if ref, ok := a.Messages[n]; ok && d.Platform == service {
			return sandbox.Place{Service: service, Channel: ref.Channel, Message: ref.Message}
		}
	}
	a.R.T.Fatalf("no message on %s", service)
	return sandbox.Place{}
}

// Text returns the text of the card on a platform.
func (a Asked) Text(service string) string { return a.R.Hands.Text(a.On(service)) }

// Controls returns the controls of the card on a platform.
func (a Asked) Controls(service string) []sandbox.Control {
	return a.R.Hands.Controls(a.On(service))
}

// End waits for the outcome like an agent.
func (a Asked) End() bridge.Record {
	a.R.T.Helper()
	ctx, cancel := context.WithTimeout(a.R.Ctx, await.Limit)
	defer cancel()
	rec, err := a.R.Agent.Wait(ctx, a.Interaction.ID)
	if err != nil {
		a.R.T.Fatal(err)
	}
	return rec
}

// Caller starts a caller that waits for the answer, like an agent. The channel
// gets the record that the caller received, or nil after an error. The test
// ends after the caller.
func (a Asked) Caller() <-chan *bridge.Record {
	ctx, cancel := context.WithCancel(a.R.Ctx)
	told, ended := make(chan *bridge.Record, 1), make(chan struct{})
	go func() {
		defer close(ended)
		rec, err := a.R.Agent.Wait(ctx, a.Interaction.ID)
		if err != nil {
			a.R.T.Logf("a caller: %v", err)
			told <- nil
			return
		}
		told <- &rec
	}()
	a.R.T.Cleanup(func() { cancel(); <-ended })
	return told
}

// Closed waits until the cards on the platforms have no controls and contain
// the words.
func (a Asked) Closed(words ...string) {
	a.R.T.Helper()
	for n, d := range a.Interaction.Destinations {
		if _, ok := a.Messages[n]; !ok {
			continue
		}
		a.R.Eventually(fmt.Sprintf("the card on %s closes with %q", d.Platform, words), func() bool {
			text := a.Text(d.Platform)
			for _, w := range words {
				if !strings.Contains(text, w) {
					return false
				}
			}
			return len(a.Controls(d.Platform)) == 0
		})
	}
}

// Pending fails the test unless the request is pending and its cards have
// controls.
func (a Asked) Pending(service string) {
	a.R.T.Helper()
	rec, err := a.R.Daemons[0].Engine().Get(a.R.Ctx, a.Interaction.ID)
	if err != nil || rec.State != bridge.StatePending {
		a.R.T.Fatalf("state %s, %v; want pending", rec.State, err)
	}
	if len(a.Controls(service)) == 0 {
		a.R.T.Fatalf("the controls on %s are gone", service)
	}
}
