package engine

import (
	"context"

	"github.com/nodbridge/nod/bridge"
)

// As returns an asker that acts for an agent in this process.
func (e *Engine) As(a bridge.Agent) bridge.Asker { return asker{e, a} }

type asker struct {
	e     *Engine
	agent bridge.Agent
}

func (a asker) Open(ctx context.Context, r bridge.Request, key string) (bridge.Record, error) {
	return a.e.Open(ctx, a.agent, r, key)
}

// owns returns CodeNotFound for an interaction of another agent.
func (a asker) owns(ctx context.Context, id bridge.ID) error {
	r, err := a.e.Get(ctx, id)
	if err == nil && r.Interaction.Agent != a.agent.Name {
		err = bridge.NotFound(id)
	}
	return err
}

func (a asker) Wait(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	if err := a.owns(ctx, id); err != nil {
		return bridge.Record{}, err
	}
	rec, err := a.e.Await(ctx, id)
	if rec == nil {
		return bridge.Record{}, err
	}
	if err == nil {
		err = a.e.Sending(context.WithoutCancel(ctx), *rec, bridge.Anyone)
	}
	if err == nil {
		err = a.e.Delivered(context.WithoutCancel(ctx), *rec)
	}
	return *rec, err
}

func (a asker) Reprompt(ctx context.Context, id bridge.ID, r bridge.Request, key string) (bridge.Record, error) {
	if err := a.owns(ctx, id); err != nil {
		return bridge.Record{}, err
	}
	return a.e.Reprompt(ctx, a.agent, id, r, key)
}

func (a asker) Queue(ctx context.Context, id bridge.ID, hold bridge.Duration, message string) (bridge.Record, error) {
	if err := a.owns(ctx, id); err != nil {
		return bridge.Record{}, err
	}
	return a.e.Queue(ctx, a.agent, id, hold, message)
}

func (a asker) Complete(ctx context.Context, id bridge.ID, c bridge.Completion) (bridge.Record, error) {
	if err := a.owns(ctx, id); err != nil {
		return bridge.Record{}, err
	}
	return a.e.Complete(ctx, id, c)
}

func (a asker) Cancel(ctx context.Context, id bridge.ID, reason string) (bridge.Record, error) {
	if err := a.owns(ctx, id); err != nil {
		return bridge.Record{}, err
	}
	return a.e.Cancel(ctx, id, reason)
}

func (a asker) Leave(ctx context.Context, id bridge.ID, caller, reason string) (bridge.Record, error) {
	if err := a.owns(ctx, id); err != nil {
		return bridge.Record{}, err
	}
	return a.e.Leave(ctx, id, bridge.CallerName(caller), reason)
}

func (a asker) Availability(ctx context.Context, route, session string) (bridge.Availability, error) {
	return a.e.Availability(ctx, a.agent, route, session)
}

func (a asker) Approvals() bridge.ToolApprovals { return approvals{a.e, a.agent.Name} }

type approvals struct {
	e     *Engine
	agent string
}

func (a approvals) Get(ctx context.Context, key, session string) (bridge.Scope, error) {
	return a.e.Sessions.Recall(ctx, a.agent, key, session)
}

func (a approvals) Set(ctx context.Context, key string, s bridge.Scope, session string) error {
	return a.e.Sessions.Remember(ctx, a.agent, key, s, session)
}

func (a approvals) ClearSession(ctx context.Context, session string) error {
	return a.e.Sessions.End(ctx, a.agent, session)
}
