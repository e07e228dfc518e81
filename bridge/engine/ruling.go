package engine

import "github.com/nodbridge/nod/bridge"

// judge applies the policy to a request for an approval.
func (e *Engine) judge(agent bridge.Agent, r *bridge.Request) bridge.Ruling {
	if r.Approval == nil || e.policy == nil {
		return bridge.Ruling{Effect: bridge.EffectAsk}
	}
	a := *r.Approval
	ruling := e.policy.Judge(bridge.Act{Agent: agent.Name, Tool: a.Tool, Input: a.Input, Where: a.Where})
	if ruling.Effect != bridge.EffectAsk {
		return ruling
	}
	if ruling.Timeout != 0 {
		r.Timeout = ruling.Timeout
	}
	if ruling.OnTimeout != "" {
		r.OnTimeout = ruling.OnTimeout
	}
	if len(ruling.Scopes) > 0 {
		a.Limit(ruling.Scopes)
	}
	if ruling.Confirm != "" {
		a.Confirm = ruling.Confirm
	}
	if a.Confirm != "" || len(ruling.Redact) > 0 {
		a.WithoutEdit()
	}
	r.Approval = &a
	return ruling
}
