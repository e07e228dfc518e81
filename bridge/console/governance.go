package console

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/policy"
)

// Member is a person of the config as the page shows one.
type Member struct {
	Name string `json:"name"`
	// Platforms lists the platforms on which the person has an account.
	Platforms []string `json:"platforms"`
	// SignsIn means that the person can use the console.
	SignsIn bool `json:"signs_in"`
	Auditor bool `json:"auditor"`
	// Groups and Routes list the groups and the routes that name the person.
	Groups []string `json:"groups"`
	Routes []string `json:"routes"`
}

// Group is a group of the config.
type Group struct {
	Name   string   `json:"name"`
	People []string `json:"people"` // named in the config
	// Native lists the platforms whose own groups belong to this one.
	Native []string `json:"native"`
	OnCall string   `json:"oncall,omitempty"`
	// Now lists the members that are known now. Error says why they are not.
	Now   []string `json:"now"`
	Error string   `json:"error,omitempty"`
}

// people lists the people and the groups, with the routes that name them.
func (c *Console) people(_ http.ResponseWriter, r *http.Request, _ bridge.Actor) (any, error) {
	members, groups := []Member{}, []Group{}
	for _, m := range c.members {
		m.Groups, m.Routes = []string{}, []string{}
		for _, g := range c.groups {
			if slices.Contains(g.People, m.Name) {
				m.Groups = append(m.Groups, g.Name)
			}
		}
		routes := c.engine.Routes()
		for _, name := range slices.Sorted(maps.Keys(routes)) {
			if slices.ContainsFunc(routes[name].Responders, func(x bridge.Responder) bool { return x.Person == m.Name }) {
				m.Routes = append(m.Routes, name)
			}
		}
		members = append(members, m)
	}
	for _, g := range c.groups {
		now, err := c.engine.People.Now(r.Context(), g.Name)
		if g.Now = append([]string{}, now...); err != nil {
			g.Error = bridge.PublicError(err).Message
		}
		groups = append(groups, g)
	}
	return map[string]any{"people": members, "groups": groups}, nil
}

// policyPage is the content of the page of the policy.
type policyPage struct {
	Rules []policy.Rule `json:"rules"`
	Risks []policy.Risk `json:"risks"`
}

func (c *Console) showPolicy(http.ResponseWriter, *http.Request, bridge.Actor) (any, error) {
	return policyPage{append([]policy.Rule{}, c.policy.Rules()...), append([]policy.Risk{}, c.policy.Risks()...)}, nil
}

// tryPolicy explains what the policy says about an operation. It opens and
// changes nothing.
func (c *Console) tryPolicy(_ http.ResponseWriter, r *http.Request, _ bridge.Actor) (any, error) {
	var in struct {
		Agent   string `json:"agent"`
		Tool    string `json:"tool"`
		Where   string `json:"where"`
		Command string `json:"command"`
		Input   string `json:"input"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	act := bridge.Act{Agent: in.Agent, Tool: in.Tool, Where: in.Where, Input: json.RawMessage(in.Input)}
	switch {
	case in.Command != "" && in.Input != "":
		return nil, bridge.Errorf(bridge.CodeInvalid, "enter a command or an input, not both")
	case in.Command != "":
		raw, err := json.Marshal(map[string]string{"command": in.Command})
		if err != nil {
			return nil, err
		}
		act.Input = raw
	case in.Input != "":
		if err := bridge.CheckJSON([]byte(in.Input)); err != nil {
			return nil, bridge.Wrap(bridge.CodeInvalid, err, "input")
		}
	}
	ruling, steps := c.policy.Explain(act)
	return map[string]any{"ruling": ruling, "steps": append([]policy.Step{}, steps...)}, nil
}
