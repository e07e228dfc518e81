package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/people"
	"github.com/nodbridge/nod/bridge/proof"
)

// composer builds interactions from requests, the policy and the routes.
type composer struct {
	judge    *judge
	version  string // of the config
	redactor *Redactor
	people   *people.People
	routes   routes
	// strangers means that requesters need not be in the config.
	strangers bool
}

// prepare builds the interaction of a request under the policy.
func (c *composer) prepare(ctx context.Context, agent bridge.Agent, r bridge.Request) (bridge.Interaction, bridge.Ruling, error) {
	i, ruling, err := c.prepareUnder(ctx, agent, r, c.judge.rule(agent, &r))
	if err == nil && i.Stranger && !c.strangers {
		err = bridge.Errorf(bridge.CodeInvalid, "requester: unknown person %q", r.Requester).
			WithHint("name someone under people in the config, by name, email address or account; identity.unknown_requesters allows others")
	}
	return i, ruling, err
}

// prepareUnder builds the interaction of a request under a ruling.
func (c *composer) prepareUnder(ctx context.Context, agent bridge.Agent, r bridge.Request, ruling bridge.Ruling) (bridge.Interaction, bridge.Ruling, error) {
	i, err := c.interaction(ctx, agent, r, ruling.Routes)
	if err != nil {
		return i, ruling, err
	}
	i.Trace = traceOf(ctx)
	i.Rule, i.RuleReason, i.Risk, i.PolicyVersion, i.ConfigVersion = ruling.Rule, ruling.Reason, ruling.Risk, c.judge.version, c.version
	i.Quorum = max(i.Quorum, ruling.Quorum)
	if i.Kind == bridge.KindApproval {
		i.StepUp = cmp.Or(i.StepUp, ruling.StepUp)
	}
	if i.StepUp != "" {
		a := *i.Approval
		if i.Approval = &a; len(ruling.Scopes) == 0 {
			a.Limit(nil) // a grant requires a rule that permits grants
		}
	}
	if i.Counted() {
		i.Approval.WithoutEdit()
	}
	sent := i
	err = c.redactor.interaction(&i, ruling.Redact)
	if err == nil {
		err = grantable(&i, ruling, sent)
	}
	return i, ruling, err
}

// interaction builds the interaction of a request for the routes of its ruling.
// An agent with a list of routes can choose only these routes. The list does
// not limit the routes of the ruling, which come from the config.
func (c *composer) interaction(ctx context.Context, agent bridge.Agent, r bridge.Request, named []string) (bridge.Interaction, error) {
	names := routesOf(r.Route, named)
	own := routesOf(r.Route, nil)[0]
	if (r.Route != "" || slices.Contains(names, own)) && len(agent.Routes) > 0 && !slices.Contains(agent.Routes, own) {
		return bridge.Interaction{}, bridge.Errorf(bridge.CodeForbidden, "route: agent %s may not use route %q", agent.Name, own)
	}
	var err error
	now := time.Now().UTC().Truncate(time.Millisecond)
	i := bridge.Interaction{
		Ask:       r.Opened(),
		Agent:     agent.Name,
		Schedule:  bridge.Schedule{Created: now, Deadline: now.Add(time.Duration(r.Timeout))},
		Lineage:   bridge.Lineage{Round: 1},
		Contested: r.Contested,
	}
	if err = c.people.SetRequester(ctx, &i); err != nil {
		return bridge.Interaction{}, err
	}
	if err = c.routes.address(&i, agent, r.OnTimeout, names); err != nil {
		return bridge.Interaction{}, err
	}
	if len(names) > 1 || names[0] != own {
		i.OwnRoute = own
	}
	i.Names = c.people.Names(i)
	if i.Digest, err = proof.Digest(r.Ask); err != nil {
		return bridge.Interaction{}, err
	}
	return i, nil
}
