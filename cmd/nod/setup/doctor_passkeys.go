package setup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/passkey"
	"github.com/nodbridge/nod/bridge/rooms/passkeys"
	store "github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/config"
)

// clockLimit is the maximum difference between the clocks of this machine and
// of the daemon. Above it, links expire noticeably early or late.
const clockLimit = 15 * time.Second

// demands returns the routes on which approvals may require a passkey, with the
// number of people who must sign. A risk level or a rule can apply to every
// route.
func demands(c config.Config) map[string]int {
	anywhere := 0
	for _, r := range c.Risks {
		if r.StepUp != "" {
			anywhere = max(anywhere, r.Quorum, 1)
		}
	}
	for _, r := range c.Policy {
		if r.StepUp != "" {
			anywhere = max(anywhere, r.Quorum, 1)
		}
	}
	out := map[string]int{}
	for name, r := range c.Routes {
		if anywhere > 0 || r.StepUp != "" {
			out[name] = max(anywhere, r.Quorum, 1)
		}
	}
	return out
}

// examinePasskeys checks the site that passkeys belong to, and whether the
// people who must sign can do so.
func (d *Doctor) examinePasskeys(ctx context.Context, c config.Config, client redis.UniversalClient) {
	wanted := demands(c)
	if len(wanted) == 0 && (!c.Console.Enabled || c.Console.URL == "") {
		return // no approval needs a passkey
	}
	site, err := passkey.NewSite(c.Console.URL)
	if err != nil {
		d.fail("passkeys.site", err)
		return
	}
	d.add("passkeys.site", bridge.FindingOK, "people sign at "+site.Origins()[0]+" (RP ID "+site.RPID()+")", "")
	d.examineSite(ctx, site.Origins()[0])
	has, err := passkeys.Enrolled(ctx, documents.DB{Store: store.NewReader(client, c.Redis.Prefix), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		d.fail("passkeys.people", err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		d.examineSigners(c, name, wanted[name], has)
	}
	d.examineEnrolled(c, has)
}

// examineSite checks that nod answers at the address that browsers use, and
// compares the clocks.
func (d *Doctor) examineSite(ctx context.Context, origin string) {
	const fix = "let the reverse proxy pass this host name to nod, or correct console.url"
	_, date, err := healthAt(ctx, origin)
	switch {
	case errors.Is(err, errNotURL):
		d.add("passkeys.url", bridge.FindingFailed, "invalid URL "+origin, fix)
		return
	case errors.Is(err, errNotNod):
		d.add("passkeys.url", bridge.FindingFailed, "the server at "+origin+" is not nod", fix)
		return
	case err != nil:
		d.add("passkeys.url", bridge.FindingWarning, "nod is not reachable at "+origin+" from this machine", fix)
		return
	}
	d.add("passkeys.url", bridge.FindingOK, "nod answers at "+origin, "")
	at, err := http.ParseTime(date)
	if off := time.Since(at).Abs().Round(time.Second); err == nil && off > clockLimit {
		d.add("passkeys.clock", bridge.FindingWarning, "this clock differs by "+off.String()+" from that of the daemon",
			"synchronize the clocks with NTP; links depend on them")
	}
}

// examineSigners checks whether enough responders of a route can sign.
func (d *Doctor) examineSigners(c config.Config, route string, need int, has map[string]int) {
	check := "passkeys." + route
	var able, unable []string
	for _, who := range members(c, c.Routes[route].Responders) {
		if has[who] > 0 {
			able = append(able, who)
		} else {
			unable = append(unable, who)
		}
	}
	fix := "invite them: nod passkey invite PERSON"
	if len(unable) == 1 {
		fix = "run nod passkey invite " + unable[0]
	}
	switch {
	case len(able) < need && !open(c, c.Routes[route].Responders):
		d.add(check, bridge.FindingFailed, fmt.Sprintf("approvals need a passkey of %d people, but only %d can sign; without one: %s",
			need, len(able), strings.Join(unable, ", ")), fix)
	case len(unable) > 0:
		d.add(check, bridge.FindingWarning, "some responders cannot sign, because they have no passkey: "+strings.Join(unable, ", "), fix)
	default:
		d.add(check, bridge.FindingOK, "all known responders can sign", "")
	}
}

// open reports whether responders include a group whose members the config does
// not list.
func open(c config.Config, responders []string) bool {
	return slices.ContainsFunc(responders, func(r string) bool {
		group, ok := strings.CutPrefix(r, bridge.GroupMark)
		g := c.Groups[group]
		return ok && (g.OnCall != "" || slices.ContainsFunc(c.Platforms(), func(p string) bool { return g.Native[p] != "" }))
	})
}

// examineEnrolled reports people with only one passkey, and whether no one can
// invite people.
func (d *Doctor) examineEnrolled(c config.Config, has map[string]int) {
	var single []string
	admins := 0
	for _, name := range slices.Sorted(maps.Keys(c.People)) {
		if c.People[name].Administrator {
			admins++
		}
		if has[name] == 1 {
			single = append(single, name)
		}
	}
	if admins == 0 {
		d.add("passkeys.invite", bridge.FindingWarning, "no person is an administrator, so no one can invite people to add a passkey",
			"set administrator: true for a person with a token under people")
	}
	if len(single) > 0 {
		d.add("passkeys.people", bridge.FindingWarning, "people with only one passkey: "+strings.Join(single, ", "),
			"they should add a second one on another device, in the console under Passkeys")
	}
}
