package setup

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/config"
)

// maxAccounts is the maximum number of accounts to look up on a platform, which
// limits such calls.
const maxAccounts = 50

// accounts returns the accounts of people on a platform.
func accounts(c config.Config, platform string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.People)) {
		if id := c.People[name].Account(platform); id != "" && len(out) < maxAccounts {
			out = append(out, id)
		}
	}
	return out
}

// examineResponders finds responders who cannot answer on a platform where their
// route posts.
func (d *Doctor) examineResponders(c config.Config) {
	for _, name := range slices.Sorted(maps.Keys(c.Routes)) {
		var platforms []string
		for _, to := range c.Routes[name].To {
			platform, _, _ := strings.Cut(to, ":")
			if !slices.Contains(platforms, platform) {
				platforms = append(platforms, platform)
			}
		}
		for _, who := range members(c, c.Routes[name].Responders) {
			d.examineResponder(c, name, who, platforms)
		}
	}
}

// members returns the people among responders, including those whom groups list.
func members(c config.Config, responders []string) []string {
	var out []string
	for _, r := range responders {
		if group, ok := strings.CutPrefix(r, bridge.GroupMark); ok {
			out = append(out, c.Groups[group].People...)
			continue
		}
		out = append(out, r)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (d *Doctor) examineResponder(c config.Config, route, who string, platforms []string) {
	p := c.People[who]
	var without []string
	for _, platform := range platforms {
		byEmail := platform == config.PlatformSlack && c.Identity.Email && p.Email != ""
		if p.Account(platform) == "" && !byEmail {
			without = append(without, platform)
		}
	}
	if len(without) == 0 {
		return
	}
	fix := fmt.Sprintf("add it as people.%s.%s; /nod who shows the ID of an account", who, without[0])
	if c.Identity.Linking {
		fix += ", or let the person click there and link the account"
	}
	detail := fmt.Sprintf("no account on %s, where the route %s posts", strings.Join(without, ", "), route)
	if len(without) == len(platforms) {
		detail += "; " + who + " cannot answer its requests there"
	}
	d.add("people."+who, bridge.FindingWarning, detail, fix)
}

// examineApprovals finds approvals that no one could give, which are undeliverable.
func (d *Doctor) examineApprovals(c config.Config) {
	all, err := daemon.Impossible(c)
	if err != nil {
		d.fail("approvals", err)
		return
	}
	for _, agent := range slices.Sorted(maps.Keys(all)) {
		for _, why := range all[agent] {
			d.add("approvals."+agent, bridge.FindingWarning, why+"; these approvals are undeliverable",
				"add responders, lower the quorum, or leave the route out under agents."+agent+".routes")
		}
	}
}
