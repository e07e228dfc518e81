package people

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// able holds the people who can ever approve for a route of a request: now, or
// after an escalation step or a delegation.
type able struct {
	people []string
	open   bool // there may be others, known only to a platform or a schedule
}

// ableTo returns the people who can ever approve for a requirement of a
// request.
func (p *People) ableTo(i bridge.Interaction, q bridge.Requirement) able {
	var out able
	add := func(responders []bridge.Responder, groups, names []string) {
		for _, r := range responders {
			names = append(slices.Clip(names), r.Person)
		}
		for _, name := range names {
			g, isGroup := strings.CutPrefix(name, bridge.GroupMark)
			if isGroup {
				groups = append(slices.Clip(groups), g)
			} else if !slices.Contains(i.Requesters, name) && !slices.Contains(out.people, name) {
				out.people = append(out.people, name)
			}
		}
		for _, g := range groups {
			people, all := p.directory.Everyone(g)
			out.open = out.open || !all
			out.people = append(out.people, bridge.Missing(append(out.people, i.Requesters...), people)...)
		}
	}
	add(q.Responders, q.Groups, q.HandOver)
	for _, s := range i.Steps {
		if s.For == "" || s.For == q.Route {
			add(s.Responders, s.Groups, s.Ask)
		}
	}
	return out
}

// Impossible returns the reason why a request can never be approved or
// answered. It returns an empty string if it can be.
func (p *People) Impossible(i bridge.Interaction) string {
	if p.directory == nil || i.Kind == bridge.KindNotice {
		return ""
	}
	var all able
	for _, q := range i.RouteRequirements() {
		a := p.ableTo(i, q)
		all.open, all.people = all.open || a.open, append(all.people, bridge.Missing(all.people, a.people)...)
		if n := max(q.Quorum, 1); !a.open && len(a.people) < n {
			return tooFew(i, n, a.people, " on the route "+q.Route)
		}
		for _, must := range q.Must {
			g, isGroup := strings.CutPrefix(must, bridge.GroupMark)
			members := []string{must}
			if isGroup {
				var known bool
				if members, known = p.directory.Everyone(g); !known {
					continue
				}
			}
			if !isGroup && slices.Contains(i.Requesters, must) {
				return must + " must approve, but requested this or owns the agent"
			}
			if !a.open && !slices.ContainsFunc(members, func(m string) bool { return slices.Contains(a.people, m) }) {
				return must + " must approve, but is not a responder of the route " + q.Route
			}
		}
	}
	if n := i.Needs(); !all.open && len(all.people) < n {
		return tooFew(i, n, all.people, "")
	}
	return ""
}

func tooFew(i bridge.Interaction, needed int, people []string, where string) string {
	who := "no one"
	if len(people) > 0 {
		who = "only " + strings.Join(people, ", ")
	}
	text := fmt.Sprintf("%s can answer%s", who, where)
	if needed > 1 {
		text = fmt.Sprintf("%d approvals are needed, but %s can approve%s", needed, who, where)
	}
	if len(i.Requesters) > 0 {
		text += "; not " + strings.Join(i.Requesters, ", ") + ", who requested this or owns the agent"
	}
	return text
}
