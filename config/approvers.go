package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// approvers holds everyone who can ever approve on a route: its responders, and
// the people that its escalation steps and delegation add.
type approvers struct {
	people []string
	open   bool // there may be others, known only to a platform or a schedule
}

func (a *approvers) add(c Config, names []string) {
	for _, name := range names {
		group, isGroup := strings.CutPrefix(name, "@")
		if isGroup {
			g := c.Groups[group]
			a.open = a.open || g.OnCall != "" || len(g.Native) > 0
			a.add(c, g.People)
		} else if !slices.Contains(a.people, name) {
			a.people = append(a.people, name)
		}
	}
}

func (c Config) approversOn(route string) approvers {
	var a approvers
	r := c.Routes[route]
	a.add(c, r.Responders)
	a.add(c, r.HandOver)
	for _, s := range r.Escalation {
		a.add(c, s.Ask)
		a.add(c, c.Routes[s.Route].Responders)
	}
	return a
}

// checkApprovers reports approvals that no one could ever give.
func (c Config) checkApprovers(bad func(path, format string, args ...any)) {
	tooFew := func(path string, quorum int, route string) {
		if a := c.approversOn(route); !a.open && quorum > len(a.people) {
			bad(path, "%d approvals are required, but only %s can approve on route %q; add responders", quorum, strings.Join(a.people, ", "), route)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Routes)) {
		r, a := c.Routes[name], c.approversOn(name)
		tooFew("routes."+name+".quorum", r.Quorum, name)
		for n, must := range r.Must {
			var who approvers
			_, person := c.People[must]
			_, group := c.Groups[strings.TrimPrefix(must, "@")]
			if who.add(c, []string{must}); who.open || a.open || !person && !group {
				continue
			}
			if !slices.ContainsFunc(who.people, func(p string) bool { return slices.Contains(a.people, p) }) {
				bad(fmt.Sprintf("routes.%s.must[%d]", name, n), "%s is not a responder of the route, so nothing could be approved; add it to responders", must)
			}
		}
	}
	risks := map[string]int{}
	for _, r := range c.Risks {
		risks[r.Name] = r.Quorum
	}
	for n, r := range c.Policy {
		if _, known := c.Routes[r.Route]; known && r.Then == "ask" {
			tooFew(fmt.Sprintf("policy[%d].quorum", n), max(r.Quorum, risks[r.Risk]), r.Route)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		a := c.Agents[name]
		unknown := slices.ContainsFunc(a.Routes, func(r string) bool { _, ok := c.Routes[r]; return !ok })
		can := len(a.Owners) == 0 || len(c.Routes) == 0 || unknown
		for route, r := range c.Routes {
			if len(a.Routes) > 0 && !slices.Contains(a.Routes, route) {
				continue
			}
			on := c.approversOn(route)
			others := slices.ContainsFunc(on.people, func(p string) bool { return !slices.Contains(a.Owners, p) })
			can = can || r.AllowSelf || on.open || others
		}
		if !can {
			bad("agents."+name+".owners", "no route of the agent has anyone else who can approve; add responders, or set routes.NAME.allow_self to true")
		}
	}
}

// checkPeopleNames reports names that people could confuse, or that have a character
// with a meaning in lists and mentions.
func (c Config) checkPeopleNames(bad func(path, format string, args ...any)) {
	seen := map[string]string{}
	check := func(path, name string) {
		switch {
		case name == "" || name != strings.TrimSpace(name):
			bad(path, "the name %q is empty or begins or ends with a blank", name)
		case strings.ContainsAny(name, ",@/") || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }):
			bad(path, "the name %q has a comma, @, / or an invisible character; remove it", name)
		}
		// a name from a platform or a schedule may differ in case and
		// normalization
		key := strings.ToLower(norm.NFC.String(name))
		if other := seen[key]; other != "" && other != strings.TrimSuffix(path, ".name") {
			bad(path, "the name %q is the same as that of %s, apart from case and the encoding of accents; choose another one", name, other)
		}
		seen[key] = strings.TrimSuffix(path, ".name")
	}
	for _, name := range slices.Sorted(maps.Keys(c.People)) {
		check("people."+name, name)
		if display := c.People[name].Name; display != "" {
			check("people."+name+".name", display)
		}
	}
	clear(seen)
	for _, name := range slices.Sorted(maps.Keys(c.Groups)) {
		check("groups."+name, name)
	}
}
