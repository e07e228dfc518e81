package engine

import (
	"slices"
	"strconv"

	"github.com/nodbridge/nod/bridge"
)

// stricterThan describes the requirements of i that the earlier interaction did
// not have.
func stricterThan(i, was bridge.Interaction) []string {
	var out []string
	if n := i.Needs(); n > was.Needs() {
		out = append(out, strconv.Itoa(n)+" approvals")
	}
	old := was.RouteRequirements()
	for _, q := range i.RouteRequirements() {
		n := slices.IndexFunc(old, func(o bridge.Requirement) bool { return o.Route == q.Route })
		if n < 0 {
			out = append(out, "an approval by the route "+q.Route)
			continue
		}
		out = append(out, stricterRoute(q, old[n])...)
	}
	if was.DenyCounts && !i.DenyCounts {
		out = append(out, "no denial")
	}
	for _, who := range bridge.Missing(was.Requesters, i.Requesters) {
		out = append(out, "someone other than "+who)
	}
	if i.Approval == nil {
		return out
	}
	if !i.StepUp.Accepts(was.StepUp) {
		out = append(out, "a "+string(i.StepUp))
	}
	if c := i.Approval.Confirm; c != "" && (was.Approval == nil || c != was.Approval.Confirm) {
		out = append(out, "a typed confirmation")
	}
	if i.Risk != "" && i.Risk != was.Risk {
		out = append(out, "the risk level "+i.Risk)
	}
	return out
}

// stricterRoute is stricterThan for the requirements of one route.
func stricterRoute(q, was bridge.Requirement) []string {
	var out []string
	if n := max(q.Quorum, 1); n > max(was.Quorum, 1) {
		out = append(out, strconv.Itoa(n)+" approvals by the route "+q.Route)
	}
	for _, who := range bridge.Missing(was.Must, q.Must) {
		out = append(out, "an approval by "+who)
	}
	who := func(r bridge.Responder) bridge.Responder {
		if r.Person != "" {
			return bridge.Responder{Person: r.Person}
		}
		return r
	}
	names := func(all []bridge.Responder) []bridge.Responder {
		var out []bridge.Responder
		for _, r := range all {
			out = append(out, who(r))
		}
		return out
	}
	if len(bridge.Missing(names(q.Responders), names(was.Responders)))+len(bridge.Missing(q.Groups, was.Groups)) > 0 {
		out = append(out, "other responders on the route "+q.Route)
	}
	return out
}
