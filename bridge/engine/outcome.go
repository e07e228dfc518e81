package engine

import (
	"time"

	"github.com/nodbridge/nod/bridge"
)

// ruled returns the response of a policy that decides. It returns nil if people
// must be asked.
func ruled(i bridge.Interaction, r bridge.Ruling) *bridge.Response {
	resp := &bridge.Response{Annotations: map[string]bridge.Annotation{}, At: i.Created, Digest: i.Digest, Rule: r.Rule, Reason: r.Reason}
	switch r.Effect {
	case bridge.EffectAllow:
		resp.State, resp.Scope = bridge.StateApproved, bridge.ScopeOnce
	case bridge.EffectDeny:
		resp.State = bridge.StateDenied
	default:
		return nil
	}
	if resp.Reason == "" {
		resp.Reason = "by the rule " + r.Rule
	}
	return resp
}

// left returns the response of a request that is left to its agent.
func left(i bridge.Interaction) *bridge.Response {
	return &bridge.Response{
		State: bridge.StateCancelled, Reason: bridge.ReasonLeft, Annotations: map[string]bridge.Annotation{}, At: i.Created, Digest: i.Digest,
	}
}

// overtaken returns the response that closes a request after its rules changed.
func overtaken(i bridge.Interaction, why string) *bridge.Response {
	return &bridge.Response{
		State: bridge.StateDenied, Rule: "policy changed", Reason: why, Annotations: map[string]bridge.Annotation{},
		At: time.Now().UTC().Truncate(time.Millisecond), Digest: i.Digest,
	}
}
