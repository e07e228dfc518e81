package bridge

import (
	"slices"
	"strconv"
	"time"
)

// KeepHidden takes over what was found out about a request before it was
// masked.
func (i *Interaction) KeepHidden(was Interaction) {
	i.GrantKey, i.Redacted, i.RedactedCommand = was.GrantKey, max(was.Redacted, i.Redacted), was.RedactedCommand || i.RedactedCommand
	i.noteScopes()
}

// Overtaken is the response that closes a request whose rules changed.
func (i Interaction) Overtaken(why string) *Response {
	return &Response{
		State: StateDenied, Rule: "policy changed", Reason: why, Annotations: map[string]Annotation{},
		At: time.Now().UTC().Truncate(time.Millisecond), Digest: i.Digest,
	}
}

// Own is the route of the request itself.
func (i Interaction) Own() string {
	if i.OwnRoute != "" {
		return i.OwnRoute
	}
	return i.Route
}

func (i Interaction) RouteNames() []string {
	var names []string
	for _, q := range i.RouteRequirements() {
		names = append(names, q.Route)
	}
	return names
}

// StricterThan lists the requirements of an interaction that another one does
// not have, for people to read.
func (i Interaction) StricterThan(was Interaction) []string {
	var out []string
	if n := i.Needs(); n > was.Needs() {
		out = append(out, strconv.Itoa(n)+" approvals")
	}
	old := was.RouteRequirements()
	for _, q := range i.RouteRequirements() {
		n := slices.IndexFunc(old, func(o Requirement) bool { return o.Route == q.Route })
		if n < 0 {
			out = append(out, "an approval by the route "+q.Route)
			continue
		}
		out = append(out, q.stricterThan(old[n])...)
	}
	if was.DenyCounts && !i.DenyCounts {
		out = append(out, "no denial")
	}
	for _, who := range Missing(was.Requesters, i.Requesters) {
		out = append(out, "someone other than "+who)
	}
	if i.Approval == nil {
		return out
	}
	if c := i.Approval.Confirm; c != "" && (was.Approval == nil || c != was.Approval.Confirm) {
		out = append(out, "a typed confirmation")
	}
	if i.Risk != "" && i.Risk != was.Risk {
		out = append(out, "the risk level "+i.Risk)
	}
	return out
}

func (q Requirement) stricterThan(was Requirement) []string {
	var out []string
	if n := max(q.Quorum, 1); n > max(was.Quorum, 1) {
		out = append(out, strconv.Itoa(n)+" approvals by the route "+q.Route)
	}
	for _, who := range Missing(was.Must, q.Must) {
		out = append(out, "an approval by "+who)
	}
	who := func(r Responder) Responder {
		if r.Person != "" {
			return Responder{Person: r.Person}
		}
		return r
	}
	names := func(all []Responder) []Responder {
		var out []Responder
		for _, r := range all {
			out = append(out, who(r))
		}
		return out
	}
	if len(Missing(names(q.Responders), names(was.Responders)))+len(Missing(q.Groups, was.Groups)) > 0 {
		out = append(out, "other responders on the route "+q.Route)
	}
	return out
}
