package bench

import (
	"context"
	"errors"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
)

// httpCallers is the number of concurrent callers in the row over HTTP.
const httpCallers = 64

// cyclesOverHTTP compares cycles of agents over the HTTP API with cycles of the
// broker package in the same run. Both leave the cards out: the requests wait
// for their grace period.
func cyclesOverHTTP(ctx context.Context, b *harness) ([]figures, error) {
	other, err := b.cycles(ctx, httpCallers)
	if err != nil {
		return nil, err
	}
	s, err := b.install(ctx, "http", func(c *config.Config) {
		route := c.Routes[bridge.DefaultRoute]
		route.To = route.To[:1]
		c.Routes[bridge.DefaultRoute] = route
	})
	if s != nil {
		defer s.stop()
	}
	if err != nil {
		return nil, err
	}
	value, err := b.repeat(ctx, httpCallers, s.cycle)
	return []figures{{value, other}}, err
}

// cycle opens a request, waits for it in a call of its own, and answers it, as
// an agent and a person do over HTTP.
func (s *installation) cycle(ctx context.Context) error {
	rec, err := s.agent.Open(ctx, bridge.Request{Ask: bridge.Ask{
		Prompt: "Deploy version 2 to production?", Grace: bridge.Duration(time.Minute),
		Approval: &bridge.Approval{Tool: "deploy", Input: []byte(`{"command":"kubectl apply -f v2.yaml"}`)},
	}}, "")
	if err != nil {
		return err
	}
	id := rec.Interaction.ID
	settled := make(chan error, 1)
	time.AfterFunc(settleAfter, func() {
		_, err := s.ana.Respond(ctx, id, bridge.Reply{Decision: bridge.DecideOnce})
		settled <- err
	})
	rec, err = s.agent.Wait(ctx, id)
	if err = errors.Join(err, <-settled); err == nil && rec.State != bridge.StateApproved {
		err = bridge.Errorf(bridge.CodeInternal, "a cycle ended %s", rec.State)
	}
	return err
}
