// Package setup writes and checks installations: the config, the settings of
// coding agents, the manifest of the Slack app, and the doctor, which names
// what is wrong and how to fix it. Running the daemon does not belong here.
package setup

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/api"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/render"
)

// Doctor checks an installation, hop by hop.
type Doctor struct {
	Path    string        // of the config
	Route   string        // of the test ask
	URL     string        // of the running daemon; by the config if it is empty
	Offline bool          // contact nothing
	NoAsk   bool          // post no test ask
	Timeout time.Duration // for a press on the test ask
	Talk    io.Writer     // for instructions

	Findings []bridge.Finding // so far
}

func (d *Doctor) add(check string, s bridge.FindingStatus, detail, fix string) {
	d.Findings = append(d.Findings, bridge.Finding{Check: check, Status: s, Detail: detail, Fix: fix})
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

// Failed reports whether a check failed.
func (d *Doctor) Failed() bool {
	return slices.ContainsFunc(d.Findings, func(f bridge.Finding) bool { return f.Status == bridge.FindingFailed })
}

// Examine goes from the inside out: what fails first explains what follows.
func (d *Doctor) Examine(ctx context.Context) {
	c, ok := d.examineConfig()
	if !ok || d.Offline {
		return
	}
	client, err := daemon.NewRedis(c.Redis)
	if err != nil {
		d.fail("redis.reach", err)
	} else {
		defer client.Close()
		d.Findings = append(d.Findings, broker.Diagnose(ctx, client, c.Redis.WaitReplicas)...)
		d.examineKeys(ctx, c, client)
	}
	d.examinePlatforms(ctx, c)
	d.examineDaemon(ctx, c)
	switch {
	case d.NoAsk:
	case d.Failed():
		d.add("test", bridge.FindingSkipped, "no test ask was posted, as something failed before", "mend that, and run nod doctor again")
	case len(c.Routes[d.Route].To) == 0:
		d.add("test", bridge.FindingSkipped, "there is no route "+d.Route+" to post a test ask to", "add it under routes, or choose one with --route")
	default:
		d.test(ctx, c, client)
	}
}

func (d *Doctor) examineConfig() (config.Config, bool) {
	c, err := config.Load(d.Path, os.Environ())
	if err == nil {
		_, err = daemon.Policy(c)
	}
	if err == nil {
		_, err = daemon.Redactor(c)
	}
	if err != nil {
		for problem := range strings.SplitSeq(err.Error(), "\n") {
			d.add("config", bridge.FindingFailed, problem, "")
		}
		return c, false
	}
	d.add("config", bridge.FindingOK, Summary(c), "")
	if len(c.Platforms()) == 0 {
		d.add("config.platforms", bridge.FindingFailed, "no platform has a token, so nobody can be asked", "run nod init")
	}
	if len(c.Agents) == 0 {
		d.add("config.agents", bridge.FindingWarning, "there is no agent, so nobody may ask", "add one under agents; nod token makes its token")
	}
	return c, true
}

// examinePlatforms has each platform look at itself.
func (d *Doctor) examinePlatforms(ctx context.Context, c config.Config) {
	platforms, _, err := daemon.Platforms(c, nil, nil)
	if err != nil {
		d.fail("platforms", err)
		return
	}
	routes, err := daemon.Routes(c)
	if err != nil {
		d.fail("routes", err)
		return
	}
	for _, p := range platforms {
		needs := bridge.Needs{Emails: c.Identity.Email && p.Name() == config.PlatformSlack}
		for _, g := range c.Groups {
			needs.Groups = needs.Groups || g.Slack != "" && p.Name() == config.PlatformSlack
		}
		for _, name := range slices.Sorted(maps.Keys(routes)) {
			for _, to := range routes[name].Destinations {
				to.Thread = ""
				if to.Platform == p.Name() && !slices.Contains(needs.Destinations, to) {
					needs.Destinations = append(needs.Destinations, to)
				}
			}
		}
		if x, ok := p.(bridge.Diagnoser); ok {
			d.Findings = append(d.Findings, x.Diagnose(ctx, needs)...)
		}
	}
}

// examineDaemon asks the daemon that runs how it is.
func (d *Doctor) examineDaemon(ctx context.Context, c config.Config) {
	url := d.URL
	if url == "" {
		url = "http://" + c.Listen
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(url, "/")+"/healthz", nil)
	if err != nil {
		d.add("daemon", bridge.FindingFailed, "its address can not be used", "set NOD_URL to something like http://127.0.0.1:8787")
		return
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		d.add("daemon", bridge.FindingSkipped, "none answers at "+url, "start it with: nod serve")
		return
	}
	defer resp.Body.Close()
	var h api.Health
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&h); err != nil {
		d.add("daemon", bridge.FindingFailed, "what answers at "+url+" is not nod", "set NOD_URL")
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
			d.add("daemon."+name, bridge.FindingFailed, detail, "the checks of "+name+" say what to do; restart nod serve then")
		default:
			d.add("daemon."+name, bridge.FindingWarning, detail, "it connects again by itself; look at the log if it stays so")
		}
	}
}

var findingMarks = map[bridge.FindingStatus]string{bridge.FindingOK: "ok", bridge.FindingWarning: "warning", bridge.FindingFailed: "FAILED", bridge.FindingSkipped: "skipped"}

// Print writes a line for each finding, and what to do about it.
func (d *Doctor) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, f := range d.Findings {
		fmt.Fprintf(t, "%s\t%s\t%s\n", findingMarks[f.Status], f.Check, render.Line(f.Detail))
		if f.Fix != "" {
			fmt.Fprintf(t, "\t\t→ %s\n", render.Line(f.Fix))
		}
	}
	return t.Flush()
}
