package rooms

import (
	"context"

	"github.com/nodbridge/nod/bridge"
)

// As returns an asker that acts for an agent in this process.
func (h *House) As(a bridge.Agent) bridge.Asker { return asker{h, a} }

type asker struct {
	house *House
	agent bridge.Agent
}

func (a asker) Open(ctx context.Context, r bridge.Request, key string) (bridge.Record, error) {
	return a.house.Open(ctx, a.agent, r, key)
}

// owns returns CodeNotFound for an interaction of another agent.
func (a asker) owns(ctx context.Context, id bridge.ID) error {
	r, err := a.house.Get(ctx, id)
	if err == nil && r.Interaction.Agent != a.agent.Name {
		err = bridge.NotFound(id)
	}
	return err
}

func (a asker) Wait(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	if err := a.owns(ctx, id); err != nil {
		return bridge.Record{}, err
	}
	rec, err := a.house.Await(ctx, id)
	if err != nil {
		return bridge.Record{}, err
	}
	if err := a.house.Sending(context.WithoutCancel(ctx), *rec, bridge.Anyone); err != nil {
		return bridge.Record{}, err
	}
	return *rec, a.house.Delivered(context.WithoutCancel(ctx), *rec)
}

func (a asker) Reprompt(ctx context.Context, id bridge.ID, r bridge.Request, key string) (bridge.Record, error) {
	if err := a.owns(ctx, id); err != nil {
		return bridge.Record{}, err
	}
	return a.house.Reprompt(ctx, a.agent, id, r, key)
}

func (a asker) Queue(ctx context.Context, id bridge.ID, hold bridge.Duration, message string) (bridge.Record, error) {
	if err := a.owns(ctx, id); err != nil {
		return bridge.Record{}, err
	}
	return a.house.Queue(ctx, a.agent, id, hold, message)
}

func (a asker) Complete(ctx context.Context, id bridge.ID, c bridge.Completion) (bridge.Record, error) {
	if err := a.owns(ctx, id); err != nil {
		return bridge.Record{}, err
	}
	return a.house.Complete(ctx, id, c)
}

func (a asker) Cancel(ctx context.Context, id bridge.ID, reason string) (bridge.Record, error) {
	if err := a.owns(ctx, id); err != nil {
		return bridge.Record{}, err
	}
	return a.house.Cancel(ctx, id, reason)
}

func (a asker) Leave(ctx context.Context, id bridge.ID, caller, reason string) (bridge.Record, error) {
	if err := a.owns(ctx, id); err != nil {
		return bridge.Record{}, err
	}
	return a.house.Leave(ctx, id, bridge.CallerName(caller), reason)
}

func (a asker) Availability(ctx context.Context, route, session string) (bridge.Availability, error) {
	return a.house.Availability(ctx, a.agent, route, session)
}

func (a asker) Approvals() bridge.ToolApprovals { return approvals{a.house, a.agent.Name} }

type approvals struct {
	house *House
	agent string
}

func (a approvals) Get(ctx context.Context, key, session string) (bridge.Scope, error) {
	return a.house.Grants.Recall(ctx, a.agent, key, session)
}

func (a approvals) Set(ctx context.Context, key string, s bridge.Scope, session string) error {
	return a.house.Grants.Remember(ctx, a.agent, key, s, session)
}

func (a approvals) ClearSession(ctx context.Context, session string) error {
	return a.house.Grants.End(ctx, a.agent, session)
}
