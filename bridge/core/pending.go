package core

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

// Pending implements Interactions.
func (in *interactions) Pending(ctx context.Context, agent, session string) ([]bridge.ID, error) {
	q := broker.Query{Index: life.Deadlines}
	if agent != "" && session != "" {
		q.Index = life.SessionPending(agent, session)
	}
	ids, err := in.members(ctx, q)
	if err != nil || agent == "" && session == "" {
		return ids, err
	}
	slices.SortFunc(ids, func(a, b bridge.ID) int { return cmp.Compare(b, a) }) // IDs sort by the time of creation
	var out []bridge.ID
	f := bridge.ListFilter{State: bridge.StatePending, Agent: agent, Session: session}
	for part := range slices.Chunk(ids, rereadBatch) {
		found, err := in.Read(ctx, part)
		if err != nil {
			return nil, err
		}
		for n, d := range found {
			if d.Err == nil && d.Body.Kind != bridge.KindNotice && f.Match(*in.Record(d.Docs)) {
				out = append(out, part[n])
			}
		}
	}
	return out, nil
}

// Posted implements Interactions.
func (in *interactions) Posted(ctx context.Context, platform string, wanted func(bridge.MessageRef) bool) ([]bridge.ID, error) {
	all, err := in.db.Range(ctx, broker.Query{Index: life.CardIndex(platform)})
	var out []bridge.ID
	for _, m := range all {
		if id, ref := life.ParseCard(m.Name); wanted(ref) && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out, documents.Public(err)
}

// members returns the interactions in an index.
func (in *interactions) members(ctx context.Context, q broker.Query) ([]bridge.ID, error) {
	all, err := in.db.Range(ctx, q)
	ids := make([]bridge.ID, len(all))
	for n, m := range all {
		ids[n] = bridge.ID(m.Name)
	}
	return ids, documents.Public(err)
}

// Stats returns counts of the stored data, and the ages of a sample of the
// pending interactions.
func (s *Store) Stats(ctx context.Context) (bridge.Stats, error) {
	pending, err := s.db.Count(ctx, life.Deadlines, time.Time{})
	if err != nil {
		return bridge.Stats{}, documents.Public(err)
	}
	ids, err := s.db.Sample(ctx, life.Deadlines, agesRead)
	if err != nil {
		return bridge.Stats{}, documents.Public(err)
	}
	first, err := s.db.Range(ctx, broker.Query{Index: life.Deadlines, N: 1})
	if err != nil {
		return bridge.Stats{}, documents.Public(err)
	}
	jobs, dead, lag, err := s.db.Work(ctx)
	if err != nil {
		return bridge.Stats{}, documents.Public(err)
	}
	now := s.db.Now()
	out := bridge.Stats{Waiting: s.hub.waiting(), Pending: int64(pending), Jobs: int64(jobs), Dead: int64(dead), Lag: lag}
	if len(first) > 0 {
		out.Overdue = max(0, now.Sub(first[0].At))
	}
	for _, id := range ids {
		out.Ages = append(out.Ages, max(0, now.Sub(bridge.ID(id).Time())))
	}
	if len(out.Ages) > 0 {
		out.Weight = float64(out.Pending) / float64(len(out.Ages))
	}
	return out, nil
}

// agesRead is the maximum number of IDs that Stats reads.
const agesRead = 8000
