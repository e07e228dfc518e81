package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Hosts keeps the coverage of agents that hosts report. A report is a statement
// of its reporter: nod cannot verify it.
type Hosts struct {
	store bridge.Hosts
}

// Report stores the coverage of a host, as the agent whose token reports it, and
// returns what it stored.
func (hs *Hosts) Report(ctx context.Context, agent string, h bridge.HostCoverage) (bridge.HostCoverage, error) {
	if err := h.Check(); err != nil {
		return h, err
	}
	h.Reporter, h.At = agent, time.Now().UTC().Truncate(time.Millisecond)
	return h, hs.store.PutHost(ctx, h)
}

// List returns the reports of an agent, or of all if agent is empty, by host and
// user.
func (hs *Hosts) List(ctx context.Context, agent string) ([]bridge.HostCoverage, error) {
	all, err := hs.store.ListHosts(ctx)
	all = slices.DeleteFunc(all, func(h bridge.HostCoverage) bool { return agent != "" && h.Reporter != agent })
	slices.SortFunc(all, func(a, b bridge.HostCoverage) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.User, b.User), cmp.Compare(a.Reporter, b.Reporter))
	})
	return all, err
}
