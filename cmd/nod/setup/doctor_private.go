package setup

import (
	"maps"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/kinds"
)

// examinePrivate finds private routes with a destination where no responder can
// open the requests, because the card of a private request hides its text.
func (d *Doctor) examinePrivate(c config.Config) {
	for _, name := range slices.Sorted(maps.Keys(c.Routes)) {
		route := c.Routes[name]
		if !private(c, route) {
			continue
		}
		check := "routes." + name + ".payload"
		for _, to := range route.To {
			platform, _, _ := strings.Cut(to, ":")
			k, _ := kinds.Named(platform)
			switch {
			case !opens(c, route, platform):
				d.add(check, bridge.FindingWarning, "the route is private, and no responder has an account on "+platform+": no one can open a request at "+to,
					"add the accounts of responders under people, or remove "+to+" from the route")
			case k.Unseen != "":
				d.add(check, bridge.FindingSkipped, k.Unseen, k.UnseenFix)
			}
		}
	}
}

// private reports whether a route makes requests private: the route itself, or
// a route that it escalates to.
func private(c config.Config, route config.Route) bool {
	return route.Payload == config.PayloadPrivate ||
		slices.ContainsFunc(route.Escalation, func(s config.Step) bool { return c.Routes[s.Route].Payload == config.PayloadPrivate })
}

// opens reports whether a responder of a route may have an account on a
// platform. The config does not list the accounts of native groups, of
// schedules, and linked accounts.
func opens(c config.Config, route config.Route, platform string) bool {
	if c.Identity.Linking {
		return true
	}
	for _, r := range route.Responders {
		group, ok := strings.CutPrefix(r, bridge.GroupMark)
		if g := c.Groups[group]; ok && (g.Native[platform] != "" || g.OnCall != "") {
			return true
		}
	}
	return slices.ContainsFunc(members(c, route.Responders), func(who string) bool { return reachable(c, who, platform) })
}
