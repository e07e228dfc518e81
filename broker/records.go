package broker

import (
	"context"

	"github.com/nodbridge/nod/bridge"
)

// records implements bridge.Records. Await is in await.go, and Mark in mark.go.
type records struct {
	*core
	hub   *hub
	lists *lists
}

// Load implements bridge.Records.
func (rs *records) Load(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	return rs.load(ctx, id)
}

// Pending implements bridge.Records.
func (rs *records) Pending(ctx context.Context, agent, session string) ([]bridge.ID, error) {
	var ids []bridge.ID
	if agent == "" && session == "" {
		all, err := rs.lists.pending(ctx)
		for _, p := range all {
			ids = append(ids, bridge.ID(p.id))
		}
		return ids, err
	}
	f := bridge.ListFilter{State: bridge.StatePending, Agent: agent, Session: session, Limit: listMax}
	for {
		page, err := rs.lists.List(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, r := range page.Items {
			ids = append(ids, r.Interaction.ID)
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			return ids, nil
		}
	}
}
