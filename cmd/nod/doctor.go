package main

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

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/api"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/render"
)

// doctor checks an installation, hop by hop.
type doctor struct {
	path, route, url       string
	offline, noAsk, asJSON bool
	timeout                time.Duration
	talk                   io.Writer
	findings               []bridge.Finding
}

func doctorCommand() *cobra.Command {
	var d doctor
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the setup and report how to fix it",
		Long: `Check the config, Redis, and each platform: tokens, scopes, channels, how presses
come in, clocks, persistence, eviction. Then post a test ask to the default
route and wait for your press, and name the hop that failed.

The test needs no running daemon, and does no harm to one: it runs one of its
own beside it, on the same Redis. With --offline only the config is checked.
The exit code is 1 if a check failed; warnings do not count.`,
		Example: "  nod doctor --config nod.yaml\n  nod doctor --offline\n  nod doctor --no-ask --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.talk = cmd.ErrOrStderr()
			d.examine(cmd.Context())
			if err := d.print(cmd.OutOrStdout()); err != nil {
				return err
			}
			if d.failed() {
				return exitError(1)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&d.path, "config", "c", configPath(), configUsage)
	cmd.Flags().BoolVar(&d.offline, "offline", false, "check the config only; nothing is contacted")
	cmd.Flags().BoolVar(&d.noAsk, "no-ask", false, "post no test ask")
	cmd.Flags().StringVar(&d.route, "route", bridge.DefaultRoute, "route of the test ask")
	cmd.Flags().DurationVar(&d.timeout, "timeout", 2*time.Minute, "how long the test waits for your press")
	cmd.Flags().StringVar(&d.url, "url", os.Getenv("NOD_URL"), "address of the running daemon (NOD_URL; default where the config listens)")
	cmd.Flags().BoolVar(&d.asJSON, "json", false, "print JSON")
	return cmd
}

func (d *doctor) add(check string, s bridge.FindingStatus, detail, fix string) {
	d.findings = append(d.findings, bridge.Finding{Check: check, Status: s, Detail: detail, Fix: fix})
}

func (d *doctor) fail(check string, err error) {
	e := bridge.PublicError(err)
	d.add(check, bridge.FindingFailed, e.Message, e.Hint)
}

func (d *doctor) failed() bool {
	return slices.ContainsFunc(d.findings, func(f bridge.Finding) bool { return f.Status == bridge.FindingFailed })
}

// examine goes from the inside out: what fails first explains what follows.
func (d *doctor) examine(ctx context.Context) {
	c, ok := d.examineConfig()
	if !ok || d.offline {
		return
	}
	client, err := redisClient(c.Redis)
	if err != nil {
		d.fail("redis.reach", err)
	} else {
		defer client.Close()
		d.findings = append(d.findings, broker.Diagnose(ctx, client, c.Redis.WaitReplicas)...)
		d.examineKeys(ctx, c, client)
	}
	d.examinePlatforms(ctx, c)
	d.examineDaemon(ctx, c)
	switch {
	case d.noAsk:
	case d.failed():
		d.add("test", bridge.FindingSkipped, "no test ask was posted, as something failed before", "mend that, and run nod doctor again")
	case len(c.Routes[d.route].To) == 0:
		d.add("test", bridge.FindingSkipped, "there is no route "+d.route+" to post a test ask to", "add it under routes, or choose one with --route")
	default:
		d.test(ctx, c, client)
	}
}

func (d *doctor) examineConfig() (config.Config, bool) {
	c, err := config.Load(d.path, os.Environ())
	if err == nil {
		_, err = buildPolicy(c)
	}
	if err == nil {
		_, err = buildRedactor(c)
	}
	if err != nil {
		for problem := range strings.SplitSeq(err.Error(), "\n") {
			d.add("config", bridge.FindingFailed, problem, "")
		}
		return c, false
	}
	d.add("config", bridge.FindingOK, fmt.Sprintf("%d platforms, %d routes, %d agents, %d people", len(c.Platforms()), len(c.Routes), len(c.Agents), len(c.People)), "")
	if len(c.Platforms()) == 0 {
		d.add("config.platforms", bridge.FindingFailed, "no platform has a token, so nobody can be asked", "run nod init")
	}
	if len(c.Agents) == 0 {
		d.add("config.agents", bridge.FindingWarning, "there is no agent, so nobody may ask", "add one under agents; nod token makes its token")
	}
	return c, true
}

// examinePlatforms has each platform look at itself.
func (d *doctor) examinePlatforms(ctx context.Context, c config.Config) {
	platforms, _, err := buildPlatforms(c, nil, nil)
	if err != nil {
		d.fail("platforms", err)
		return
	}
	routes, err := buildRoutes(c)
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
			d.findings = append(d.findings, x.Diagnose(ctx, needs)...)
		}
	}
}

// examineDaemon asks the daemon that runs how it is.
func (d *doctor) examineDaemon(ctx context.Context, c config.Config) {
	url := d.url
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

func (d *doctor) print(w io.Writer) error {
	if d.asJSON {
		return printJSON(w, map[string]any{"ok": !d.failed(), "findings": d.findings})
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, f := range d.findings {
		fmt.Fprintf(t, "%s\t%s\t%s\n", findingMarks[f.Status], f.Check, render.Line(f.Detail))
		if f.Fix != "" {
			fmt.Fprintf(t, "\t\t→ %s\n", render.Line(f.Fix))
		}
	}
	return t.Flush()
}
