package bridge

import (
	"slices"
)

// Missing are the elements of b that a lacks.
func Missing[T comparable](a, b []T) []T {
	return slices.DeleteFunc(slices.Clone(b), func(v T) bool { return slices.Contains(a, v) })
}

// TimeoutResponse is what stands if nobody answers.
func (i Interaction) TimeoutResponse() Response {
	if i.Kind == KindNotice {
		return Response{State: StateUndeliverable, Reason: "it could not be shown in time", Annotations: map[string]Annotation{}, At: i.Deadline, Digest: i.Digest}
	}
	r := Response{State: StateExpired, Annotations: map[string]Annotation{}, At: i.Deadline, Digest: i.Digest}
	switch i.OnTimeout {
	case OnTimeoutDeny:
		r.State, r.Reason = StateDenied, "nobody answered in time"
	case OnTimeoutPending:
		r.State = StatePending
	case OnTimeoutDefault:
		i.Initial = nil // what was filled in is no default
		defaults, _ := i.Respond(nil)
		r.State, r.Reason, r.Answers = StateAnswered, "nobody answered in time; these are the defaults", defaults.Answers
	}
	return r
}
