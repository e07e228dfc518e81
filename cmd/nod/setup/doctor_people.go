package setup

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/kinds"
)

// maxAccounts limits the number of accounts that the doctor looks up on a
// platform.
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
		responders := members(c, c.Routes[name].Responders)
		for _, who := range responders {
			d.examineResponder(c, name, who, platforms)
		}
		d.examineAsked(c, name, responders)
	}
}

// examineAsked finds people who cannot be told when an escalation step or a
// delegation asks them. A card on any platform is enough to tell them.
func (d *Doctor) examineAsked(c config.Config, route string, responders []string) {
	asked := slices.Clone(c.Routes[route].HandOver)
	for _, s := range c.Routes[route].Escalation {
		asked = append(asked, s.Ask...)
	}
	for _, who := range bridge.Missing(responders, members(c, asked)) {
		if !slices.ContainsFunc(c.Platforms(), func(platform string) bool { return reachable(c, who, platform) }) {
			d.add("people."+who, bridge.FindingWarning, "no account on any platform, so nod cannot notify "+who+" when the route "+route+" asks",
				"add one as people."+who+"."+strings.NewReplacer(", ", ", .", " or ", " or .").Replace(config.OrOf(kinds.Names()))+"; /nod who shows the ID of an account")
		}
	}
}

// reachable reports whether nod may know an account of a person on a platform.
func reachable(c config.Config, who, platform string) bool {
	k, _ := kinds.Named(platform)
	p := c.People[who]
	return p.Account(platform) != "" || k.Emails && c.Identity.Email && p.Email != ""
}

// members returns the people among responders, including the members of groups
// and rotations in the config.
func members(c config.Config, responders []string) []string {
	var out []string
	for _, r := range responders {
		group, ok := strings.CutPrefix(r, bridge.GroupMark)
		if !ok {
			out = append(out, r)
			continue
		}
		out = append(out, c.Groups[group].People...)
		if o := c.OnCall[c.Groups[group].OnCall]; o.Rotation != nil {
			out = append(out, o.Rotation.People...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (d *Doctor) examineResponder(c config.Config, route, who string, platforms []string) {
	var without []string
	for _, platform := range platforms {
		if !reachable(c, who, platform) {
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

// examineApprovals finds approvals that no one could give. Such requests are
// undeliverable.
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
