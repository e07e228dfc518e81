package daemon

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/config"
)

// Impossible returns, for each agent, the approvals that no one could give,
// with the reason. It checks the approvals of the agent's routes, and those
// that policy rules require.
func Impossible(c config.Config) (map[string][]string, error) {
	routes, err := Routes(c)
	if err != nil {
		return nil, err
	}
	o := engine.Options{Routes: routes, Directory: buildDirectory(c, 0, nil, nil, nil)}
	risks := map[string]int{}
	for _, r := range c.Risks {
		risks[r.Name] = r.Quorum
	}
	out := map[string][]string{}
	for name, agent := range buildAgents(c) {
		if len(agent.Kinds) > 0 && !slices.Contains(agent.Kinds, bridge.KindApproval) {
			continue
		}
		own := agent.Routes
		if len(own) == 0 {
			own = slices.Sorted(maps.Keys(routes))
		}
		note := func(where string, route string, quorum int) {
			if why := engine.Impossible(o, agent, []string{route}, quorum); why != "" {
				out[name] = append(out[name], where+": "+why)
			}
		}
		for _, route := range own {
			note("route "+route, route, 0)
		}
		for n, r := range c.Policy {
			if r.Then != "ask" || len(r.Agents) > 0 && !slices.Contains(r.Agents, name) {
				continue
			}
			quorum, rule := max(r.Quorum, risks[r.Risk]), fmt.Sprintf("rule %s", cmp.Or(r.Name, fmt.Sprintf("policy[%d]", n)))
			switch {
			case r.Route != "":
				note(rule+" on route "+r.Route, r.Route, quorum)
			case quorum > 1:
				for _, route := range own {
					note(rule+" on route "+route, route, quorum)
				}
			}
		}
	}
	return out, nil
}
