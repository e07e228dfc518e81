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

// timeoutResponse returns the response at the deadline.
func timeoutResponse(i bridge.Interaction) bridge.Response {
	if i.Kind == bridge.KindNotice {
		return bridge.Response{State: bridge.StateUndeliverable, Reason: "the notice could not be shown in time", Annotations: map[string]bridge.Annotation{}, At: i.Deadline, Digest: i.Digest}
	}
	r := bridge.Response{State: bridge.StateExpired, Annotations: map[string]bridge.Annotation{}, At: i.Deadline, Digest: i.Digest}
	switch i.OnTimeout {
	case bridge.OnTimeoutDeny:
		r.State, r.Reason = bridge.StateDenied, "no one answered in time"
	case bridge.OnTimeoutPending:
		r.State = bridge.StatePending
	case bridge.OnTimeoutDefault:
		i.Initial = nil // initial values are not defaults
		defaults, _ := i.Respond(nil)
		r.State, r.Reason, r.Answers = bridge.StateAnswered, "no one answered in time, so the defaults apply", defaults.Answers
	}
	return r
}
