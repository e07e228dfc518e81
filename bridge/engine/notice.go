package engine

import (
	"context"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
)

// Post opens a notice of nod about an agent without asking the policy or the
// grants. It counts toward the agent's requests per minute, but not toward its
// kinds. The name identifies repeats.
func (op *Openings) Post(ctx context.Context, agent bridge.Agent, r bridge.Request, name string) (bridge.Record, error) {
	var none bridge.Record
	if err := op.countRequest(ctx, agent); err != nil {
		return none, err
	}
	i, err := op.composer.interaction(ctx, agent, r, nil)
	if err != nil {
		return none, err
	}
	if err := op.composer.redactor.interaction(&i, nil); err != nil {
		return none, err
	}
	identity, err := identify(agent, r, name, "")
	if err != nil {
		return none, err
	}
	if i.ID, err = bridge.NewID(); err != nil {
		return none, err
	}
	d := Draft{Opening: opening(i, identity)}
	if err := op.Reached(ctx, &d); err != nil {
		return none, err
	}
	return op.store(ctx, &d)
}

// noticed closes a notice once every reachable destination has shown it.
func (w *dispatcher) noticed(ctx context.Context, id bridge.ID) error {
	r, err := w.records.Load(ctx, id)
	if err != nil {
		return err
	}
	for n := range r.Interaction.Destinations {
		_, posted := r.Messages[n]
		if _, failed := r.Failures[n]; !posted && !failed {
			return nil // the post job of that destination checks again
		}
	}
	_, _, err = w.records.Resolve(ctx, life.Resolution{ID: id, Nonce: "shown", Response: bridge.Response{
		State: bridge.StateAnswered, Annotations: map[string]bridge.Annotation{}, At: time.Now().UTC().Truncate(time.Millisecond), Digest: r.Interaction.Digest,
	}})
	return err
}
