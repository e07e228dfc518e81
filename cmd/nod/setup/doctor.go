// Package setup creates and checks installations: the config, the settings of
// coding agents, the manifest of the Slack app, and the doctor, which finds
// problems and explains how to fix them. Running the daemon does not belong
// here. Start with doctor.go and init.go.
package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/api"
	store "github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/cmd/nod/terminal"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/platforms/kinds"
	"github.com/nodbridge/nod/render"
)

// Doctor checks an installation step by step.
type Doctor struct {
	Path    string // config file
	Route   string // route of the test question
	URL     string // URL of the running daemon; if empty, from the config
	Offline bool   // check only the config; contact nothing
	NoAsk   bool   // do not post a test question
	// OnlyAgents checks only the coding agents on this machine.
	OnlyAgents bool
	// Require is the minimum level of an agent. Agents below it fail the check.
	// If it is empty, every level passes.
	Require Level
	Timeout time.Duration // time to click on the test question
	Talk    io.Writer     // instructions to the user
	Out     io.Writer     // each finding as soon as it is known; nil prints none

	Findings []bridge.Finding // results of the checks
	Agents   []Coverage       // coverage of the agents on this machine

	hide    bridge.Redactor // nil until the config is known
	keys    string          // fingerprint of the keys of the config; empty if it has none
	running []string        // fingerprints of the keys of the running daemons
}

func (d *Doctor) add(check string, s bridge.FindingStatus, detail, fix string) {
	d.found(bridge.Finding{Check: check, Status: s, Detail: detail, Fix: fix})
}

// found adds findings and prints them.
func (d *Doctor) found(all ...bridge.Finding) {
	for n := range all {
		if d.hide != nil { // an error from a platform may contain nod's own token
			all[n].Detail, all[n].Fix = d.hide.Redact(all[n].Detail), d.hide.Redact(all[n].Fix)
		}
	}
	d.Findings = append(d.Findings, all...)
	for _, f := range all {
		if d.Out != nil {
			write(d.Out, f)
		}
	}
}

func (d *Doctor) fail(check string, err error) {
	e := bridge.PublicError(err)
	d.add(check, bridge.FindingFailed, e.Message, e.Hint)
}

// Summary returns the numbers of platforms, routes, agents and people in a
// config.
func Summary(c config.Config) string {
	return fmt.Sprintf("platforms: %d, routes: %d, agents: %d, people: %d", len(c.Platforms()), len(c.Routes), len(c.Agents), len(c.People))
}

// Failed reports whether any check failed.
func (d *Doctor) Failed() bool {
	return slices.ContainsFunc(d.Findings, func(f bridge.Finding) bool { return f.Status == bridge.FindingFailed })
}

// Examine runs all checks, from the config outward, so that the first failure
// explains the ones that follow.
func (d *Doctor) Examine(ctx context.Context) {
	if d.OnlyAgents {
		d.examineAgents(ctx)
		return
	}
	c, ok := d.examineConfig()
	d.examineAgents(ctx)
	if !ok || d.Offline {
		return
	}
	client, err := daemon.NewRedis(c.Redis)
	if err != nil {
		d.fail("redis.reach", err)
	} else {
		defer client.Close()
		d.found(store.Diagnose(ctx, client, c.Redis.Prefix, c.Redis.WaitReplicas)...)
		d.examineKeys(ctx, c, client)
		d.examinePasskeys(ctx, c, client)
	}
	d.examineResponders(c)
	d.examineApprovals(c)
	d.examineSchedules(ctx, c, client)
	d.examinePrivate(c)
	d.examinePlatforms(ctx, c)
	d.examineDaemon(ctx, c)
	switch {
	case d.NoAsk:
	case d.Failed():
		d.add("test", bridge.FindingSkipped, "no test question was posted, because another check failed", "fix that, and run nod doctor again")
	case len(c.Routes[d.Route].To) == 0:
		d.add("test", bridge.FindingSkipped, "unknown route "+d.Route+", so no test question was posted", "add it under routes, or choose another route with --route")
	case len(d.running) == 0:
		d.add("test", bridge.FindingSkipped, "no daemon runs on this Redis, so no test question was posted", "start nod serve, and run nod doctor again")
	case d.keys == "":
		d.add("test", bridge.FindingSkipped, "the keys of the running daemons are not here, so no test question was posted", "run nod doctor with the config and the key file of a daemon")
	default:
		d.test(ctx, c, client)
	}
}

func (d *Doctor) examineConfig() (config.Config, bool) {
	c, others, err := daemon.Load(d.Path, os.Environ())
	if err != nil {
		e := bridge.PublicError(err)
		text := e.Message
		if own, ok := errors.AsType[*bridge.Error](err); ok && own.Cause != nil {
			text = own.Cause.Error()
		}
		for problem := range strings.SplitSeq(text, "\n") {
			d.add("config", bridge.FindingFailed, problem, "")
		}
		return c, false
	}
	if hide, err := daemon.Redactor(c); err == nil {
		d.hide = hide
	}
	d.add("config", bridge.FindingOK, Summary(c), "")
	for _, name := range others {
		d.add("config.variables", bridge.FindingWarning, name+": unknown variable; docs/configuration.md lists the variables", "correct its name, or unset it")
	}
	if len(c.Platforms()) == 0 {
		d.add("config.platforms", bridge.FindingFailed, "no platform has a token, so nod cannot ask anyone", "run nod init")
	}
	if len(c.Agents) == 0 {
		d.add("config.agents", bridge.FindingWarning, "no agent is configured, so no requests can be sent", "add one under agents; generate its token with: nod config token")
	}
	return c, true
}

// examinePlatforms runs the checks of each platform.
func (d *Doctor) examinePlatforms(ctx context.Context, c config.Config) {
	all, err := daemon.Platforms(c, false, platforms.Options{})
	if err != nil {
		d.fail("platforms", err)
		return
	}
	routes, err := daemon.Routes(c)
	if err != nil {
		d.fail("routes", err)
		return
	}
	for _, p := range all {
		k, _ := kinds.Named(p.Name())
		needs := bridge.Needs{Emails: c.Identity.Email && k.Emails}
		for _, name := range slices.Sorted(maps.Keys(c.Groups)) {
			if native := c.Groups[name].Native[p.Name()]; native != "" {
				needs.Groups = append(needs.Groups, native)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(routes)) {
			for _, to := range routes[name].Destinations {
				to.Thread = ""
				if to.Platform == p.Name() && !slices.Contains(needs.Destinations, to) {
					needs.Destinations = append(needs.Destinations, to)
				}
			}
		}
		needs.Accounts = accounts(c, p.Name())
		d.found(p.Diagnose(ctx, needs)...)
	}
}

// LocalURL returns the URL at which the daemon of a config listens, as seen
// from its machine. It returns CodeInvalid for an address on which no daemon
// can listen.
func LocalURL(c config.Config) (string, error) {
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return "", bridge.Errorf(bridge.CodeInvalid, "listen: invalid address %q", c.Listen).WithHint("set HOST:PORT, such as 127.0.0.1:8787")
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port), nil
}

// Errors of healthAt.
var (
	errNotURL = errors.New("not a URL")
	errNotNod = errors.New("the server is not nod")
)

// healthAt reads the health of the daemon at a URL, and its time. The daemon
// need not be healthy.
func healthAt(ctx context.Context, url string) (h api.Health, date string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(url, "/")+"/healthz", nil)
	if err != nil {
		return h, "", errNotURL
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return h, "", err
	}
	defer resp.Body.Close()
	if json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&h) != nil || h.Status == "" {
		return h, "", errNotNod
	}
	return h, resp.Header.Get("Date"), nil
}

// examineDaemon reads the health of the running daemon.
func (d *Doctor) examineDaemon(ctx context.Context, c config.Config) {
	url := d.URL
	if url == "" {
		local, err := LocalURL(c)
		if err != nil {
			d.fail("daemon", err)
			return
		}
		url = local
	}
	h, _, err := healthAt(ctx, url)
	switch {
	case errors.Is(err, errNotURL):
		d.add("daemon", bridge.FindingFailed, "invalid URL "+url, "set NOD_URL to a URL such as http://127.0.0.1:8787")
		return
	case errors.Is(err, errNotNod):
		d.add("daemon", bridge.FindingFailed, "the server at "+url+" is not nod", "set NOD_URL")
		return
	case err != nil:
		d.add("daemon", bridge.FindingSkipped, "no daemon answers at "+url, "start it with: nod serve")
		return
	}
	if h.Audit.State == bridge.HealthDown {
		d.add("daemon.audit", bridge.FindingFailed, render.Line(h.Audit.Reason), "find out who wrote to Redis; see docs/troubleshooting.md#audit-log-not-sealed")
	}
	for _, name := range slices.Sorted(maps.Keys(h.Platforms)) {
		p := h.Platforms[name]
		detail := string(p.State)
		if p.Reason != "" {
			detail += ": " + render.Line(p.Reason)
		}
		switch p.State {
		case bridge.HealthUp, bridge.HealthStandby:
			d.add("daemon."+name, bridge.FindingOK, detail, "")
		case bridge.HealthDown:
			d.add("daemon."+name, bridge.FindingFailed, detail, "fix the failed checks of "+name+"; until then, its requests wait")
		default:
			d.add("daemon."+name, bridge.FindingWarning, detail, "nod reconnects automatically; check the log if the problem persists")
		}
	}
}

// marks holds the first word of a finding, and its color.
var marks = map[bridge.FindingStatus]terminal.Cell{
	bridge.FindingOK:      {Text: "ok", Color: terminal.Green},
	bridge.FindingWarning: {Text: "warning", Color: terminal.Yellow},
	bridge.FindingFailed:  {Text: "FAILED", Color: terminal.Red},
	bridge.FindingSkipped: {Text: "skipped", Color: terminal.Dim},
}

// checkWidth is the width of the column with the names of checks. It is fixed
// because nod prints findings one by one.
const checkWidth = 24

// write writes a finding, and a line with its fix.
func write(w io.Writer, f bridge.Finding) {
	m := marks[f.Status]
	word := terminal.Colors(w).Paint(m.Color, m.Text) + strings.Repeat(" ", max(0, len("skipped")-len(m.Text)))
	fmt.Fprintf(w, "%s  %-*s  %s\n", word, checkWidth, f.Check, render.Line(f.Detail))
	if f.Fix != "" {
		fmt.Fprintf(w, "%*s→ %s\n", len("skipped")+2+checkWidth+2, "", render.Line(f.Fix))
	}
}
